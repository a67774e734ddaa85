package judge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// folders creates folders beside a project and returns the granted one.
func folders(t *testing.T) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	granted := filepath.Join(base, "granted")
	for _, name := range []string{
		"plain/a.txt", "plain/sub/b.txt", "env/a.txt", "env/.env", "deep/a.txt", "deep/a/b/id_rsa", "pattern/a.txt", "pattern/server.key",
		"out/a.txt", "within/a.txt", "toward/a.txt", "../elsewhere/a.txt", "ring/a.txt",
	} {
		file := filepath.Join(granted, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"out/link": "../../elsewhere", "within/link": "../plain", "toward/link": "../env", "ring/link": "..",
	} {
		if err := os.Symlink(target, filepath.Join(granted, link)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	for name, config := range map[string]string{"repo": "[core]\n\tbare = false\n", "poisoned": "[core]\n\tfsmonitor = ./evil\n"} {
		dir := filepath.Join(granted, name, ".git")
		for _, sub := range []string{"objects", "refs"} {
			if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for file, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": config} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return granted
}

// below decides a call after a person granted a path pattern for the session.
func (j *Judge) below(t *testing.T, tool string, input map[string]string, pattern string) umpire.Decision {
	t.Helper()
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return Decide(func() (*Judge, error) { return j, nil }, policy.Query{
		Call: umpire.Call{ID: "c", Tool: tool, Input: data, Dir: j.Bounds.Root},
		Conditions: policy.Conditions{
			Mode: umpire.ModeDefault, Grants: []umpire.Grant{{Tool: "Read", Match: umpire.Match{PathGlob: pattern}, Scope: umpire.ScopeSession}},
		},
	}, time.Now)
}

// TestGrantedFolders covers every way of reading in every kind of folder below a granted one.
// The grant covers the files below it, but not secrets that a search meets, targets of links,
// or calls that run code.
func TestGrantedFolders(t *testing.T) {
	t.Parallel()
	const (
		anywhere = "plain env deep pattern out within toward ring repo poisoned"
		search   = "plain out within toward ring repo poisoned"
		follow   = "plain within repo poisoned"
		pattern  = "plain within toward ring repo poisoned" // a pattern does not read folders behind links
		never    = ""
	)
	granted := folders(t)
	j := project(t, map[string]string{"a.txt": ""})
	for verb, allowed := range map[string]string{
		"ls DIR": anywhere, "ls -laR DIR": anywhere, "find DIR -name '*.txt'": anywhere, "find DIR -name .env": anywhere, "cat DIR/a.txt": anywhere, "head -3 DIR/a.txt": anywhere,
		"du -sh DIR": anywhere, "test -f DIR/.env": anywhere,
		"grep -r x DIR": search, "grep -rn x DIR/": search, "rg x DIR": search, "rg -uuu x DIR": search, "cd DIR && grep -r x .": search, "tar cf - DIR": search,
		"grep -R x DIR": follow, "rg -L x DIR": follow, "find DIR -type f -exec cat {} +": follow, "find DIR -type f | xargs cat": follow, "fd . DIR -x cat": follow,
		"cat DIR/**": pattern, "for f in DIR/**; do cat $f; done": pattern,
		"cat DIR/*": pattern + " deep", "wc -l DIR/*": pattern + " deep", "cd DIR && cat *": pattern + " deep", "cat DIR/*.txt": anywhere,
		"cat DIR/link/a.txt": strings.ReplaceAll(anywhere, "out", ""),
		"git -C DIR status":  strings.ReplaceAll(anywhere, "poisoned", ""), "cd DIR && git log": strings.ReplaceAll(anywhere, "poisoned", ""),
		"cat DIR/.env": never, "cat DIR/.e*": never, "bash DIR/a.txt": never, "DIR/a.txt": never, "python3 DIR/a.txt": never, "make -C DIR": never,
		"cd DIR && npm test": never, "touch DIR/a.txt": never, "rm DIR/a.txt": never, "sed -i s/a/b/ DIR/a.txt": never, "find DIR -exec ./a.txt {} +": never,
	} {
		for dir := range strings.FieldsSeq(anywhere) {
			line := strings.ReplaceAll(verb, "DIR", filepath.Join(granted, dir))
			want := umpire.Ask
			if strings.Contains(" "+allowed+" ", " "+dir+" ") {
				want = umpire.Allow
			}
			if d := j.below(t, "Bash", map[string]string{"command": line}, granted+"/**"); d.Verdict != want {
				t.Errorf("%s in %s: %v, want %v: %s", verb, dir, d.Verdict, want, d.Reason)
			}
		}
	}
	for tool, allowed := range map[string]string{"Grep": search, "Glob": anywhere, "LS": anywhere} {
		for dir := range strings.FieldsSeq(anywhere) {
			input := map[string]string{"path": filepath.Join(granted, dir)}
			if tool != "LS" {
				input["pattern"] = "x"
			}
			want := umpire.Ask
			if strings.Contains(" "+allowed+" ", " "+dir+" ") {
				want = umpire.Allow
			}
			if d := j.below(t, tool, input, granted+"/**"); d.Verdict != want {
				t.Errorf("%s in %s: %v, want %v: %s", tool, dir, d.Verdict, want, d.Reason)
			}
		}
	}
}

// TestListingIsNotReading: permission to list a folder does not permit reading its files.
func TestListingIsNotReading(t *testing.T) {
	t.Parallel()
	granted := folders(t)
	j := project(t, nil)
	dir := filepath.Join(granted, "plain")
	for line, want := range map[string]umpire.Verdict{
		"ls DIR": umpire.Allow, "grep -r x DIR": umpire.Ask, "rg x DIR": umpire.Ask, "find DIR -exec cat {} +": umpire.Ask, "cat DIR/*": umpire.Ask,
		"tar cf - DIR": umpire.Ask, "cat DIR/a.txt": umpire.Ask, "cd DIR && grep -r x .": umpire.Ask,
	} {
		if d := j.below(t, "Bash", map[string]string{"command": strings.ReplaceAll(line, "DIR", dir)}, dir); d.Verdict != want {
			t.Errorf("%s: %v, want %v: %s", line, d.Verdict, want, d.Reason)
		}
	}
	if d := j.below(t, "Grep", map[string]string{"pattern": "x", "path": dir}, dir); d.Verdict != umpire.Ask {
		t.Errorf("Grep: %v: %s", d.Verdict, d.Reason)
	}
}
