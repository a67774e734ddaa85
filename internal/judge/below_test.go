package judge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

// TestRulesBelowAFolder: a rule that denies or asks about files applies to a command on a
// folder if such files lie below it, wherever the rule has its wildcards.
func TestRulesBelowAFolder(t *testing.T) {
	t.Parallel()
	j := project(t, map[string]string{
		"packages/foo/secrets/a": "x", "packages/foo/src/a.go": "x", "packages/bar/src/a.go": "x",
		"packages/bar/deep/er/locked/f": "x", "certs/a/b.pem": "x", "certs/c/d.txt": "x",
	})
	j.Bounds, _ = place.Open(j.Bounds.Root, place.Options{Root: j.Bounds.Root, Home: j.Home})
	for _, tt := range []struct {
		rule, line string
		want       umpire.Verdict
	}{
		{"Read packages/*/secrets/**", "grep -r x packages/foo", umpire.Deny},
		{"Read packages/*/secrets/**", "grep -r x ./packages/foo/", umpire.Deny},
		{"Read packages/*/secrets/**", "cd packages && grep -r x foo", umpire.Deny},
		{"Read packages/*/secrets/**", "grep -r x packages/*", umpire.Deny},
		{"Read packages/*/secrets/**", "grep -r x packages/b*", umpire.Allow},
		{"Read packages/*/secrets/**", "grep -r x packages/foo/src", umpire.Allow},
		{"Read packages/*/secrets/**", "grep -r x packages/bar", umpire.Allow},
		{"Read packages/*/secrets/**", "grep -r x certs", umpire.Allow},
		{"Read packages/*/secrets/**", "ls -R packages/foo", umpire.Allow},
		{"Read packages/**/secrets/**", "grep -r x packages/foo", umpire.Deny},
		{"Read **/secrets/*", "grep -r x packages/foo", umpire.Deny},
		{"Read **/secrets/*", "grep -r x packages/bar", umpire.Allow},
		{"Read *.pem", "grep -r x certs", umpire.Deny},
		{"Read *.pem", "grep -r x certs/a", umpire.Deny},
		{"Read *.pem", "grep -r x certs/c", umpire.Allow},
		{"Read *.PEM", "grep -r x certs/a", umpire.Deny},
		{"Read *.pem", "grep -r --include='*.txt' x certs", umpire.Deny},
		{"Read **/a.go", "find packages -name '*.txt' -exec cat {} +", umpire.Allow},
		{"Read **/a.go", "find packages -type f -exec cat {} +", umpire.Deny},
		{"Edit packages/*/deep/*/locked/**", "rm -rf packages/bar", umpire.Deny},
		{"Edit packages/*/deep/*/locked/**", "rm -rf packages/*", umpire.Deny},
		{"Edit packages/*/deep/*/locked/**", "mv packages/bar x", umpire.Deny},
		{"Edit packages/*/deep/*/locked/**", "chmod -R u+w packages/bar/deep", umpire.Deny},
		{"Edit packages/*/deep/*/locked/**", "rm -rf packages/foo", umpire.Ask},
		{"Edit *.pem", "rm -r certs/a", umpire.Deny},
		{"Edit *.pem", "rm -r certs/c", umpire.Ask},
		{"Edit **/*.go", "gofmt -w packages/foo", umpire.Deny},
		{"Edit **/*.pem", "gofmt -w certs", umpire.Ask},
	} {
		tool, pattern, _ := strings.Cut(tt.rule, " ")
		rules, err := policy.New([]umpire.Rule{{
			ID: "r", Action: umpire.Deny, Tool: tool, Source: umpire.SourceUser, Match: umpire.Match{PathGlob: pattern},
		}}, policy.Options{Root: j.Bounds.Root, Home: j.Home})
		if err != nil {
			t.Fatal(err)
		}
		with := &Judge{Bounds: j.Bounds, Policy: rules, Home: j.Home}
		if d := with.decides(tt.line, true); d.Verdict != tt.want {
			t.Errorf("%s: %s: %s, want %s: %s", tt.rule, tt.line, d.Verdict, tt.want, d.Reason)
		}
	}
}

// TestFoldersTooLargeToLookThrough: a folder that is too large to search may hold files a rule covers.
func TestFoldersTooLargeToLookThrough(t *testing.T) {
	t.Parallel()
	j := project(t, nil)
	for i := range 60 {
		dir := filepath.Join(j.Bounds.Root, "many", strings.Repeat("d", i+1))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, whole := place.Below(filepath.Join(j.Bounds.Root, "many"), 59); whole {
		t.Error("60 folders are fewer than 59")
	}
	if paths, whole := place.Below(filepath.Join(j.Bounds.Root, "many"), 61); !whole || len(paths) != 60 {
		t.Errorf("%d paths, %v", len(paths), whole)
	}
}
