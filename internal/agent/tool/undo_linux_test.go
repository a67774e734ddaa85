package tool

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/judge"
	bounds "github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

// writers change a file T, and S is another one.
var writers = []string{
	"ls nothing > T", "git diff > T", "echo x > T", "echo x >> T", "grep nothing S > T", "cat S > T", "sort S > T",
	"wc -l S | tee T", "echo x | tee T", "echo x | tee -a T", "cp S T", "cp -f S T", "cp -n S T", "mv S T", "mv -f S T",
	"sed -i s/o/0/ T", "sed -i -e 1d T", "sed -i.bak 1d T", "sed -i 1d T S", "truncate -s 0 T", "gofmt -w T", "gofmt -w .",
	"touch T", "git mv -f S T", "git checkout -- T", "git restore T", "git checkout other -- T", "install S T",
	"dd if=S of=T", "printf %s x > T", "date > T", ": > T", "> T", "rm T", "head -c 0 S > T", "awk 1 S > T",
	"perl -pi -e s/o/0/ T", "cp S T; mv T U", "mv T U", "mv sub other", "tee T < S", "tee T S < main.go",
	"cat <<E > T\nx\nE", "sort -o T S", "ls *.txt >| T", "ls 2> T", "ls &> T", "exec > T",
	"mkdir -p T/x", "sed -i s/x/y/ */[a-c].txt", "sed -i s/x/y/ [!z].txt", "sed -i s/e/3/ ??xt a.t?t", "cp S T && rm S", "mv sub other; echo x > T",
}

// written are the values of T.
var written = []string{"a.txt", "sub/b.txt", "sub", "*.txt", "s*/b.txt", "main.go", "'with a blank.txt'", "./sub/../a.txt", "new.txt"}

// enclosed are ways to write a line that do not change its effect.
var enclosed = []string{"X", "X && ls", "(X)", "for i in 1 2; do X; done", "ls | cat; X", "cd sub/.. && X", "if true; then X; fi"}

// A line that runs unasked never destroys a person's work: undo restores it.
func TestEditsOfAutonomyAreUndoable(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	b := newBench(t)
	b.options.State = realDir(t)
	template := realDir(t)
	b.fill(template)
	ran, lost := 0, 0
	for i, writer := range writers {
		for k, target := range written {
			line := strings.NewReplacer("T", target, "S", "s.txt", "U", "u.txt").Replace(writer)
			line = strings.ReplaceAll(enclosed[(i+k)%len(enclosed)], "X", line)
			level := []policy.Level{policy.AutonomyMedium, policy.AutonomyHigh}[(i+k)%2]
			b.reset(template)
			started := b.decide(line, level)
			if started.Decision.Verdict != umpire.Allow {
				continue
			}
			before := b.personal()
			started.Call.ID = umpire.CallID(strings.Join([]string{"call", writer, target}, " "))
			b.Run(t.Context(), started)
			ran++
			if holds(b.personal(), before) {
				continue
			}
			lost++
			_, err := trial.Undo(t.Context(), trial.UndoSpec{State: b.options.State, ID: string(started.Call.ID)})
			if after := b.personal(); err != nil || !holds(after, before) {
				t.Errorf("at %s %q runs and cannot be taken back: %v\nbefore %q\nafter  %q", level, line, err, before, after)
			}
		}
	}
	t.Logf("figure: %d lines ran unasked, %d of them changed what a person wrote, and all were taken back", ran, lost)
	if ran < 50 || lost < 20 {
		t.Errorf("only %d lines ran, and %d changed something", ran, lost)
	}
}

// holds reports whether all files exist with their old content.
func holds(now, before map[string]string) bool {
	for name, content := range before {
		if now[name] != content {
			return false
		}
	}
	return true
}

