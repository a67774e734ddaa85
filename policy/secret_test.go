package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
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
		{"env", nil, read(".env"), askedSecret},
		{"env deeper", nil, read("services/api/.env"), askedSecret},
		{"env in other case", nil, read(".ENV"), askedSecret},
		{"env of a stage", nil, read(".env.production"), askedSecret},
		{"env example", nil, read(".env.example"), safeAllow},
		{"env sample of a stage", nil, read("a/.env.local.sample"), safeAllow},
		{"env template", nil, read(".env.TEMPLATE"), safeAllow},
		{"env wildcard", nil, read(".env*"), askedSecret},
		{"env wildcard deeper", nil, read("*/.env"), askedSecret},
		{"env wildcard at any depth", nil, read("**/.env"), askedSecret},
		{"every hidden file", nil, read(".*"), askedSecret},
		{"everything", nil, read("*"), safeAllow},
		{"everything at any depth", nil, read("**"), safeAllow},
		{"a wildcard that only happens to match", nil, read("*.json"), safeAllow},
		{"a stem that only happens to match", nil, read("server.*"), safeAllow},
		{"a name that begins alike", nil, read(".environment"), safeAllow},
		{"code", nil, read("env.ts"), safeAllow},
		{"a list of names", nil, listed(read(".env")), safeAllow},
		{"a search of the project", nil, below("."), safeAllow},
		{"a search of a folder of keys", nil, below(".ssh"), askedSecret},
		{"a search below it", nil, below("x/.aws/sso"), askedSecret},
		{"private key", nil, read("certs/server.key"), askedSecret},
		{"pem", nil, read("server.pem"), askedSecret},
		{"pem by wildcard", nil, read("certs/*.pem"), askedSecret},
		{"what everybody may know", nil, read("cacert.pem"), safeAllow},
		{"ssh key", nil, read("id_ed25519"), askedSecret},
		{"ssh public key", nil, read("id_ed25519.pub"), safeAllow},
		{"ssh keys by wildcard", nil, read("id_*"), askedSecret},
		{"kubernetes", nil, read(".kube/config"), askedSecret},
		{"docker", nil, read(".docker/config.json"), askedSecret},
		{"docker's other files", nil, read(".docker/daemon.json"), safeAllow},
		{"maven", nil, read("home/.m2/settings.xml"), askedSecret},
		{"sops", nil, read(".config/sops/age/keys.txt"), askedSecret},
		{"copilot", nil, read(".config/github-copilot/hosts.json"), askedSecret},
		{"google", nil, read("service-account-dev.json"), askedSecret},
		{"rails", nil, read("config/secrets.yml"), askedSecret},
		{"terraform", nil, read("terraform.tfstate"), askedSecret},
		{"browser", nil, read(".config/google-chrome/Default/Cookies"), askedSecret},
		{"history", nil, read(".bash_history"), askedSecret},
		{"umpire's credentials", nil, read(".umpire/state/person.token"), askedSecret},
		{"umpire's keys", nil, read(".umpire/keys/timeline.key"), askedSecret},
		{"a search of umpire's state", nil, below("x/.umpire/state"), askedSecret},
		{"a search of umpire's folder", allowed(), below("~/.umpire"), want{ask, umpire.CodeSecret, "the search would read umpire's credentials"}},
		{"umpire's folder elsewhere", allowed(), read("/var/lib/umpire/state/person.token"), want{deny, umpire.CodeForbiddenPath, ""}},
		{"umpire's keys elsewhere", allowed(), read("/var/lib/umpire/keys/timeline.key"), want{deny, umpire.CodeForbiddenPath, ""}},
		{"umpire's rules", nil, read(".umpire/permissions.json"), safeAllow},
		{"npmrc of the project", nil, read(".npmrc"), askedSecret},
		{"npmrc of the person, allowed as part of the home", allowed("allow Read(~/**)"), read("~/.npmrc"), askedSecret},
		{"a process", allowed(), read("/proc/self/environ"), askedSecret},
		{"a broad rule", allowed("allow Read(**)"), read(".env"), askedSecret},
		{"a folder's rule", allowed("allow Read(config/**)"), read("config/.env"), askedSecret},
		{"a rule for the command", allowed("allow Bash(cat:*)"), read(".env"), askedSecret},
		{"a person's rule for just that", []string{"allow Read(.env.test)"}, read(".env.test"), safeAllow},
		{"a person's rule for another", []string{"allow Read(.env.test)"}, read(".env.local"), askedSecret},
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
		umpire.SourceProject: askedSecret, umpire.SourceSession: askedSecret,
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
		check(t, newPolicy(t, o, "allow Read", "allow Read(**)"), q, askedSecret)
	})
	t.Run("a question offers the path", func(t *testing.T) {
		d := check(t, newPolicy(t, testOptions), q, askedSecret)
		if len(d.Suggestions) != 1 || d.Suggestions[0].Match.PathGlob != ".env" {
			t.Errorf("suggestions %+v", d.Suggestions)
		}
	})
	t.Run("a link does not hide it", func(t *testing.T) {
		a := read("notes.txt")
		a.Resolved = testRoot + "/.env"
		check(t, newPolicy(t, testOptions), query("Read", a), askedSecret)
	})
}

