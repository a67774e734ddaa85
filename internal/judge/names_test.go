package judge

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

// folderNames returns names that look like patterns, some of them random.
func folderNames() []string {
	names := []string{"[id]", "[...slug]", "[[...slug]]", "(group)", "[a-c]*", "*", "?", "{x,y}", "{x}", `a\b`, `\`, "a b", "[", "]", "!x", "~", "#", "$HOME", "-n", "[!a]", "[^a]", "[]", "**", "é[é]"}
	dice := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // it makes test data
	for range 60 {
		var name strings.Builder
		for range 1 + dice.IntN(5) {
			name.WriteByte(`[]{}*?\(),!^ab.`[dice.IntN(15)])
		}
		if strings.Trim(name.String(), ".") != "" {
			names = append(names, name.String())
		}
	}
	return names
}

// folderLines maps lines that name files in a folder F to the verdict under a rule that denies
// F/secrets/**. Q is the quoted name of the folder.
var folderLines = map[string]umpire.Verdict{
	`cat Q/secrets/a`: umpire.Deny, `cat Q/secrets/*`: umpire.Deny, `cat Q/s*/a`: umpire.Deny,
	`cd ./Q && cat secrets/a`: umpire.Deny, `cd ./Q && cat secrets/*`: umpire.Deny, `cd ./Q && cat */a`: umpire.Deny,
	`cd ./Q/secrets && cat *`: umpire.Deny, `cd ./Q/secrets && cat ./[a-c]`: umpire.Deny,
	`for f in ./Q/s*/a; do cat "$f"; done`: umpire.Deny, `grep -r x Q`: umpire.Deny,
	`cat Q/src/a`: umpire.Allow, `cat Q/src/*`: umpire.Allow, `cd ./Q && cat src/*`: umpire.Allow, `ls ./Q/*`: umpire.Allow,
	`cd ./Q && ls *`: umpire.Allow, `cd ./Q/src && cat [a-c]`: umpire.Allow, `grep -r x ./Q/src`: umpire.Allow,
	`grep -r x Q/src/*`: umpire.Allow,
}

func quote(name string) string { return "'" + name + "'" }

// TestFolderNames: a folder with a name like a pattern is judged like any other, whether it is
// the project or lies in it.
func TestFolderNames(t *testing.T) {
	t.Parallel()
	for _, name := range folderNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{name, filepath.Join("p", name)} {
				for _, inner := range []string{"secrets", "src"} {
					file := filepath.Join(base, dir, inner, "a")
					if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
						t.Skipf("the file system has no such name: %v", err)
					}
					if err := os.WriteFile(file, []byte("x\n"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			for line, want := range folderLines {
				for folder, named := range map[string]string{".": ".", name: "./" + quote(name)} {
					root := filepath.Join(base, "p")
					if folder == "." {
						root = filepath.Join(base, name)
					}
					line := strings.NewReplacer("./Q", named, "Q", named).Replace(line)
					pattern := wildcard.Escape(folder) + "/secrets/**"
					if folder == "~" {
						pattern = "[~]/secrets/**" // otherwise it would mean the home
					}
					got := decideWithin(t, root, strings.TrimPrefix(pattern, "./"), line)
					careful := want == umpire.Allow && (name == "**" || strings.Contains(name, "{") && strings.Contains(name, ","))
					if got.Verdict != want && !careful { // shells differ in the meaning of those
						t.Errorf("%s in %s: %s, want %s: %s", line, root, got.Verdict, want, got.Reason)
					}
				}
			}
		})
	}
}

// decideWithin decides a line under a rule that denies reading a pattern.
func decideWithin(t *testing.T, root, denied, line string) umpire.Decision {
	t.Helper()
	bounds, err := place.Open(root, place.Options{Root: root, Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	rule := umpire.Rule{
		ID: "secrets", Action: umpire.Deny, Tool: "Read", Source: umpire.SourceUser,
		Match: umpire.Match{PathGlob: denied},
	}
	made, err := policy.New([]umpire.Rule{rule}, policy.Options{Root: bounds.Root, Home: bounds.Home})
	if err != nil {
		t.Fatalf("%s: %v", denied, err)
	}
	find := func() (*Judge, error) { return &Judge{Bounds: bounds, Policy: made, Home: bounds.Home}, nil }
	return decideLine(t, find, root, line, false)
}
