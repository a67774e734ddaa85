package policy

import (
	"encoding/json"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	secret := want{ask, umpire.CodeRule, "may hold secrets: …"}
	cat := exec("cat x", umpire.Safe)
	listed := func(a umpire.Access) umpire.Access { a.Names = true; return a }
	below := func(target string) umpire.Access { a := read(target); a.Tree = true; return a }
	allowed := func(rules ...string) []string { return append(rules, "allow Read(/**)", "allow Bash") }
	for _, tt := range []struct {
		name   string
		rules  []string
		access umpire.Access
		want   want
	}{
		{"env", nil, read(".env"), secret},
		{"env deeper", nil, read("services/api/.env"), secret},
		{"env in other case", nil, read(".ENV"), secret},
		{"env of a stage", nil, read(".env.production"), secret},
		{"env example", nil, read(".env.example"), safeAllow},
		{"env sample of a stage", nil, read("a/.env.local.sample"), safeAllow},
		{"env template", nil, read(".env.TEMPLATE"), safeAllow},
		{"env wildcard", nil, read(".env*"), secret},
		{"env wildcard deeper", nil, read("*/.env"), secret},
		{"env wildcard at any depth", nil, read("**/.env"), secret},
		{"every hidden file", nil, read(".*"), secret},
		{"everything", nil, read("*"), safeAllow},
		{"everything at any depth", nil, read("**"), safeAllow},
		{"a wildcard that only happens to match", nil, read("*.json"), safeAllow},
		{"a stem that only happens to match", nil, read("server.*"), safeAllow},
		{"a name that begins alike", nil, read(".environment"), safeAllow},
		{"code", nil, read("env.ts"), safeAllow},
		{"a list of names", nil, listed(read(".env")), safeAllow},
		{"a search of the project", nil, below("."), safeAllow},
		{"a search of a folder of keys", nil, below(".ssh"), secret},
		{"a search below it", nil, below("x/.aws/sso"), secret},
		{"private key", nil, read("certs/server.key"), secret},
		{"pem", nil, read("server.pem"), secret},
		{"pem by wildcard", nil, read("certs/*.pem"), secret},
		{"what everybody may know", nil, read("cacert.pem"), safeAllow},
		{"ssh key", nil, read("id_ed25519"), secret},
		{"ssh public key", nil, read("id_ed25519.pub"), safeAllow},
		{"ssh keys by wildcard", nil, read("id_*"), secret},
		{"kubernetes", nil, read(".kube/config"), secret},
		{"docker", nil, read(".docker/config.json"), secret},
		{"docker's other files", nil, read(".docker/daemon.json"), safeAllow},
		{"google", nil, read("service-account-dev.json"), secret},
		{"rails", nil, read("config/secrets.yml"), secret},
		{"terraform", nil, read("terraform.tfstate"), secret},
		{"browser", nil, read(".config/google-chrome/Default/Cookies"), secret},
		{"history", nil, read(".bash_history"), secret},
		{"umpire's credentials", nil, read(".umpire/state/person.token"), secret},
		{"a search of umpire's state", nil, below("x/.umpire/state"), secret},
		{"a search of umpire's folder", allowed(), below("~/.umpire"), secret},
		{"umpire's folder elsewhere", allowed(), read("/var/lib/umpire/state/person.token"), secret},
		{"umpire's rules", nil, read(".umpire/permissions.json"), safeAllow},
		{"npmrc of the project", nil, read(".npmrc"), safeAllow},
		{"npmrc of the person, allowed as part of the home", allowed("allow Read(~/**)"), read("~/.npmrc"), secret},
		{"a process", allowed(), read("/proc/self/environ"), secret},
		{"a broad rule", allowed("allow Read(**)"), read(".env"), secret},
		{"a folder's rule", allowed("allow Read(config/**)"), read("config/.env"), secret},
		{"a rule for the command", allowed("allow Bash(cat:*)"), read(".env"), secret},
		{"a person's rule for just that", []string{"allow Read(.env.test)"}, read(".env.test"), safeAllow},
		{"a person's rule for another", []string{"allow Read(.env.test)"}, read(".env.local"), secret},
		{"a person's rule at any depth", []string{"allow Read(**/.env.test)"}, read("a/b/.env.test"), safeAllow},
		{"a person's rule for all keys of a folder", []string{"allow Read(certs/*.pem)"}, read("certs/a.pem"), safeAllow},
		{"a person's rule for a folder of logins", []string{"allow Read(~/.aws/**)"}, read("~/.aws/config"), safeAllow},
		{"a deny rule is stronger still", []string{"allow Read(.env)", "deny Read(.env)"}, read(".env"), blocked},
		{"a person's ask rule remains", []string{"allow Read(.env)", "ask Read(.env)"}, read(".env"), want{ask, umpire.CodeRule, "Asked by rule: ask Read(.env)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			options := testOptions
			options.StateDir = "/var/lib/umpire"
			check(t, newPolicy(t, options, tt.rules...), query("Bash", cat, tt.access), tt.want)
		})
	}
}

