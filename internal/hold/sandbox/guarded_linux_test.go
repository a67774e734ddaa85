package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// depths are folders below a workspace in which guarded places are tried.
var depths = []string{"", "sub", "a/b/c/d/e", "node_modules/x"}

// examples returns concrete guarded places below a workspace's folder. Those for *.git
// are made in a bare repository.
func examples(t testing.TB) (all []sensitive.Place) {
	t.Helper()
	for place := range sensitive.Places() {
		if !strings.HasPrefix(place.Path, "~") && !strings.HasPrefix(place.Path, "/") {
			all = append(all, place)
		}
	}
	return all
}

// TestGuardedPlacesCannotBeChanged checks that a command cannot change or replace
// existing guarded places, or reach them under another name, at any depth.
func TestGuardedPlacesCannotBeChanged(t *testing.T) {
	t.Parallel()
	for _, depth := range sample.Of(t, 1, depths) {
		t.Run(depth, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.bare("mkdir -p ./" + depth + " && cd ./" + depth + " && (test -e .git || git init -q .) && git init -q --bare a.git && mkdir -p .git/modules/a .git/worktrees && cp -r .git/modules/../objects .git/HEAD .git/refs .git/modules/a; mkdir .git/worktrees/a && cp .git/HEAD .git/worktrees/a")
			var files []string
			for _, place := range examples(t) {
				path := filepath.Join(b.root, depth, strings.ReplaceAll(place.Example(), "modules/a/b/", "modules/a/"))
				if isPresent(path) && place.Path != ".git/config" {
					continue
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if !isPresent(path) {
					if err := os.WriteFile(path, []byte("mine\n"), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				files = append(files, path)
			}
			was := map[string]string{}
			var script strings.Builder
			for _, path := range files {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				was[path] = string(data)
				for _, attack := range []string{
					"echo evil >>%[1]s", "rm -f %[1]s && echo evil >%[1]s", "echo evil >f && mv -f f %[1]s",
					"ln -f %[1]s f && echo evil >>f", "d=$(dirname %[1]s); mv $d $d.x && mkdir -p $d && echo evil >%[1]s",
					"chmod 777 %[1]s", "sed -i s/mine/evil/ %[1]s",
				} {
					fmt.Fprintf(&script, "( "+attack+" ) 2>/dev/null\n", path)
				}
			}
			// As a file, because an argument is limited to 128 KiB.
			if err := os.WriteFile(filepath.Join(b.root, "attacks.sh"), []byte(script.String()+"true"), 0o644); err != nil {
				t.Fatal(err)
			}
			out, notes, err := b.noted(writing, "sh ./attacks.sh")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for path, content := range was {
				if data, err := os.ReadFile(path); err != nil || string(data) != content {
					t.Errorf("%s holds %q, %v, want %q; notes %q", path, data, err, content, notes)
				}
			}
			if len(was) < 80 {
				t.Errorf("only %d places were tried", len(was))
			}
		})
	}
}

// TestGuardedPlacesCannotBeMade checks that a new guarded place is refused, or set aside
// and reported when the command has ended.
func TestGuardedPlacesCannotBeMade(t *testing.T) {
	t.Parallel()
	for _, depth := range sample.Of(t, 2, depths) {
		t.Run(depth, func(t *testing.T) {
			t.Parallel()
			for _, place := range sample.Of(t, 8, examples(t)) {
				if strings.HasPrefix(place.Path, ".git") && !strings.HasPrefix(place.Path, ".github") || strings.HasPrefix(place.Path, "*.git") {
					continue // repositories are judged as a whole: TestRepositoriesThatWereMade
				}
				name := place.Example()
				b := newBench(t)
				at := "./" + depth
				line := fmt.Sprintf("mkdir -p %[1]s/%[2]s && echo evil >%[1]s/%[3]s; true", at, filepath.Dir(name), name)
				out, notes, err := b.noted(writing, line)
				if err != nil {
					t.Fatalf("%s: %v\n%s", line, err, out)
				}
				b.lacks(filepath.Join(b.root, depth, name))
				if !strings.Contains(out, "cannot create") && len(notes) == 0 { // refused by the shell's own words, or renamed
					t.Errorf("%s: %q, %q, want it to be said", name, out, notes)
				}
			}
		})
	}
}

// TestUnfinishedOperations covers git continuing an earlier command's operation.
func TestUnfinishedOperations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const plant = "mkdir -p .git/rebase-merge .git/sequencer && echo 'exec touch ../o/ran' >.git/rebase-merge/git-rebase-todo && touch .git/BISECT_LOG"
	_, notes, err := b.noted(writing, plant)
	if err != nil || len(notes) != 3 {
		t.Errorf("%q, %v, want three notes", notes, err)
	}
	b.lacks(filepath.Join(b.root, ".git/rebase-merge"))

	// The command line itself may leave the state of an operation, and continue it.
	b.bare("rm -rf .git/*.untrusted* && echo 1 >f && git add f && git commit -qm 1 && git checkout -qb side && echo 2 >f && git commit -qam 2 && git checkout -q main && echo 3 >f && git commit -qam 3")
	limits := writing
	limits.Git = []string{"rebase"}
	if _, notes, err := b.noted(limits, "git rebase side"); err == nil || len(notes) > 0 {
		t.Errorf("%v, %q, want a conflict and no notes", err, notes)
	}
	b.fails(writing, "echo 'exec touch ../o/ran' >>.git/rebase-merge/git-rebase-todo", "Read-only")
	b.works(limits, "echo 4 >f && git add f && GIT_EDITOR=true git rebase --continue")
	b.lacks(filepath.Join(b.root, ".git/rebase-merge"))
}

// TestManyFolders checks that a command cannot prevent the inspection by making many
// folders, and that it does not start if there are too many already.
func TestManyFolders(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	b := newBench(t)
	out, notes, err := b.noted(writing, "seq 1 60000 | sed 's,^,d/,' | xargs mkdir -p && mkdir -p d/59999/.vscode && echo x >d/59999/.vscode/tasks.json")
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "d/59999/.vscode/tasks.json") {
		t.Errorf("%q, %v, want a note\n%s", notes, err, out)
	}
	var s surveyor
	if _, err := s.survey([]string{b.root}, nil, 100); err == nil || !strings.Contains(err.Error(), "over 100 folders") {
		t.Errorf("%v, want it to be too much", err)
	}
}

