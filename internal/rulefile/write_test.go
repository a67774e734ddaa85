package rulefile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

func npm(words string) umpire.Rule {
	return umpire.Rule{Action: umpire.Allow, Tool: "Bash", Match: umpire.Match{CommandPrefix: "npm " + words}}
}

func contentOf(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAddMakesFile(t *testing.T) {
	t.Parallel()
	w := Writer{Check: testCheck}
	l := Layer{Source: umpire.SourceUser, Path: filepath.Join(t.TempDir(), "home", fileName)}
	r := npm("test")
	r.ID, r.ExpiresAt = "tests & more", time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	id, err := w.Add(l, r)
	if err != nil || id != r.ID {
		t.Fatal(id, err)
	}
	want := `{
  "version": 1,
  "rules": [
    {
      "id": "tests & more",
      "action": "allow",
      "tool": "Bash",
      "match": {
        "commandPrefix": "npm test"
      },
      "expires_at": "2027-01-01T00:00:00Z"
    }
  ]
}
`
	if diff := cmp.Diff(want, contentOf(t, l.Path)); diff != "" {
		t.Errorf("M-150 M-144 M-203 N-42:\n%s", diff)
	}
	for path, mode := range map[string]os.FileMode{l.Path: 0o600, filepath.Dir(l.Path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, want %v", path, info.Mode().Perm(), mode)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(l.Path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := w.Remove(l, id); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(emptyFile, contentOf(t, l.Path)); diff != "" {
		t.Errorf("M-145:\n%s", diff)
	}
	if err := w.Remove(l, id); !errors.Is(err, ErrNoRule) {
		t.Errorf("removed twice: %v", err)
	}
}

// Adding and removing a rule restores every byte, with any layout.
func TestAddRemoveKeepsEverything(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"comments":       "// top\n{\n  \"version\": 1, // one\n  /* the list */ \"rules\": [\n    // first\n    " + denyLocks + " // why\n    // last word\n  ],\n  \"own\": {\"x\": [1,2,]}, // kept\n}\n// end }\n",
		"trailing comma": "{\"version\": 1, \"rules\": [\n\t" + denyLocks + ", // why\n\t" + askFetch + ", /* b */\n\t// c\n\t],\n}",
		"windows":        "{\r\n  \"version\": 1,\r\n  \"rules\": [\r\n    " + denyLocks + " // why\r\n  ]\r\n}\r\n",
		"mark":           "\xef\xbb\xbf{\"version\": 1, \"rules\": [\n" + denyLocks + "\n]}",
		"tight":          `{"version":1,"rules":[],"hooks":{"PreToolUse":[]}}`,
		"inner comment":  "{\"version\": 1, \"rules\": [\n    " + denyLocks + " /* a */ , /* b */\n    " + askFetch + "\n  ]}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := Writer{Check: testCheck}, userLayer(t, text)
			id, err := w.Add(l, npm("run build"))
			if err != nil {
				t.Fatal(err)
			}
			added := contentOf(t, l.Path)
			doc, problem := parseFile(l, []byte(added), testOptions())
			if problem != nil || doc.rules[len(doc.rules)-1].Match.CommandPrefix != "npm run build" {
				t.Fatalf("added: %v\n%s", problem, added)
			}
			if err := w.Remove(l, id); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(text, contentOf(t, l.Path)); diff != "" {
				t.Errorf("after adding\n%s\nand removing:\n%s", added, diff)
			}
		})
	}
}

// Every rule can be taken out of every place without breaking the rest.
func TestRemoveAnywhere(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{\"version\": 1, \"rules\": [ // a\n" + denyLocks + ", // b\n // c\n" + askFetch + " // d\n, // e\n" + allowTests + "] // f\n}",
		"{\"version\": 1, \"rules\": [/* a */ " + denyLocks + " /* b */, " + askFetch + ", // e\n" + allowTests + ",\n]}",
		"{\"version\": 1, \"rules\": [" + denyLocks + ",// x\n" + askFetch + "," + allowTests + "// y\n]}",
	} {
		for _, order := range [][]umpire.RuleID{{"locks", "fetch", "tests"}, {"tests", "fetch", "locks"}, {"fetch", "locks", "tests"}, {"fetch", "tests", "locks"}} {
			w, l := Writer{}, userLayer(t, text)
			for i, id := range order {
				before := contentOf(t, l.Path)
				if err := w.Remove(l, id); err != nil {
					t.Fatalf("%v\n%s", err, before)
				}
				doc, problem := parseFile(l, []byte(contentOf(t, l.Path)), testOptions())
				if problem != nil || len(doc.rules) != len(order)-1-i {
					t.Fatalf("removed %s: %v\n%s", id, problem, contentOf(t, l.Path))
				}
				if strings.Count(before, "//") != strings.Count(contentOf(t, l.Path), "//") {
					t.Errorf("removing %s lost a comment\n%s\n%s", id, before, contentOf(t, l.Path))
				}
			}
		}
	}
}

