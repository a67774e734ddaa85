package judge

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/policy"
)

// homeFiles are the files of a home. ~/lib and ~/tokens are repositories that track the files listed in "tracked".
var homeFiles = strings.Fields(`
	notes.txt taxes/2025.csv .gitconfig .cargo/config.toml go/pkg/mod/m/a.go .cache/tool/x .config/app/state.json .app/log
	.ssh/id_rsa .config/git/credentials seen/a private/b
	lib/README.md lib/src/a.go lib/src/deep/b.go lib/notes.txt lib/mixed/a.go lib/mixed/draft.txt lib/out/x lib/.env
	lib/pkg/a.go lib/pkg/b.go clean/a.go tokens/a.go
`)

var tracked = map[string][]string{
	"lib":    {"README.md", "src/a.go", "src/deep/b.go", "mixed/a.go", "pkg/a.go", "pkg/b.go", ".env"},
	"clean":  {"a.go"},
	"tokens": {"a.go"},
}

// homeJudge returns a judge for a project beside a home with homeFiles.
func homeJudge(t *testing.T, settings policy.Settings) (find func() (*Judge, error), root, home string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	find, root = effectsJudge(t, settings)
	home = filepath.Join(filepath.Dir(root), "home")
	for _, name := range homeFiles {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for top, names := range tracked {
		for _, args := range [][]string{{"init", "-q"}, append([]string{"add", "-f", "--"}, names...)} {
			if out, err := exec.Command("git", append([]string{"-C", filepath.Join(home, top)}, args...)...).CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v %s", args, err, out)
			}
		}
	}
	url := []string{"-C", filepath.Join(home, "tokens"), "remote", "add", "origin", "https://me:token@example.org/x"}
	if out, err := exec.Command("git", url...).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for link, target := range map[string]string{"lib/out/link": "../../notes.txt", "links": "private", ".app/deep": "../taxes"} {
		if err := os.Symlink(target, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	j, err := find()
	if err != nil {
		t.Fatal(err)
	}
	j.Shown = sandbox.Sees(home, []string{root}, []string{"~/seen"})
	return find, root, home
}

// homeReads maps the verdict from autonomy medium on to lines that read in a home.
var homeReads = map[umpire.Verdict]string{
	umpire.Allow: `
		cat ~/.gitconfig | cat ~/.cargo/config.toml | grep -rn x ~/go/pkg/mod/m | ls ~/go/pkg/mod/m/*.go | cat ~/.cache/tool/x | cat ~/seen/a
		cat ~/lib/README.md | head -3 ~/lib/src/a.go | ls ~/lib | ls ~/lib/src | grep -rn x ~/lib/src | cat ~/lib/pkg/*.go
		find ~/lib/src -name '*.go' | cd ~/lib && git log | git -C ~/lib status | cd ~/lib/src && cat a.go | grep -rn x ~/clean
		wc -l ~/lib/src/deep/b.go ~/lib/README.md | cat ~/missing.txt | ls ~/.missing/sessions
		cat /opt/notes.txt | cp ~/lib/README.md copy.md | cat < ~/lib/README.md`,
	umpire.Ask: `
		cat ~/notes.txt | cat ~/taxes/2025.csv | ls ~/taxes | ls ~ | find ~ -name x | cat ~/.config/app/state.json | ls ~/.config
		tail -5 ~/.app/log | cat ~/.app/* | grep -r x ~/.app | ls ~/.app | cat ~/private/b | cat ~/links/b | ls ~/links | cat ~/*.txt
		cat ~/lib/notes.txt | cat ~/lib/out/x | cat ~/lib/out/link | grep -rn x ~/lib | grep -rn x ~/lib/mixed | cat ~/lib/mixed/*
		cat ~/lib/*.txt | cat ~/lib/.git/config | cat ~/lib/.env | ls ~/lib/out | grep -rn x ~/tokens | cat ~/.ssh/id_rsa
		cat ~/.config/git/credentials | cat ~/lib/../notes.txt | cat ~/lib/src/../../notes.txt | cat ~/.cargo/../notes.txt
		cp ~/notes.txt . | cat < ~/notes.txt | cat ~/lib/README.md ~/notes.txt | cd ~/taxes && cat 2025.csv | cd ~/taxes && ls
		cd ~/taxes; pwd | pushd ~/taxes && ls | cd ~/lib && grep -r x | cd ~/lib && grep -r x . | cd ~/lib && rg x | cd ~/lib && cat *
		cd ~/lib && find . -type f -exec cat {} + | cd ~/lib && wc -l notes.txt | cd ~ && cat notes.txt | cd ~/lib && cat mixed/*
		cat ~/.cargo/../taxes/* | ls -R ~/taxes | cat "$HOME/notes.txt" | f=~/notes.txt; cat $f | cat ~/{lib/README.md,notes.txt}`,
}

func TestReadsInHomes(t *testing.T) {
	t.Parallel()
	for _, level := range []policy.Level{policy.AutonomyMedium, policy.AutonomyHigh} {
		find, root, home := homeJudge(t, policy.Settings{Autonomy: level.Autonomy()})
		for want, list := range homeReads {
			for line := range strings.SplitSeq(strings.ReplaceAll(list, "\n", " | "), " | ") {
				if line = strings.TrimSpace(line); line == "" {
					continue
				}
				for _, written := range []string{line, strings.ReplaceAll(line, "~", home)} {
					for _, held := range []bool{true, false} {
						if d := decideLine(t, find, root, written, held); d.Verdict != want {
							t.Errorf("%s, held %t: %s\n\t%s, want %s: %s", level, held, written, d.Verdict, want, d.Reason)
						}
					}
				}
			}
		}
	}
	find, root, _ := homeJudge(t, policy.Settings{})
	if d := decideLine(t, find, root, "cat ~/lib/README.md", true); d.Verdict != umpire.Ask {
		t.Errorf("low lets it run: %s", d.Reason)
	}
}

// If the judge does not know what a trial sees, reads of a home ask unless git tracks the file.
func TestReadsInHomesWithoutView(t *testing.T) {
	t.Parallel()
	find, root, _ := homeJudge(t, policy.Settings{Autonomy: policy.AutonomyHigh.Autonomy()})
	j, _ := find()
	j.Shown = nil
	for line, want := range map[string]umpire.Verdict{"cat ~/.gitconfig": umpire.Ask, "cat ~/lib/README.md": umpire.Allow} {
		if d := decideLine(t, find, root, line, true); d.Verdict != want || policy.NeedsLook(&d) != (want == umpire.Ask) {
			t.Errorf("%s: %s, asks in a home: %t", line, d.Verdict, policy.NeedsLook(&d))
		}
	}
}

// A home that is a repository has folders of all kinds, so only tracked files count.
func TestHomeThatIsARepository(t *testing.T) {
	t.Parallel()
	find, root, home := homeJudge(t, policy.Settings{Autonomy: policy.AutonomyHigh.Autonomy()})
	for _, args := range [][]string{{"init", "-q"}, {"add", "taxes", ".app/log"}} {
		if out, err := exec.Command("git", append([]string{"-C", home}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	for line, want := range map[string]umpire.Verdict{
		"cat ~/taxes/2025.csv": umpire.Allow, "ls ~/taxes": umpire.Ask, "grep -r x ~/taxes": umpire.Ask, "cat ~/notes.txt": umpire.Ask,
	} {
		if d := decideLine(t, find, root, line, true); d.Verdict != want {
			t.Errorf("%s: %s, want %s", line, d.Verdict, want)
		}
	}
}
