package secret

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// The corpus of secrets is generated when the test runs: the shapes are real and the
// characters random, so scanners of this repository find nothing.

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hexes  = "0123456789abcdef"
	alnum  = digits + lower + upper
)

type dice struct{ *rand.Rand }

func testDice() *rand.Rand { return rand.New(rand.NewPCG(7, 11)) }

func (d dice) of(alphabet string, n int) string {
	var out strings.Builder
	for range n {
		out.WriteByte(alphabet[d.IntN(len(alphabet))])
	}
	return out.String()
}

func (d dice) uuid() string {
	return strings.Join([]string{d.of(hexes, 8), d.of(hexes, 4), d.of(hexes, 4), d.of(hexes, 4), d.of(hexes, 12)}, "-")
}

func (d dice) encoded(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func (d dice) lines(n int) string {
	var out []string
	for range n {
		out = append(out, d.of(alnum+"+/", 64))
	}
	return strings.Join(append(out, d.of(alnum, 30)+"=="), "\n")
}

// A kind is one kind of secret. Bare ones are recognized anywhere, others by their
// surroundings; $ marks the position of the secret.
type kind struct {
	name string
	make func(d dice) string
	in   []string
}

// anywhere are surroundings in which a token may appear.
var anywhere = []string{
	"$", "echo $", "export TOKEN=$", `{"text": "use $ for it"}`, "curl -H 'X-Api-Key: $' https://api.example.com/v1/x", "remote: invalid token $, try again",
	"# comment with $\nnext line", "--auth=$", `x = ["$"]`, "https://api.example.com/v1/x?t=$&page=2", "(see $)", "OLD_VALUE=$\nNEXT=1",
}

// behindNames are surroundings in which a name marks the secret.
var behindNames = []string{
	"DB_PASSWORD=$ ./migrate", "export DB_PASSWORD='$'", "psql \"host=h user=u password=$ dbname=d\"", "tool --password $ --verbose", "tool --password=$",
	`{"user": "u", "password": "$"}`, `curl -d '{"user":"u","password":"$"}' https://x.example`, "password: $\nport: 5432", "spring.datasource.password=$",
	"<password>$</password>", "docker run -e POSTGRES_PASSWORD=$ postgres:16", "kubectl create secret generic db --from-literal=password=$",
	`curl -d "{\"password\":\"$\"}" https://x.example`, "environment:\n  MYSQL_ROOT_PASSWORD: $\nports:", "  - name: DB_PASSWORD\n    value: $\n", "set -x DB_PASSWORD $",
	"Server=h;Database=d;User Id=sa;Password=$;Encrypt=true", "https://x.example/login?user=u&password=$&next=1", "machine x.example login u password $",
	"config['password'] = '$'", `password := "$"`, "ENV DB_PASSWORD $", "echo ${DB_PASSWORD:-$}",
}

var keyNames = []string{
	"API_KEY=$ node x.js", "export STRIPE_SECRET_KEY=\"$\"", `{"apiKey": "$"}`, "api_key: $", "tool --api-key $ run", "X-Api-Key: $", "curl -H \"x-auth-token: $\" https://x.example",
	"https://x.example/v1?api_key=$&q=1", "aws configure set aws_secret_access_key $", "[default]\naws_secret_access_key = $", `"client_secret": "$",`, "JWT_SECRET=$",
	"gh secret set NAME --body \"$\"", "tool --token=$ -v", "//registry.example.com/:_authToken=$", "AccountName=n;AccountKey=$;EndpointSuffix=x",
}

var kinds = []kind{
	{"github-pat", func(d dice) string { return "gh" + "p_" + d.of(alnum, 36) }, anywhere},
	{"github-oauth", func(d dice) string { return "gh" + "o_" + d.of(alnum, 36) }, anywhere},
	{"github-fine-grained-pat", func(d dice) string { return "github_" + "pat_" + d.of(alnum, 22) + "_" + d.of(alnum, 59) }, anywhere},
	{"gitlab-pat", func(d dice) string { return "glp" + "at-" + d.of(alnum, 20) }, anywhere},
	{"aws-access-token", func(d dice) string { return "AK" + "IA" + d.of(upper+"234567", 16) }, anywhere},
	{"slack-bot", func(d dice) string {
		return "xox" + "b-" + d.of(digits, 12) + "-" + d.of(digits, 13) + "-" + d.of(alnum, 24)
	}, anywhere},
	{"slack-user", func(d dice) string {
		return "xox" + "p-" + d.of(digits, 12) + "-" + d.of(digits, 12) + "-" + d.of(digits, 12) + "-" + d.of(hexes, 32)
	}, anywhere},
	{"stripe", func(d dice) string { return "sk_" + "live_" + d.of(alnum, 24) }, anywhere},
	{"openai", func(d dice) string { return "sk-" + "proj-" + d.of(alnum, 74) + "T3Blbk" + "FJ" + d.of(alnum, 74) }, anywhere},
	{"openai-old", func(d dice) string { return "sk" + "-" + d.of(alnum, 48) }, anywhere},
	{"anthropic", func(d dice) string { return "sk-" + "ant-api03-" + d.of(alnum, 93) + "AA" }, anywhere},
	{"gcp-api-key", func(d dice) string { return "AI" + "za" + d.of(alnum+"_-", 34) + "x" }, anywhere},
	{"google-oauth", func(d dice) string { return "ya" + "29." + d.of(alnum+"_-", 60) + "x" }, anywhere},
	{"npm", func(d dice) string { return "np" + "m_" + d.of(alnum, 36) }, anywhere},
	{"pypi", func(d dice) string { return "py" + "pi-AgEIcHlwaS5vcmc" + d.of(alnum, 70) }, anywhere},
	{"huggingface", func(d dice) string { return "h" + "f_" + d.of(lower+upper, 34) }, anywhere},
	{"sendgrid", func(d dice) string { return "S" + "G." + d.of(alnum, 22) + "." + d.of(alnum, 43) }, anywhere},
	{"digitalocean", func(d dice) string { return "dop" + "_v1_" + d.of(hexes, 64) }, anywhere},
	{"databricks", func(d dice) string { return "da" + "pi" + d.of(hexes, 32) }, anywhere},
	{"vault", func(d dice) string { return "hv" + "s." + d.of(alnum, 95) }, anywhere},
	{"docker-pat", func(d dice) string { return "dck" + "r_pat_" + d.of(alnum, 27) }, anywhere},
	{"shopify", func(d dice) string { return "shp" + "at_" + d.of(hexes, 32) }, anywhere},
	{"linear", func(d dice) string { return "lin" + "_api_" + d.of(alnum, 40) }, anywhere},
	{"grafana", func(d dice) string { return "gl" + "sa_" + d.of(alnum, 32) + "_" + d.of(hexes, 8) }, anywhere},
	{"postman", func(d dice) string { return "PM" + "AK-" + d.of(hexes, 24) + "-" + d.of(hexes, 34) }, anywhere},
	{"age", func(d dice) string { return "AGE-SECRET-" + "KEY-1" + d.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58) }, anywhere},
	{"jwt", func(d dice) string {
		return d.encoded(`{"alg":"HS256","typ":"JWT"}`) + "." + d.encoded(`{"sub":"`+d.of(digits, 10)+`","n":1}`) + "." + d.of(alnum+"_", 43)
	}, anywhere},

	{"password", func(d dice) string { return d.of(lower, 6) + d.of(digits, 2) + d.of(upper, 2) + "!x" }, behindNames},
	{"short password", func(d dice) string { return d.of(lower, 5) + d.of(digits, 1) }, behindNames},
	{"key", func(d dice) string { return d.of(alnum, 32) }, keyNames},
	{"base64 key", func(d dice) string { return d.of(alnum+"+/", 39) + "9" }, keyNames},
	{"hex key", func(d dice) string { return d.of(hexes, 40) }, keyNames},
	{"word password", func(d dice) string { return d.of(lower, 9) }, []string{
		"PGPASSWORD=$ psql -h db", "mysql -u root -p$ app", "mysqldump -uroot -p'$' app > app.sql", "docker exec -it db mysql -uroot -p$", "ssh h 'mysql -p$ app'",
		"sshpass -p $ ssh u@h", "curl -u me:$ https://x.example/", "curl --user 'me:$' https://x.example/", "redis-cli -h h -a $ ping", "docker login -u u -p $ r.example",
		"echo $ | docker login -u u --password-stdin", "echo '$' | sudo -S apt-get update", "echo 'u:$' | sudo chpasswd", "openssl rsa -in k.pem -passin pass:$ -out o",
		"zip -P $ a.zip b", "7z a -p$ a.7z b", "ldapsearch -x -D cn=a -w $ -b dc=x", "mongosh -u u -p $ h/db", "smbclient //h/s -U 'u%$'", "htpasswd -nb u $",
		"ssh-keygen -t ed25519 -N $ -f k", "gpg --batch --passphrase $ -d f.gpg", "sqlplus scott/$@orcl", "vault kv put secret/x password=$", "wget --http-password=$ https://x.example",
	}},
	{"url", func(d dice) string { return d.of(alnum, 14) }, []string{
		"git clone https://u:$@github.com/o/r.git", "DATABASE_URL=postgres://u:$@db.example:5432/app ./run", `{"url": "mongodb+srv://u:$@c.example.net/db"}`,
		"redis://:$@cache:6379/0", "curl https://u:$@x.example/path?q=1", "amqp://u:$@mq/vhost", `dsn := "u:$@tcp(127.0.0.1:3306)/db"`, "proxy http://u:$@proxy:3128 is used",
		"jdbc:mysql://h/db?user=u&password=$", "origin\thttps://u:$@git.example/r.git (fetch)",
	}},
	{"bearer", func(d dice) string { return d.of(alnum+"._-", 39) + "x" }, []string{
		"curl -H 'Authorization: Bearer $' https://x.example", `curl -H "authorization: bearer $" https://x.example`, `{"headers": {"Authorization": "Bearer $"}}`,
		"> Authorization: Bearer $\r\n> Accept: */*", "http GET x.example Authorization:'Bearer $'", `req.Header.Set("Authorization", "Bearer $")`, "Authorization: token $",
		"Proxy-Authorization: Bearer $",
	}},
	{"basic", func(d dice) string {
		return base64.StdEncoding.EncodeToString([]byte("user:" + d.of(alnum, 10)))
	}, []string{"curl -H 'Authorization: Basic $' https://x.example", "Authorization: Basic $\nAccept: x", `{"header": "Basic $"}`, "_auth=$"}},
	{"private key", func(d dice) string { return d.lines(6) }, []string{
		"-----BEGIN RSA PRI" + "VATE KEY-----\n$\n-----END RSA PRIVATE KEY-----", "cat > k <<'EOF'\n-----BEGIN OPENSSH PRI" + "VATE KEY-----\n$\n-----END OPENSSH PRIVATE KEY-----\nEOF\nchmod 600 k",
		"-----BEGIN PGP PRI" + "VATE KEY BLOCK-----\n\n$\n-----END PGP PRIVATE KEY BLOCK-----", "-----BEGIN PRI" + "VATE KEY-----\n$\n",
	}},
	{"kubernetes secret", func(d dice) string { return base64.StdEncoding.EncodeToString([]byte(d.of(alnum, 12))) }, []string{
		"apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  db: $\ntype: Opaque", "apiVersion: v1\ndata:\n  db: $\nkind: Secret\nmetadata:\n  name: x",
		"kubectl apply -f - <<EOF\nkind: Secret\nstringData:\n  db: \"$\"\nEOF",
	}},
	{"slack webhook", func(d dice) string {
		return "services/T" + d.of(upper+digits, 8) + "/B" + d.of(upper+digits, 8) + "/" + d.of(alnum, 24)
	}, []string{"curl -X POST https://hooks.slack.com/$", "SLACK_URL=https://hooks.slack.com/$\n"}},
	{"telegram", func(d dice) string { return "AA" + d.of(alnum, 33) }, []string{"curl https://api.telegram.org/bot123456789:$/getMe"}},
	{"signature", func(d dice) string { return d.of(alnum, 40) }, []string{"https://x.blob.core.windows.net/c?sv=1&sig=$", "https://b.s3.amazonaws.com/o?X-Amz-Signature=$&x=1"}},
	{"cookie", func(d dice) string { return d.of(alnum, 32) }, []string{"Cookie: sid=$; theme=dark", "curl -H 'Cookie: sid=$' https://x.example", "< Set-Cookie: sid=$; Path=/; HttpOnly"}},
	{"password hash", func(d dice) string { return "$" + "6$" + d.of(alnum, 12) + "$" + d.of(alnum, 86) }, []string{"root:@:19000:0:99999:7:::"}},
	{"heroku", func(d dice) string { return d.uuid() }, []string{"HEROKU_API_KEY=$ heroku apps", "heroku_api_key: $"}},
	{"named", func(d dice) string { return d.of(hexes, 32) }, []string{"DATADOG_API_KEY=$", "mailgun key: $", "algolia api key = $"}},
}

// A sample is a text with one secret in it.
type sample struct{ name, before, value, after string }

func samples(each int) (all []sample) {
	d := dice{testDice()}
	for _, k := range kinds {
		for i, place := range k.in {
			for n := range each {
				sign := "$"
				if k.name == "password hash" {
					sign = "@" // the secret itself has dollars
				}
				at := strings.LastIndex(place, sign)
				if strings.Contains(place, "${") {
					at = strings.Index(place, "-$") + 1
				}
				all = append(all, sample{fmt.Sprintf("%s/%d/%d", k.name, i, n), place[:at], k.make(d), place[at+1:]})
			}
		}
	}
	return all
}