func TestSecretsYieldToPeople(t *testing.T) {
	t.Parallel()
	q := query("Read", read(".env"))
	for source, want := range map[umpire.Source]want{
		umpire.SourceUser: safeAllow, umpire.SourceManaged: safeAllow, umpire.SourceFlag: safeAllow,
		umpire.SourceProject: askedRule, umpire.SourceSession: askedRule,
	} {
		r := rule(t, "allow Read(.env)")
		r.Source = source
		p, err := New([]umpire.Rule{r}, testOptions)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(source.String(), func(t *testing.T) { check(t, p, q, want) })
	}
	t.Run("a grant of the session", func(t *testing.T) {
		q := q
		q.Grants = []umpire.Grant{{Tool: "Read", Scope: umpire.ScopeSession, Match: umpire.Match{PathGlob: ".env"}}}
		check(t, newPolicy(t, testOptions), q, want{allow, umpire.CodeSession, ""})
	})
	t.Run("not to an order in which allow rules beat ask rules", func(t *testing.T) {
		o := testOptions
		o.Precedence = DenyAllowAsk
		check(t, newPolicy(t, o, "allow Read", "allow Read(**)"), q, askedRule)
	})
	t.Run("a question offers the path", func(t *testing.T) {
		d := check(t, newPolicy(t, testOptions), q, askedRule)
		if len(d.Suggestions) != 1 || d.Suggestions[0].Match.PathGlob != ".env" {
			t.Errorf("suggestions %+v", d.Suggestions)
		}
	})
	t.Run("a link does not hide it", func(t *testing.T) {
		a := read("notes.txt")
		a.Resolved = testRoot + "/.env"
		check(t, newPolicy(t, testOptions), query("Read", a), askedRule)
	})
}

// Commands that reach hosts ask anyway; the reason says where they lead.
func TestHostProblem(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"localhost": privateText, "localhost:3000/x": privateText, "u@10.1.1.1": privateText, "@192.168.0.1": privateText,
		"http://db:5432/": privateText, "http://[::1]:80/": privateText, "TCP:localhost:80": privateText, "2130706433": privateText,
		"0x7f000001": privateText, "http://localhost:…": privateText, "127.0.0.1:22": privateText, "nas.local": privateText,
		"http://169.254.169.254/latest": metadataText, "metadata.google.internal": metadataText, "168.63.129.16": metadataText,
		"http://[::ffff:169.254.169.254]/": metadataText, "http://metadata/x": metadataText,
		"example.com": "", "https://pkg.go.dev/x": "", "git@github.com:o/r.git": "", "origin": "", "redis": "", "http://…": "", "": "",
		"TCP:example.com:80": "", "8.8.8.8": "",
	} {
		if got := hostProblem(target); got != want {
			t.Errorf("%q: %q, want %q", target, got, want)
		}
	}
	a := network("u@localhost")
	a.Risk, a.Reason = umpire.High, "runs commands on it"
	weigh(&a)
	if a.Risk != umpire.High || a.Reason != "runs commands on it; "+privateText {
		t.Errorf("weighed: %s %q", a.Risk, a.Reason)
	}
}

// A search that is told to keep to files that hold secrets reads them.
func TestSecretsThroughGrep(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]want{
		`{"pattern":"x","path":"."}`:                        safeAllow,
		`{"pattern":"x","path":".","glob":"*.{ts,tsx}"}`:    safeAllow,
		`{"pattern":"x","path":".","glob":"**/*.go"}`:       safeAllow,
		`{"pattern":"x","path":".","glob":"*.json"}`:        safeAllow,
		`{"pattern":"x","path":".","glob":".env"}`:          askedRule,
		`{"pattern":"x","path":".","glob":"**/.env*"}`:      askedRule,
		`{"pattern":"x","path":"src","glob":"{*.go,.ENV}"}`: askedRule,
		`{"pattern":"x","path":".","include":"*.pem"}`:      askedRule,
		`{"pattern":"x","glob":"!.env"}`:                    safeAllow,
		`{"pattern":"x","glob":"*.go"}`:                     safeAllow,
		`{"pattern":"x","glob":".env"}`:                     askedRule,
		`{"pattern":"x"}`:                                   safeAllow,
		`{"pattern":"x","path":".aws","glob":"*"}`:          askedRule,
	} {
		call := umpire.Call{Tool: "Grep", Input: json.RawMessage(input), Dir: testRoot}
		facts, err := FactsOf(call, shell.Env{Dir: testRoot, Home: testHome})
		if err != nil {
			t.Fatal(err)
		}
		for i := range facts.Accesses {
			a := &facts.Accesses[i]
			a.Resolved, a.Place = absolute(a.Target, testRoot), umpire.PlaceInside
		}
		t.Run(input, func(t *testing.T) {
			q := query("Grep", facts.Accesses...)
			q.Call = call
			check(t, newPolicy(t, testOptions), q, want)
		})
	}
}
