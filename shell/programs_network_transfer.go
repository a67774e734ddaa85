package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

const (
	sendsData  = SendsData
	otherRoute = "takes another way to the host than its name says"
	redirects  = "follows redirects, which may lead to another host"
	savesFiles = "writes what it downloads"
	sendsKeys  = "sends credentials or trusts another party"
)

// SendsData is the reason of a program that sends data of its line or of files to a host.
const SendsData umpire.Phrase = "sends data to a host"

// SendsOutput is the reason of a program that sends its input to a host. Its argument is the program that wrote it.
const SendsOutput umpire.Phrase = "sends the output of %s to a host"

// transferTools are the programs that download and upload over HTTP and similar protocols.
var transferTools = []program{
	// safe: curl --version
	// asks: curl https://example.com
	{names: "curl", risk: umpire.Safe, why: "downloads", check: checkCurl, out: fromNetwork, opts: []option{
		{values: "-X --request", does: plain},
		{flags: "-s -S -f -g -i -I -l -N -q -R -v -Z -0 -1 -2 -3 -# -4 -6 -a -B -G -j"},
		{flags: "-L --location --post301 --post302 --post303", does: routes, why: redirects},
		{flags: "--silent --show-error --fail --fail-early --fail-with-body --globoff --include --head --list-only " +
			"--no-buffer --disable --remote-time --verbose --parallel --parallel-immediate --http1.0 --http1.1 " +
			"--http2 --http2-prior-knowledge --http3 --http3-only --http0.9 --tlsv1 --tlsv1.0 --tlsv1.1 --tlsv1.2 " +
			"--tlsv1.3 --progress-bar --no-progress-meter --ipv4 --ipv6 --get --junk-session-cookies --compressed " +
			"--compressed-ssh --path-as-is --raw --tr-encoding --styled-output --no-styled-output --no-keepalive " +
			"--tcp-fastopen --tcp-nodelay --tcp-keepalive --ssl --ssl-reqd --suppress-connect-headers --trace-time " +
			"--trace-ids --use-ascii --ignore-content-length --disallow-username-in-url --basic --digest --anyauth " +
			"--ntlm --negotiate --cert-status --retry-connrefused --retry-all-errors --next -: --metalink " +
			"--ca-native --no-clobber --remove-on-error --skip-existing --xattr --create-dirs --crlf --append " +
			"--disable-eprt --disable-epsv --ftp-pasv --ftp-skip-pasv-ip --no-alpn --no-sessionid --proxy-basic " +
			"--form-escape"},
		{values: "-A -e --user-agent --referer -H --header --proxy-header --service-name --login-options " +
			"--request-target", does: sends},
		{values: "-m -y -Y -r -C --max-time --connect-timeout --speed-limit --speed-time --range --continue-at " +
			"--retry --retry-delay --retry-max-time --max-redirs --max-filesize --limit-rate --rate --parallel-max " +
			"--keepalive-time --happy-eyeballs-timeout-ms --expect100-timeout --ciphers --tls13-ciphers --curves " +
			"--tls-max --cert-type --key-type --pass --noproxy --proto --proto-default --proto-redir --local-port " +
			"--create-file-mode --url -w --write-out", does: plain},
		{values: "-b --cookie", does: sends}, {values: "-z --time-cond"},
		{values: "-o --output", does: plain, why: savesFiles},
		{flags: "-O --remote-name --remote-name-all -J --remote-header-name", does: asks, consequence: lost,
			why: savesFiles},
		{values: "-D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts " +
			"--alt-svc", does: writes, why: "writes what it learns"},
		{values: "--output-dir", does: enters | asks, consequence: lost, why: savesFiles},
		{values: "-d --data --data-ascii --data-binary --data-urlencode --json -F --form --expand-data --expand-json " +
			"--expand-data-binary --expand-form --url-query --variable", does: harms | plain, consequence: sent,
			why: sendsData},
		{flags: "--ftp-create-dirs",
			values: "--data-raw --form-string --mail-from --mail-rcpt --mail-auth -Q --quote -t --telnet-option",
			does:   harms | plain, consequence: sent, why: sendsData},
		{values: "-T --upload-file", does: reads | harms, consequence: sent, why: sendsData},
		{values: "-K --config", does: obeys | reads, why: "obeys another configuration"},
		{values: "-E --cert --key --pubkey --netrc-file --etag-compare", does: reads | asks, consequence: sent,
			why: sendsKeys},
		{flags: "--netrc --netrc-optional --location-trusted --insecure -k -n --proxy-insecure --doh-insecure " +
			"--proxy-negotiate",
			values: "--delegation -u --user -U --proxy-user --oauth2-bearer --aws-sigv4 --sasl-authzid",
			does:   asks | plain, consequence: sent, why: sendsKeys},
		{values: "--cacert --capath --crlfile --egd-file --random-file --pinnedpubkey", does: reads},
		{values: "--engine", does: harms, consequence: lost, why: "loads code"},
		{flags: "--haproxy-protocol -p --proxytunnel", values: "-x --proxy --preproxy --proxy1.0 --socks4 --socks4a " +
			"--socks5 --socks5-hostname --resolve --connect-to --doh-url --dns-servers --dns-interface --interface " +
			"--unix-socket --abstract-unix-socket -P --ftp-port", does: routes},
	}, about: "--version -V --help -h --manual -M"},
	// safe: wget --version
	// asks: wget https://example.com
	{
		names: "wget wget2", risk: umpire.High, consequence: sent, why: "downloads and writes files", check: checkWget,
		out: fromNetwork, lax: true, about: "--version -V --help -h", opts: []option{
			{values: "-O --output-document -o --output-file -a --append-output --save-cookies --warc-file " +
				"--rejected-log --hsts-file", does: writes},
			{values: "-P --directory-prefix", does: writes},
			{values: "-i --input-file --post-file --body-file --load-cookies --certificate --private-key " +
				"--ca-certificate --ca-directory --crl-file --input-metalink --warc-dedup --random-file --egd-file",
				does: reads, why: sendsData},
			{values: "--config", does: obeys | reads}, {values: "-e --execute", does: obeys},
			{values: "--bind-address --dns-servers --bind-dns-address", does: routes},
			{values: "-U --user-agent --header --post-data --body-data --user --password --referer --http-user " +
				"--http-password --ftp-user --ftp-password --proxy-user --proxy-password", does: sends},
			{values: "--use-askpass", does: runs | harms, consequence: lost, why: "runs a program"},
			{values: "-t -T -w -Q -l -A -R -D -I -X -B --tries --timeout --wait --quota --level --accept --reject " +
				"--domains --method --limit-rate --base --waitretry", does: plain},
		},
	},
	// safe: http --version
	// asks: http example.com
	{
		names: "http https xh xhs httpie", risk: umpire.High, consequence: sent, why: sendsData, lax: true,
		check: checkHTTPie, out: fromNetwork, about: "--version --help", opts: []option{
			{values: "-o --output", does: writes},
			{values: "--cert --cert-key --verify --session --session-read-only", does: reads,
				limits: &limits{except: "yes no"}},
			{flags: "-F --follow", values: "--proxy --interface --resolve --unix-socket", does: routes},
			{values: "-a --auth --raw", does: sends},
			{values: "-A --auth-type --timeout --print -p -s --style --pretty --max-redirects", does: plain},
		},
	},
	// safe: aria2c --version
	// asks: aria2c https://example.com/a
	{
		names: "aria2c axel", risk: umpire.High, consequence: sent, why: "downloads and writes files",
		check: reachesURLs, lax: true, about: "--version -v --help -h", opts: []option{
			{values: "-i --input-file --load-cookies --conf-path --ca-certificate --certificate --private-key " +
				"--netrc-path -T --torrent-file -M --metalink-file --server-stat-if", does: reads},
			{values: "--all-proxy --http-proxy --https-proxy --ftp-proxy --interface --async-dns-server", does: routes},
			{values: "--header -U --user-agent --referer --http-user --http-passwd", does: sends},
			{values: "-d --dir -o --out -l --log --save-session --server-stat-of --save-cookies", does: writes},
			{values: "--on-download-error --on-download-complete --on-download-start --on-download-stop " +
				"--on-download-pause --on-bt-download-complete", does: runs | harms, consequence: lost,
				why: "runs a program"},
			{values: "-x -s -j -k", does: plain},
		},
	},
	// safe: yt-dlp --version
	// asks: yt-dlp https://example.com/a
	{
		names: "yt-dlp youtube-dl gallery-dl", risk: umpire.High, consequence: sent, why: "downloads and writes files",
		check: reachesURLs, lax: true, about: "--version --help -h", opts: []option{
			{values: "--exec --exec-before-download --downloader --external-downloader", does: runs | harms,
				consequence: lost, why: "runs a program"},
			{values: "-a --batch-file --cookies --config-locations", does: reads},
			{values: "-o --output -P --paths", does: writes}, {values: "-f -S", does: plain},
			{values: "--proxy --source-address", does: routes},
		},
	},
	// safe: lynx --version
	// asks: lynx https://example.com
	{
		names: "lynx w3m links elinks links2 browsh", risk: umpire.Medium, consequence: sent, why: "opens a page",
		check: reachesURLs, out: fromNetwork, about: "-version --version -help --help", opts: []option{
			{flags: "-dump -source -nolist -listonly -stdin -force_html -crawl -dump_source -dump_head",
				values: "-width -cols -T -display_charset", does: plain, why: "prints a page"},
		},
		style: words,
	},
}

