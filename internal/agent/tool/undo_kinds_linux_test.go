package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/policy"
)

// kinds are the kinds of files at a path. A line must not run unasked if a record cannot restore its files.
var kinds = strings.Fields(`
	file empty text/in/a/folder executable readonly link linkdown linkdir dangling chain hard hardlink sparse large pipe
	folder folder/below full missing new/in/a/new/folder folder/link many hardfolder
`)

// changes are lines that change T, and O is another path.
var changes = []string{
	"sed -i s/o/0/ T", "sed -i s/nothing/x/ T", "echo x >> T", "echo x > T", "touch T", "echo x | tee T", "echo x | tee -a T", "cp O T",
	"cp -f T O", "cp -n O T", "mv O T", "mv T O", "mv T new", "mv T text", "mkdir -p T", "sed -i s/o/0/ T O", "git mv T O", "git mv T new",
	"mkdir made && mv T made", "touch T O", "sed -i s/o/0/ *", "sed -i s/o/0/ T && echo x > new",
}

// TestUndoOfEveryKind: after undo, the tree is as before, for every kind of file at the changed paths,
// whether the line runs unasked here or in another program. Two lines are undone one after the other.
func TestUndoOfEveryKind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.options.State = realDir(t)
	ran, taken, asked, fresh := 0, 0, 0, true
	for i, form := range changes {
		for k, kind := range kinds {
			if (i+k)%4 != 0 && os.Getenv("UMPIRE_TEST_ALL") == "" {
				continue
			}
			if fresh {
				b.fillKinds()
			}
			others := []string{kinds[(i+k*5+1)%len(kinds)], kinds[(i*3+k+2)%len(kinds)]}
			for n := range others {
				others[n] = strings.Replace(others[n], "pipe", "target", 1) // a write to the pipe would block forever
			}
			first := strings.NewReplacer("T", kind, "O", others[0]).Replace(form)
			second := strings.NewReplacer("T", kind, "O", others[1]).Replace(changes[(i*7+k+1)%len(changes)])
			before := b.describe()
			var calls []umpire.CallID
			for n, line := range []string{first, second} {
				started := b.decide(line, policy.AutonomyMedium)
				if started.Decision.Verdict != umpire.Allow {
					asked++
					continue
				}
				started.Call.ID = umpire.CallID(fmt.Sprint("call-", i, "-", k, "-", n))
				if (i+k+n)%2 == 0 {
					b.Run(t.Context(), started)
				} else {
					b.runElsewhere(started, line)
				}
				ran++
				if all, err := trial.Undoable(b.options.State, ""); err != nil {
					t.Fatal(err)
				} else if len(all) > len(calls) {
					calls = append(calls, started.Call.ID)
				}
			}
			fresh = !isSameTree(before, b.describe())
			for n := range calls {
				k, err := trial.Undo(t.Context(), trial.UndoSpec{State: b.options.State, ID: string(calls[len(calls)-1-n])})
				taken++
				if err != nil || len(k.Lost)+len(k.Left) > 0 {
					t.Errorf("%q, %q: undone %+v, %v", first, second, k, err)
				}
			}
			after := b.describe()
			if strings.Contains(first+second, "touch") {
				maps.DeleteFunc(before, func(_, text string) bool { return text[0] == 'd' }) // ignore folder times
				maps.DeleteFunc(after, func(_, text string) bool { return text[0] == 'd' })
			}
			if !isSameTree(before, after) {
				t.Errorf("%q, then %q, cannot be taken back:%s", first, second, differences(before, after))
			}
		}
	}
	t.Logf("figure: %d lines ran, of which %d changed something and were taken back; %d were not run", ran, taken, asked)
	if ran < 150 || taken < 80 || asked < 20 {
		t.Errorf("only %d ran, %d were taken back, and %d asked", ran, taken, asked)
	}
}

// runElsewhere runs a line like another agent, which reports the line before and after it runs.
func (b *bench) runElsewhere(started umpire.Started, line string) {
	b.t.Helper()
	spec := trial.RecordSpec{
		State: b.options.State, Roots: []string{b.root}, Later: true, Call: started.Call.ID, Session: started.Call.Session,
	}
	if spec.Paths = judge.EditedFiles(&started.Decision, spec.Roots); len(spec.Paths) > 0 {
		r, err := trial.Record(b.t.Context(), spec)
		if err != nil {
			b.t.Fatalf("%q: %v", line, err)
		}
		r.Leave()
	}
	cmd := exec.CommandContext(b.t.Context(), "bash", "-c", line)
	cmd.Dir = b.root
	_ = cmd.Run() // some fail
	if err := trial.SealCall(b.t.Context(), b.options.State, started.Call.Session, started.Call.ID); err != nil {
		b.t.Fatalf("%q: %v", line, err)
	}
}