// Commands that reach hosts ask anyway; the reason says where they lead.
func TestHostProblem(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]umpire.Phrase{
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
	weighAccess(&a)
	if a.Risk != umpire.High ||
		a.Reason != umpire.Say("%s; %s", umpire.Phrase("runs commands on it"), umpire.Phrase(privateText)) {
		t.Errorf("weighed: %s %q", a.Risk, a.Reason)
	}
}

// A search limited to files of secrets reads them.
func TestSecretsThroughGrep(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]want{
		`{"pattern":"x","path":"."}`:                        safeAllow,
		`{"pattern":"x","path":".","glob":"*.{ts,tsx}"}`:    safeAllow,
		`{"pattern":"x","path":".","glob":"**/*.go"}`:       safeAllow,
		`{"pattern":"x","path":".","glob":"*.json"}`:        safeAllow,
		`{"pattern":"x","path":".","glob":".env"}`:          askedSecret,
		`{"pattern":"x","path":".","glob":"**/.env*"}`:      askedSecret,
		`{"pattern":"x","path":"src","glob":"{*.go,.ENV}"}`: askedSecret,
		`{"pattern":"x","path":".","include":"*.pem"}`:      askedSecret,
		`{"pattern":"x","glob":"!.env"}`:                    safeAllow,
		`{"pattern":"x","glob":"*.go"}`:                     safeAllow,
		`{"pattern":"x","glob":".env"}`:                     askedSecret,
		`{"pattern":"x"}`:                                   safeAllow,
		`{"pattern":"x","path":".aws","glob":"*"}`:          askedSecret,
	} {
		call := umpire.Call{Tool: "Grep", Input: json.RawMessage(input), Dir: testRoot}
		facts, err := FactsOf(call, shell.Env{Dir: testRoot, Home: testHome})
		if err != nil {
			t.Fatal(err)
		}
		for i := range facts.Accesses {
			a := &facts.Accesses[i]
			a.Resolved, a.Place = absolutePath(a.Target, testRoot), umpire.PlaceInside
		}
		t.Run(input, func(t *testing.T) {
			q := query("Grep", facts.Accesses...)
			q.Call = call
			check(t, newPolicy(t, testOptions), q, want)
		})
	}
}

// TestSecretNames checks names of files in which tools keep secrets, and similar names of
// harmless files.
func TestSecretNames(t *testing.T) {
	t.Parallel()
	for name := range strings.FieldsSeq(`.env .env.local prod.env config/db.env .dev.vars id_rsa id_ed25519_sk deploy_rsa keys/ci_ed25519 x.ppk home.ovpn .dockercfg .mylogin.cnf pgpass.conf
		.vault_pass .vault_pass.txt .erlang.cookie .terraformrc local.settings.json .codex/auth.json .composer/auth.json .gemini/oauth_creds.json .gem/credentials client_secret.json
		client_secret_1.apps.json kubeconfig .oci/config .config/rclone/rclone.conf .config/doctl/config.yaml cookies.txt cookies.sqlite .irb_history .rediscli_history .local/share/fish/fish_history
		.Rhistory .dbshell auth.json .envrc .secrets tokens.json wp-config.php gcp-key.json prod.tfvars prod.auto.tfvars terraform.tfvars.json vault-password vault-password.txt
		app-firebase-adminsdk-x1.json credentials-prod.json credentials_old.json`) {
		if got := lineVerdict(t, "cat "+name); got != umpire.Ask {
			t.Errorf("cat %s is %s", name, got)
		}
	}
	for name := range strings.FieldsSeq(`.env.example example.env template.env environment.ts env.go keys.go rsa.go id_rsa.pub cookies.go settings.json *.json *.php *.txt auth.ts tokens.css prod.tfvars.example variables.tf credentials.ts history.go kube/config.go secret.go token.go dbshell.py`) {
		if got := lineVerdict(t, "cat "+name); got != umpire.Allow {
			t.Errorf("cat %s is %s", name, got)
		}
	}
}