// checkCurl judges the values of curl's options and its URLs.
func checkCurl(u *use) {
	urls := u.takeOperands()
	for _, g := range u.given {
		if g.has && g.name == "--url" {
			urls = append(slices.Clip(urls), g.value)
		}
	}
	for _, g := range u.given {
		judgeCurlOption(u, g, urls)
	}
	for _, url := range urls {
		judgeCurlURL(u, url)
	}
	if slices.ContainsFunc(u.words[1:], word.unsettled) {
		u.raiseTo(umpire.Medium, sent, sendsData)
	}
}

func judgeCurlOption(u *use, g given, urls []word) {
	switch {
	case g.means("--request"):
		if !g.value.known() || !scan.HasField("get head options", strings.ToLower(g.value.text)) {
			u.spoke = g.name
			u.raiseTo(umpire.High, sent, umpire.Say("changes something on a host with %s", g.value.display()))
		}
	case g.means("--data"):
		noteCurlFile(u, g.value)
	case g.name == "--write-out" || g.name == "-w":
		if strings.HasPrefix(g.value.text, "@") {
			noteCurlFile(u, g.value)
		}
		if !g.value.known() || strings.Contains(g.value.text, "%output{") {
			u.raiseTo(umpire.Medium, reversible, savesFiles)
		}
	case g.means("--header") && namesCredential(g.value.text):
		u.raiseTo(umpire.Medium, sent, sendsKeys)
	case g.means("--cookie"):
		u.raiseTo(umpire.Medium, sent, sendsKeys)
		if !g.value.open && !strings.Contains(g.value.text, "=") {
			u.touch(umpire.KindRead, g.value, accessOf{why: "sends its cookies"})
		}
	case g.means("--output"):
		if g.value.text != "-" || g.value.open {
			u.touch(umpire.KindWrite, g.value, accessOf{why: savesFiles})
		}
	case g.means("--remote-name"):
		noteRemoteNames(u, urls)
	case g.means("--cert"):
		file, _, _ := strings.Cut(g.value.text, ":")
		u.touch(umpire.KindRead, word{text: file, open: g.value.open}, accessOf{why: sendsKeys})
	}
}

