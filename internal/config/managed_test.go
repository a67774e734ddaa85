package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// In these tests the current user is the administrator.
func TestMain(m *testing.M) {
	files.Managed.UID = uint32(os.Getuid())
	os.Exit(m.Run())
}

// Only the administrator can switch a gateway off. In other files the line is an error that
// names the gateway, the file and the fix.
func TestOnlyTheAdministratorSwitchesOff(t *testing.T) {
	t.Parallel()
	for _, source := range []umpire.Source{umpire.SourceUser, umpire.SourceProject} {
		for _, text := range []string{"lang: en\nsecurity.permission.enforce_gateway: false\n", "security:\n  permission: {enforce_gateway: no}\n"} {
			_, err := readLayers(t, map[umpire.Source]string{source: text})
			want := source.String() + ".yaml:2: security.permission.enforce_gateway: false has an effect only in /etc/umpire/config.yaml; remove this line"
			if err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", source, err, want)
			}
		}
	}
	c, err := readLayers(t, map[umpire.Source]string{umpire.SourceManaged: "security.permission.enforce_gateway: false"})
	if err != nil || !c.WarnOnly {
		t.Errorf("the administrator's word does not count: %+v, %v", c, err)
	}
	if defaults().WarnOnly {
		t.Error("by default umpire only warns")
	}
}

// Anyone can tighten the administrator's keys, but only the administrator can loosen them.
func TestAdministratorsValuesOnlyTighten(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		key, managed, user, want string
		from                     umpire.Source
	}{
		{"mode", "ask", "bypass", "ask", umpire.SourceManaged},
		{"mode", "default", "ask", "ask", umpire.SourceUser},
		{"risk.medium", "ask", "allow", "ask", umpire.SourceManaged},
		{"sandbox.mode", "workspace-write", "full-access", "workspace-write", umpire.SourceManaged},
		{"sandbox.mode", "full-access", "read-only", "read-only", umpire.SourceUser},
		{"sandbox.env", "[A]", "[A, B]", "[A]", umpire.SourceManaged},
		{"rules.off", "[]", "[etc-passwd]", "[]", umpire.SourceManaged},
		{"listen", "127.0.0.1:7575", "127.0.0.1:7576", "127.0.0.1:7575", umpire.SourceManaged},
		{"security.permission.enforce_gateway", "false", "true", "true", umpire.SourceUser},
	} {
		c, err := readLayers(t, map[umpire.Source]string{
			umpire.SourceManaged: row.key + ": " + row.managed, umpire.SourceUser: row.key + ": " + row.user,
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := keyOf(row.key)
		if err != nil {
			t.Fatal(err)
		}
		got, from := fmt.Sprint(s.Value(c)), filepath.Base(c.Source(row.key))
		if got != row.want || from != row.from.String()+".yaml" {
			t.Errorf("%s: %s over %s is %s of %s, want %s of %s", row.key, row.user, row.managed, got, from, row.want, row.from)
		}
		if noticed := len(c.Notices) == 1; noticed != (row.from == umpire.SourceManaged) {
			t.Errorf("%s: %s over %s: notices %v", row.key, row.user, row.managed, c.Notices)
		}
	}
}

// A key that the administrator does not set is the person's, and the project's as ever.
func TestAdministratorsFileLeavesOtherKeys(t *testing.T) {
	t.Parallel()
	c, err := readLayers(t, map[umpire.Source]string{
		umpire.SourceManaged: "mode: default", umpire.SourceUser: "risk.medium: allow", umpire.SourceProject: "mode: plan",
	})
	if err != nil || !c.AllowMedium || c.Mode != umpire.ModePlan || len(c.Notices) != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// The administrator's file is ignored if another user could have written it.
func TestAdministratorsFileIsGuarded(t *testing.T) {
	t.Parallel()
	f := file{filepath.Join(t.TempDir(), FileName), umpire.SourceManaged}
	if err := os.WriteFile(f.path, []byte("mode: bypass\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(f.path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := readFiles([]file{f}); err == nil || !strings.Contains(err.Error(), "users other than the administrator can write") {
		t.Errorf("it is read: %v", err)
	}
}