// fill makes a repository in which files are committed, changed and new.
func (b *bench) fill(dir string) {
	b.t.Helper()
	for name, content := range map[string]string{
		"a.txt": "one\ntwo\nthree\n", "s.txt": "source\n", "sub/b.txt": "four\nfive\n", "with a blank.txt": "six\n",
		"main.go": "package main\n\nfunc  main( ) { }\n", "u.txt": "seven\n",
	} {
		path := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644))
		if err != nil {
			b.t.Fatal(err)
		}
	}
	script := "git init -q -b main --template= . && git add a.txt sub s.txt && git -c user.name=a -c user.email=a@b commit -qm x && " +
		"git branch other && echo mine >>a.txt && echo mine >>sub/b.txt"
	cmd := exec.CommandContext(b.t.Context(), "bash", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Skipf("git: %v: %s", err, out)
	}
}

func (b *bench) reset(template string) {
	b.t.Helper()
	names, err := filepath.Glob(filepath.Join(b.root, "*"))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, name := range append(names, filepath.Join(b.root, ".git")) {
		if err := os.RemoveAll(name); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := os.CopyFS(b.root, os.DirFS(template)); err != nil {
		b.t.Fatal(err)
	}
}

// personal are the files of the project with their contents.
func (b *bench) personal() map[string]string {
	b.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(b.root, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && e.Type().IsRegular() {
			var data []byte
			data, err = os.ReadFile(path)
			all[strings.TrimPrefix(path, b.root+"/")] = string(data)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

// decide decides a command line at a level of autonomy, with a sandbox.
func (b *bench) decide(line string, level policy.Level) umpire.Started {
	b.t.Helper()
	input, err := json.Marshal(fields{"command": line})
	if err != nil {
		b.t.Fatal(err)
	}
	at, err := bounds.Open(b.root, bounds.Options{Home: b.home})
	if err != nil {
		b.t.Fatal(err)
	}
	settings := policy.Settings{Autonomy: level.Autonomy()}
	made, err := policy.New(nil, policy.Options{Settings: settings, Root: at.Root, Home: at.Home})
	if err != nil {
		b.t.Fatal(err)
	}
	find := func() (*judge.Judge, error) { return &judge.Judge{Bounds: at, Policy: made, Home: at.Home}, nil }
	call := umpire.Call{Tool: "Bash", Input: input, Dir: b.root, Session: "s", Batch: "b"}
	d := judge.Decide(find, policy.Query{Call: call, Conditions: policy.Conditions{
		Mode: umpire.ModeDefault, Sandbox: policy.Sandbox{Held: true}, NoHooks: true,
	}}, time.Now)
	d.Obligations.Sandbox = umpire.SandboxFullAccess
	return umpire.Started{Go: true, Call: call, Decision: d, Attempt: 1}
}

// An undo also removes the files that a line made, and touches no others.
func TestUndoOfCommand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.options.State = realDir(t)
	template := realDir(t)
	b.fill(template)
	b.reset(template)
	before := b.personal()
	started := b.decide("cp s.txt new.txt && sed -i s/one/1/ a.txt", policy.AutonomyMedium)
	started.Call.ID = "toolu_1"
	b.Run(t.Context(), started)
	b.file("other.txt", "of somebody else")
	k, err := trial.Undo(t.Context(), trial.UndoSpec{State: b.options.State, ID: "toolu_1"})
	if err != nil {
		t.Fatal(err)
	}
	before["other.txt"] = "of somebody else"
	if after := b.personal(); !maps.Equal(after, before) {
		t.Errorf("it is %q", slices.Sorted(maps.Keys(after)))
	}
	if !strings.HasPrefix(k.Command, "cp s.txt") || len(k.Changes) != 2 {
		t.Errorf("it took back %q: %v", k.Command, k.Changes)
	}
}

// Undo restores a moved link.
func TestUndoOfMovedLink(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.options.State = realDir(t)
	b.file("a.txt", "one\n")
	if err := os.Symlink("a.txt", filepath.Join(b.root, "link")); err != nil {
		t.Fatal(err)
	}
	started := b.decide("mv link new", policy.AutonomyMedium)
	started.Call.ID = "toolu_1"
	b.Run(t.Context(), started)
	_, err := trial.Undo(t.Context(), trial.UndoSpec{State: b.options.State, ID: "toolu_1"})
	if to, linkErr := os.Readlink(filepath.Join(b.root, "link")); err != nil || linkErr != nil || to != "a.txt" {
		t.Errorf("after the undo (%v) the link leads to %q, %v", err, to, linkErr)
	}
}