// namesCredential reports whether a header identifies a user to the server.
func namesCredential(header string) bool {
	name, _, _ := strings.Cut(strings.ToLower(header), ":")
	return slices.ContainsFunc([]string{"auth", "cookie", "token", "key", "secret", "session", "password"},
		func(part string) bool { return strings.Contains(name, part) })
}

// noteCurlFile records the file of @file, <file, name@file and name=@file.
func noteCurlFile(u *use, value word) {
	for _, mark := range []string{"=@", "=<", "@", "<"} {
		before, file, found := value.after(mark)
		if !found || len(mark) == 1 && before != "" && strings.ContainsAny(before, " :{\"'") {
			continue
		}
		file.text, _, _ = strings.Cut(file.text, ";")
		if file.known() && file.text == "-" {
			return // its input
		}
		u.touch(umpire.KindRead, file, accessOf{why: sendsData})
		return
	}
}

// noteRemoteNames records the files that -O writes, named by the URLs.
func noteRemoteNames(u *use, urls []word) {
	for _, url := range urls {
		u.touch(umpire.KindWrite, savedAs(url), accessOf{why: savesFiles})
	}
}

// savedAs returns the file that a download of url is written to.
func savedAs(url word) word {
	if url.open {
		return word{text: ".", open: true, under: true}
	}
	name, _, _ := strings.Cut(url.text, "?")
	name = name[strings.LastIndexByte(name, '/')+1:]
	if name == "" || !strings.Contains(strings.TrimPrefix(url.text[strings.Index(url.text, "://")+1:], "//"), "/") {
		name = "index.html"
	}
	return lit(name)
}