// TestSettingAsideIsNotPrevented covers taken names and read-only folders.
func TestSettingAsideIsNotPrevented(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, notes, err := b.noted(writing, "mkdir -p s/.npmrc.untrusted/x && touch s/.npmrc.untrusted.2 s/.npmrc && chmod 555 s")
	if err != nil || len(notes) != 1 || !strings.HasSuffix(notes[0], ".npmrc.untrusted.3 now") {
		t.Errorf("%q, %v", notes, err)
	}
	b.lacks(filepath.Join(b.root, "s/.npmrc"))
	b.works(writing, "mkdir -m 1500 .kiro; chmod 700 .kiro && mkdir .kiro/hooks && touch .kiro/hooks/x && chmod 1500 .kiro/hooks")
	b.lacks(filepath.Join(b.root, ".kiro/hooks"))
	b.bare("chmod 755 s")

	// A file that existed under another name is new under this one.
	b.bare("mkdir -p docs/b && echo '{}' >docs/b/tasks.json")
	if _, notes, err := b.noted(writing, "mv docs/b docs/.vscode"); err != nil || len(notes) != 1 {
		t.Errorf("%q, %v", notes, err)
	}
	b.lacks(filepath.Join(b.root, "docs/.vscode/tasks.json"))
}

// TestBackgroundCommandsAreLookedAt checks that they are inspected before the next
// command starts, and that paths approved meanwhile stay.
func TestBackgroundCommandsAreLookedAt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	server := startIn(b, "touch .npmrc; echo up; read line; touch .yarnrc")
	b.Approve(filepath.Join(b.root, "bunfig.toml"))
	b.bare("touch bunfig.toml")
	out, err := b.run(Limits{}, "true")
	if err != nil || !strings.Contains(out, ".npmrc.untrusted now") {
		t.Errorf("%q, %v, want a note before the next command", out, err)
	}
	b.lacks(filepath.Join(b.root, ".npmrc"))
	notes := server.end()
	if len(notes) != 1 || !strings.Contains(notes[0], ".yarnrc") || !isPresent(filepath.Join(b.root, "bunfig.toml")) {
		t.Errorf("%q, want what it made last, and the approved file to stay", notes)
	}
}
