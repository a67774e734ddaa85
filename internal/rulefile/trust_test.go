package rulefile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

// project makes a project with a rule file and a ledger outside it.
func project(t testing.TB, content string) (Layer, Trust) {
	t.Helper()
	root := t.TempDir()
	l := Layer{Source: umpire.SourceProject, Path: filepath.Join(root, ".umpire", fileName), Root: root}
	if content != "" {
		write(t, l.Path, content)
	}
	return l, Trust{Path: filepath.Join(t.TempDir(), "home", "trust.json")}
}

func TestTrust(t *testing.T) {
	t.Parallel()
	l, trust := project(t, rulesFile(allowTests, denyLocks))
	o := testOptions()
	o.Trust = trust

	set := Load([]Layer{l}, nil, o)
	if diff := cmp.Diff([]string{"deny Edit *.lock"}, brief(set.Rules)); diff != "" {
		t.Error(diff)
	}
	if f := set.Files[0]; f.Health != HealthUntrusted || f.Inert != 1 || f.Rules != 1 {
		t.Errorf("X-31 untrusted: %+v", f)
	}
	if err := trust.Grant(l.Root, l.Path, set.Files[0].Hash); err != nil {
		t.Fatal(err)
	}
	trusted := Load([]Layer{l}, set, o)
	if f := trusted.Files[0]; f.Health != HealthOK || f.Inert != 0 || len(trusted.Rules) != 2 {
		t.Errorf("trusted: %+v", f)
	}

	write(t, l.Path, `{"version": 1, half`)
	if set := Load([]Layer{l}, trusted, o); len(set.Rules) != 2 {
		t.Errorf("broken after trust: %v", brief(set.Rules))
	}
	write(t, l.Path, rulesFile(allowTests, denyLocks)+" ")
	if set := Load([]Layer{l}, trusted, o); len(set.Rules) != 1 {
		t.Errorf("one more byte: %v", brief(set.Rules))
	}
	write(t, l.Path, rulesFile(allowTests, denyLocks))
	if err := trust.Revoke(l.Root, l.Path); err != nil {
		t.Fatal(err)
	}
	if set := Load([]Layer{l}, trusted, o); len(set.Rules) != 1 {
		t.Errorf("revoked: %v", brief(set.Rules))
	}
}

func TestTrustIsBound(t *testing.T) {
	t.Parallel()
	trust := Trust{Path: filepath.Join(t.TempDir(), "trust.json")}
	if err := trust.Grant("/p", "/p/.umpire/permissions.json", "abc"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		root, file, sum string
		want            bool
	}{
		"exact":       {"/p", "/p/.umpire/permissions.json", "abc", true},
		"other root":  {"/q", "/p/.umpire/permissions.json", "abc", false},
		"other file":  {"/p", "/p/.muse/permissions.json", "abc", false},
		"other bytes": {"/p", "/p/.umpire/permissions.json", "abd", false},
		"no hash":     {"/p", "/p/.umpire/permissions.json", "", false},
		"no root":     {"", "/p/.umpire/permissions.json", "abc", false},
	} {
		if got, err := trust.trusted(c.root, c.file, c.sum); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if err := trust.Grant("/p", "/p/.umpire/permissions.json", "new"); err != nil {
		t.Fatal(err)
	}
	if got, _ := trust.trusted("/p", "/p/.umpire/permissions.json", "abc"); got {
		t.Error("a grant for new content keeps the old one trusted")
	}
	if info, err := os.Stat(trust.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("ledger mode %v, %v", info.Mode(), err)
	}
}

func TestTrustLedgerBroken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
	}{
		"half":            {`{"version": 1, "entries": [`, 0o600},
		"other version":   {`{"version": 2, "entries": []}`, 0o600},
		"others write it": {`{"version": 1, "entries": []}`, 0o666},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, trust := project(t, rulesFile(allowTests))
			write(t, trust.Path, c.content)
			if err := os.Chmod(trust.Path, c.mode); err != nil {
				t.Fatal(err)
			}
			o := testOptions()
			o.Trust = trust
			set := Load([]Layer{l}, nil, o)
			if f := set.Files[0]; len(set.Rules) != 0 || len(f.Problems) != 1 || f.Health != HealthUntrusted {
				t.Errorf("file %+v", f)
			}
			if err := trust.Grant(l.Root, l.Path, "abc"); err == nil {
				t.Error("a broken ledger is overwritten")
			}
			if err := (Trust{}).Grant(l.Root, l.Path, "abc"); err == nil {
				t.Error("the zero ledger grants")
			}
		})
	}
}