// judgeCurlURL judges one URL: file: reads, HTTP and FTP download, and the other schemes use
// protocols in which a URL can be a command.
func judgeCurlURL(u *use, url word) {
	scheme, rest, found := url.after(":")
	scheme = strings.ToLower(scheme)
	switch {
	case found && scheme == "file":
		noteCurlLocal(u, rest)
	case strings.HasPrefix(url.text, "@"):
		u.raiseTo(umpire.Medium, sent, sendsData)
		u.touch(umpire.KindRead, url.cut(1), accessOf{})
	case !found || !strings.HasPrefix(rest.text, "//") || scan.HasField("http https ftp ftps", scheme):
		look(u, url, "downloads from it")
	default:
		u.visit(url, umpire.High, umpire.Say("speaks %s with it", scheme))
	}
}

// noteCurlLocal records the read of file://host/path, which curl decodes and expands.
func noteCurlLocal(u *use, rest word) {
	if strings.HasPrefix(rest.text, "//") {
		rest = rest.cut(len("//"))
		if i := strings.IndexByte(rest.text, '/'); i > 0 {
			rest = rest.cut(i)
		}
	}
	if strings.ContainsAny(rest.text, "%") {
		rest = word{open: true}
	}
	rest.glob = rest.glob || strings.ContainsAny(rest.text, "{}[]")
	u.touch(umpire.KindRead, rest, accessOf{})
}

// checkWget judges wget's URLs and the files it saves them to.
func checkWget(u *use) {
	if !u.gave("-O", "-P", "--output-document", "--directory-prefix", "--spider") {
		noteRemoteNames(u, u.operands)
	}
	reachesURLs(u)
}

// checkHTTPie judges the items after the URL: name=@file and similar ones send a file.
func checkHTTPie(u *use) {
	for _, item := range u.operands {
		before, file, found := item.after("@")
		if found && !strings.Contains(before, "/") {
			u.touch(umpire.KindRead, file, accessOf{why: sendsData})
		}
	}
	reachesURLs(u)
}

// reachesURLs treats every operand as a URL that is reached.
func reachesURLs(u *use) {
	for _, operand := range u.operands {
		if u.program.risk == umpire.Medium && !strings.Contains(operand.text, "://") {
			u.touch(umpire.KindRead, operand, accessOf{})
			continue
		}
		u.visit(operand, u.program.risk, u.program.why)
	}
	u.operands = nil
}