// fillKinds makes one path of each kind.
func (b *bench) fillKinds() {
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
	at := func(name string) string { return filepath.Join(b.root, name) }
	var errs []error
	write := func(name, text string, mode fs.FileMode) {
		errs = append(errs, os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), []byte(text), mode))
	}
	link := func(target, name string) { errs = append(errs, os.Symlink(target, at(name))) }
	for _, name := range []string{"file", "text/in/a/folder", "hard", "folder/below", "full/a", "full/b/c", "full/b/d", "hardfolder/a", "target"} {
		write(name, "one\ntwo\n"+name+"\n", 0o644)
	}
	write("empty", "", 0o600)
	write("executable", "#!/bin/sh\necho\n", 0o755)
	write("readonly", "one\n", 0o444)
	for i := range 40 {
		write(fmt.Sprintf("many/%d/file", i), "one\n", 0o640)
	}
	link("file", "link")
	link("folder/below", "linkdown")
	link("folder", "linkdir")
	link("nowhere", "dangling")
	link("link", "chain")
	link("../file", "folder/link")
	link("c", "full/b/e")
	write("sparse", "", 0o644)
	write("large", "", 0o644)
	errs = append(errs, os.Mkdir(at("full/empty"), 0o700), os.Link(at("hard"), at("hardlink")), os.Link(at("hardfolder/a"), at("hardfolder/b")),
		os.Truncate(at("sparse"), 1<<20), os.Truncate(at("large"), relay.MaxRecorded+1), syscall.Mkfifo(at("pipe"), 0o600), os.Chmod(at("full/b"), 0o711))
	cmd := exec.CommandContext(b.t.Context(), "git", "init", "-q", "-b", "main", "--template=", ".")
	cmd.Dir = b.root
	errs = append(errs, cmd.Run())
	cmd = exec.CommandContext(b.t.Context(), "git", "add", "file", "full", "link", "folder", "target")
	cmd.Dir = b.root
	errs = append(errs, cmd.Run())
	old := time.Unix(1_700_000_000, 123)
	errs = append(errs, filepath.WalkDir(b.root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == ".git" {
			return fs.SkipDir
		}
		if err == nil && e.Type()&fs.ModeSymlink == 0 {
			err = os.Chtimes(path, old, old)
		}
		return err
	}))
	if err := errors.Join(errs...); err != nil {
		b.t.Fatal(err)
	}
}

// describe is the project: types, modes, times, contents, links, and which names are one file.
func (b *bench) describe() map[string]string {
	b.t.Helper()
	all, first := map[string]string{}, map[uint64]string{}
	err := filepath.WalkDir(b.root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == ".git" {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		st, name := info.Sys().(*syscall.Stat_t), strings.TrimPrefix(path, b.root)
		text := fmt.Sprint(info.Mode(), " ", info.ModTime().UnixNano())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			text, err = os.Readlink(path)
		case info.Mode().IsRegular() && info.Size() < 1<<20:
			var data []byte
			data, err = os.ReadFile(path)
			text += fmt.Sprintf(" %q", data)
		case info.Mode().IsRegular():
			text += fmt.Sprint(" ", info.Size(), " in ", st.Blocks)
		}
		if info.Mode().IsRegular() && st.Nlink > 1 {
			if first[st.Ino] == "" {
				first[st.Ino] = name
			}
			text += " is " + first[st.Ino]
		}
		all[name] = text
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func isSameTree(a, b map[string]string) bool { return differences(a, b) == "" }

func differences(before, after map[string]string) (text string) {
	for name := range before {
		if before[name] != after[name] {
			text += fmt.Sprintf("\n\t%s was %s\n\t\tis %s", name, before[name], after[name])
		}
	}
	for name := range after {
		if before[name] == "" {
			text += fmt.Sprintf("\n\t%s was made: %s", name, after[name])
		}
	}
	return text
}
