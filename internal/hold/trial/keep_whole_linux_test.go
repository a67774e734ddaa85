package trial

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/files/sample"
)

// A command runs in the sandbox and its effects are kept: the project is as if the
// command had really run, and an undo restores it.
func TestTrialKeepUndo(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"files and folders": "seq 6 >src/a; mkdir -p d/e; echo n >d/e/n; rm src/b; ln -s ../out l; ln d/e/n d/m",
		"modes": "chmod 500 src; chmod 755 closed; rm closed/f; echo g >closed/g; chmod 555 closed; rm -f none; " +
			"echo x >mine; chmod 0 mine",
		"a folder is moved": "mv src moved; mv moved/a moved/z; mv old src",
		"git":               "git add src old && git commit -qm first && git rm -q src/b && git mv src/a src/c && git commit -qm second",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tried, earnest := newBench(t), newBench(t)
			for _, b := range []*bench{tried, earnest} {
				b.bare("git init -q; mkdir src old closed; seq 5 >src/a; echo b >src/b; echo o >old/o; echo f >closed/f; " +
					"echo none >none; chmod 0 none; chmod 555 closed; umask 022")
			}
			before := listTree(t, tried.root)
			result := tried.try(line)
			earnest.bare(line)
			state := filepath.Dir(tried.state)
			kept, err := result.Layer.Keep(t.Context(), KeepSpec{State: state, Shown: &result.Effects})
			if err != nil {
				t.Fatalf("%v: %s", err, tried.listing(&result.Effects))
			}
			if name != "git" { // its commits contain times
				wantSame(t, listTree(t, tried.root), listTree(t, earnest.root))
			}
			if _, err := Undo(t.Context(), UndoSpec{State: state, ID: kept.ID}); err != nil {
				t.Fatal(err)
			}
			wantSame(t, listTree(t, tried.root), before)
			if _, err := Undo(t.Context(), UndoSpec{State: state}); !errors.Is(err, ErrNothingKept) {
				t.Error(err)
			}
		})
	}
}

func TestTrialKeepUndoAsNobody(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	asNobody(t, "^(TestTrialKeepUndo|TestClosedFolders)$")
}

// listTree lists a tree without times, like find. It reads unreadable files, too.
func listTree(t *testing.T, root string) string {
	t.Helper()
	b := &bench{T: t, root: root}
	return b.bare(`find . -path ./.git/index -o -printf '%p %y %m %U:%G %l\n' | sort; chmod 400 none mine 2>/dev/null; ` +
		`find . -type f ! -path './.git/*' -exec cksum {} + | sort; chmod 0 none mine 2>/dev/null; true`)
}

func wantSame(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
}

// A command may open its owner's closed folders, change their entries and close them
// again, or close others. The owner can also keep and undo that.
func TestClosedFolders(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"000", "300", "400", "500", "600"} {
		for name, line := range map[string]string{
			"edited":  "chmod 700 c c/d; echo 2 >c/f; echo 3 >c/d/g; echo n >c/new; chmod MODE c/d; chmod MODE c",
			"emptied": "chmod 700 c c/d; rm -r c/f c/d; chmod MODE c",
			"removed": "chmod 700 c c/d; rm -r c",
			"moved":   "chmod 700 c; mkdir e; mv c/f e/; chmod MODE c",
			"closed":  "echo 2 >o/d/g; echo 2 >o/f; rm o/h; chmod MODE o/d; chmod MODE o",
			"made":    "mkdir -p n/m; echo 1 >n/m/f; chmod MODE n/m; chmod MODE n",
			"opened":  "chmod 755 c c/d; echo 2 >>c/d/g",
		} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				line := strings.ReplaceAll(line, "MODE", mode)
				tried, earnest := newBench(t), newBench(t)
				for _, b := range []*bench{tried, earnest} {
					b.bare("mkdir -p c/d o/d; for d in c o; do echo 1 >$d/f; echo 1 >$d/h; echo 1 >$d/d/g; done; " +
						"chmod " + mode + " c/d; chmod " + mode + " c")
				}
				before := treeOf(t, tried.root)
				result, err := tried.run(line)
				if err != nil {
					t.Fatal(err)
				}
				earnest.bare(line)
				state := filepath.Dir(tried.state)
				if mayDiffer := mode != "500" && strings.Contains(line, " c"); mayDiffer && len(result.Effects.Differs) > 0 {
					// An ordinary user's trial cannot see the folder's previous entries.
					if _, err := result.Layer.Keep(t.Context(), KeepSpec{State: state, Shown: &result.Effects}); !errors.Is(err, ErrNotWhole) {
						t.Errorf("kept what differs: %v", err)
					}
					tried.wantTree(0, "refused", before, treeOf(t, tried.root), line)
					return
				}
				kept, err := result.Layer.Keep(t.Context(), KeepSpec{State: state, Shown: &result.Effects})
				if err != nil {
					t.Fatalf("%v: %s", err, tried.listing(&result.Effects))
				}
				tried.wantTree(0, "kept", treeOf(t, earnest.root), treeOf(t, tried.root), line)
				if _, err := Undo(t.Context(), UndoSpec{State: state, ID: kept.ID}); err != nil {
					t.Fatal(err)
				}
				tried.wantTree(0, "undone", before, treeOf(t, tried.root), line)
			})
		}
	}
}
