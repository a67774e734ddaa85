package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/files/sample"
)

// secretsOf puts secrets in their usual places, and returns their paths.
func secretsOf(t *testing.T, b *bench) []string {
	t.Helper()
	var all []string
	for _, name := range []string{
		"h/.ssh/id_ed25519", "h/.ssh/config", "h/.aws/credentials", "h/.netrc", "h/.npmrc", "h/.git-credentials", "h/.kube/config", "h/.docker/config.json",
		"h/.config/gh/hosts.yml", "h/.config/gcloud/access_tokens.db", "h/.gnupg/private-keys-v1.d/x.key", "h/.mozilla/firefox/p/logins.json",
		"h/.config/google-chrome/Default/Cookies", "h/.bash_history", "h/.cargo/credentials.toml", "h/.password-store/x.gpg",
		"p/.env", "p/.env.local", "p/apps/web/.env.production", "p/server.key", "p/config/id_rsa", "p/secrets.yml", "p/infra/prod.tfstate", "p/.aws/credentials",
	} {
		path := filepath.Join(filepath.Dir(b.root), strings.Replace(name, "p/", filepath.Base(b.root)+"/", 1))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("PRIVATE\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, path)
	}
	return all
}

// A command cannot read files covered by rules about secrets unless its call was allowed
// to.
func TestSecretsCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	secrets := secretsOf(t, b)
	b.bare("echo KEPT >.env.example; echo KEPT >ca.pem; echo KEPT >plain")
	for _, limits := range []Limits{{}, writing, {Mode: writing.Mode, Network: true}} {
		if out := b.works(limits, "grep -l PRIVATE -- '"+strings.Join(secrets, "' '")+"' 2>/dev/null || true"); out != "" {
			t.Errorf("%+v: these are read:\n%s", limits, out)
		}
		if out := b.works(limits, "grep -rh PRIVATE . ~ 2>/dev/null || true"); out != "" {
			t.Errorf("%+v: a search finds %q", limits, out)
		}
		if out := b.works(limits, "cat .env.example ca.pem plain"); out != "KEPT\nKEPT\nKEPT\n" {
			t.Errorf("%+v: what holds none is %q", limits, out)
		}
	}
	b.fails(writing, "echo x >.env", "Read-only file system")
	b.fails(writing, "echo x >.aws/new", "Read-only file system")
	for _, path := range secrets {
		b.has(path, "PRIVATE\n")
	}
}

// A call sees only the secrets that it was allowed by name.
func TestASecretThatWasNamedIsSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	secrets := secretsOf(t, b)
	home := b.Home
	for _, path := range sample.Of(t, 4, secrets) {
		limits := writing
		limits.Seen = []string{path}
		if out := b.works(limits, "cat '"+path+"'"); out != "PRIVATE\n" {
			t.Errorf("%s: %q", path, out)
		}
	}
	limits := writing
	limits.Seen = []string{filepath.Join(home, ".ssh/config"), b.root}
	if out := b.works(limits, "cat ~/.ssh/config; cat ~/.ssh/id_ed25519 .env 2>/dev/null || true"); out != "PRIVATE\n" {
		t.Errorf("%q", out)
	}
	limits.Seen = []string{filepath.Join(b.root, ".env")}
	b.works(limits, "echo new >.env && mv .env .env.local.bak && rm .env.local.bak")
}

// A file that is unchanged in git stays visible, so nothing seems to have changed. An
// index entry for other content does not make a file visible.
func TestTrackedFilesAreSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("mkdir -p testdata && echo PUBLIC >testdata/tls.key && git add testdata && git commit -qm x && echo PRIVATE >.env")
	if out := b.works(writing, "cat testdata/tls.key && git status --porcelain testdata"); out != "PUBLIC\n" {
		t.Errorf("%q", out)
	}
	b.works(writing, "git update-index --add --cacheinfo 100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,.env")
	if out := b.works(writing, "cat .env"); out != "" {
		t.Errorf("%q", out)
	}
}

// A link is hidden together with its target, and each rule of the policy has its place in the list.
func TestSecretsBehindLinks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("mkdir ../store && echo PRIVATE >../store/dotenv && ln -s ../store/dotenv .env && echo PRIVATE >../h/mine && ln -s mine ../h/.netrc")
	if out := b.works(writing, "cat .env ~/.netrc ../store/dotenv ~/mine 2>/dev/null || true"); out != "" {
		t.Errorf("%q", out)
	}
}

// Looking up names by their ends finds the same patterns as comparing with each.
func TestNamesBySuffix(t *testing.T) {
	t.Parallel()
	known := secretsKnown()
	var all []string
	for _, patterns := range known.byName {
		all = append(all, patterns...)
	}
	fitting := 0
	for _, name := range []string{
		".env", ".env.", ".env.local", "prod.env", "a.pem", ".pem", "server.key", "id_rsa", "deploy_ed25519",
		"x-adminsdk-7.json", "-adminsdk-.json", "adminsdk.json", "client_secret.json", "client_secret_1.json",
		"credentials.json", "vault-password", "vault-password.txt", ".bash_history", "main.tfstate",
		"main.tfstate.backup", "x.tfstate.old", "google-chrome", "main.go", "n",
	} {
		whole := "p/src/" + name
		want := matchesAny(all, whole) && !matchesAny(known.except, whole)
		if got := known.names("/p/src", name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if want {
			fitting++
		}
	}
	if fitting < 10 {
		t.Errorf("only %d of these are secrets", fitting)
	}
}