func TestAddWithoutList(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"version": 1}`, "{\n  \"version\": 1, // x\n}", "{ // a\n \"hooks\": {}, \"version\": 1 // b\n}"} {
		l := userLayer(t, text)
		if _, err := (Writer{Check: testCheck}).Add(l, npm("test")); err != nil {
			t.Fatal(err)
		}
		if set := Load([]Layer{l}, nil, testOptions()); len(set.Rules) != 1 {
			t.Errorf("%s became\n%s", text, contentOf(t, l.Path))
		}
	}
}

func TestAddIdentifiers(t *testing.T) {
	t.Parallel()
	w, l := Writer{Check: testCheck}, userLayer(t, rulesFile(allowTests))
	other := npm("run")
	other.ID = "tests"
	if id, err := w.Add(l, other); err != nil || id != "tests-2" {
		t.Errorf("taken id: %q, %v", id, err)
	}
	if id, err := w.Add(l, npm("test")); err != nil || id != "tests" {
		t.Errorf("a rule that is there: %q, %v", id, err)
	}
	if n := len(Load([]Layer{l}, nil, testOptions()).Rules); n != 2 {
		t.Errorf("%d rules, want 2", n)
	}
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	broken := userLayer(t, `{"version": 1, "rules": [`)
	foreign := userLayer(t, "always_allow: []")
	foreign.Format = FormatClaudeYAML
	managed := userLayer(t, emptyFile)
	managed.Source = umpire.SourceManaged
	bad := npm("bad")
	outside := Layer{Source: umpire.SourceProject, Root: t.TempDir(), Path: broken.Path}
	for name, c := range map[string]struct {
		layer Layer
		rule  umpire.Rule
	}{
		"broken file": {broken, npm("x")}, "other format": {foreign, npm("x")}, "managed": {managed, npm("x")},
		"faulty rule": {userLayer(t, emptyFile), bad}, "project file outside": {outside, npm("x")},
	} {
		before := contentOf(t, c.layer.Path)
		if id, err := (Writer{Check: testCheck}).Add(c.layer, c.rule); err == nil {
			t.Errorf("%s: added as %q", name, id)
		}
		if contentOf(t, c.layer.Path) != before {
			t.Errorf("%s: the file has changed", name)
		}
	}
	if _, err := (Writer{}).Add(userLayer(t, emptyFile), npm("x")); err == nil {
		t.Error("the zero writer adds a rule that allows")
	}
}

func TestWriteRefusesLinks(t *testing.T) {
	t.Parallel()
	target := userLayer(t, emptyFile)
	link := Layer{Source: umpire.SourceUser, Path: filepath.Join(t.TempDir(), fileName)}
	root := t.TempDir()
	folder := Layer{Source: umpire.SourceProject, Path: filepath.Join(root, ".umpire", fileName), Root: root}
	if err := errors.Join(os.Symlink(target.Path, link.Path), os.Symlink(filepath.Dir(target.Path), filepath.Join(root, ".umpire"))); err != nil {
		t.Fatal(err)
	}
	for _, l := range []Layer{link, folder} {
		if _, err := (Writer{Check: testCheck}).Add(l, npm("test")); !errors.Is(err, errLink) {
			t.Errorf("%s: %v", l.Path, err)
		}
	}
	if contentOf(t, target.Path) != emptyFile {
		t.Error("written through a link")
	}
}

// Umpire's own changes to a trusted or a new project file count at once; a file that came with a
// clone stays inactive.
func TestWriteKeepsTrust(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		trust   bool
		want    int
	}{
		"new file":       {"", false, 1},
		"trusted file":   {rulesFile(allowTests), true, 2},
		"untrusted file": {rulesFile(allowTests), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, trust := project(t, c.content)
			o := testOptions()
			o.Trust = trust
			if c.trust {
				if err := trust.Grant(l.Root, l.Path, hashOf([]byte(c.content))); err != nil {
					t.Fatal(err)
				}
			}
			w := Writer{Check: testCheck, Trust: trust}
			id, err := w.Add(l, npm("run build"))
			if err != nil {
				t.Fatal(err)
			}
			if set := Load([]Layer{l}, nil, o); len(set.Rules) != c.want {
				t.Errorf("rules %v, want %d", brief(set.Rules), c.want)
			}
			if c.trust {
				if known, _ := trust.trusted(l.Root, l.Path, hashOf([]byte(c.content))); known {
					t.Error("the old content is still trusted")
				}
			}
			if err := w.Remove(l, id); err != nil {
				t.Fatal(err)
			}
			if set := Load([]Layer{l}, nil, o); len(set.Rules) != max(c.want-1, 0) {
				t.Errorf("after removing: %v", brief(set.Rules))
			}
		})
	}
}

// adderEnv makes the test binary add rules to a file instead of testing.
const adderEnv = "RULEFILE_TEST_ADD"

func TestMain(m *testing.M) {
	if path := os.Getenv(adderEnv); path != "" {
		if err := addMany(path, os.Getenv(adderEnv+"_NAME")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const addCount = 10

func addMany(path, name string) error {
	l := Layer{Source: umpire.SourceUser, Path: path}
	for i := range addCount {
		if _, err := (Writer{Check: testCheck}).Add(l, npm(fmt.Sprintf("%s-%d", name, i))); err != nil {
			return err
		}
	}
	return nil
}

func TestConcurrentAdd(t *testing.T) {
	t.Parallel()
	l := Layer{Source: umpire.SourceUser, Path: filepath.Join(t.TempDir(), "home", fileName)}
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			if err := addMany(l.Path, fmt.Sprint("goroutine-", g)); err != nil {
				t.Error(err)
			}
		})
	}
	for p := range 2 {
		group.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), adderEnv+"="+l.Path, adderEnv+"_NAME=process-"+fmt.Sprint(p))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	group.Wait()
	set := Load([]Layer{l}, nil, testOptions())
	ids := map[umpire.RuleID]bool{}
	for _, r := range set.Rules {
		ids[r.ID] = true
	}
	if len(set.Rules) != 10*addCount || len(ids) != len(set.Rules) {
		t.Errorf("%d rules with %d ids, want %d", len(set.Rules), len(ids), 10*addCount)
	}
}
