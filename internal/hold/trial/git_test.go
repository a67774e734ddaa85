package trial

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// A pair is a project and a copy of it in which commands run.
type pair struct{ before, after string }

func newPair(tb testing.TB) *pair {
	tb.Helper()
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	p := &pair{filepath.Join(base, "project"), filepath.Join(base, "copy")}
	if err := os.Mkdir(p.before, 0o700); err != nil {
		tb.Fatal(err)
	}
	script(tb, p.before, `git init -q -b main; echo one > a; echo b > b; git add .; git commit -qm one
echo two > a; git commit -qam two; git switch -qc topic; echo t > t; git add t; git commit -qm topic; git switch -q main
git update-ref refs/heads/lonely $(git commit-tree -m lonely HEAD^{tree})
git tag v1; echo three > a; git stash -q; git init -q --bare remote; echo remote > .git/info/exclude; git remote add origin ./remote; git push -q origin main`)
	return p
}

func script(tb testing.TB, dir, text string) string {
	tb.Helper()
	out, err := run(dir, text)
	if err != nil {
		tb.Fatalf("%s: %v\n%s", text, err, out)
	}
	return out
}

func run(dir, text string) (string, error) {
	cmd := exec.Command("sh", "-ec", text)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_EDITOR=true")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// does runs commands in the copy and returns the findings about their changes.
func (p *pair) does(tb testing.TB, text string) []umpire.TrialAttempt {
	tb.Helper()
	if err := os.RemoveAll(p.after); err != nil {
		tb.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", p.before, p.after).CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	_, _ = run(p.after, text) // a failed command may have changed something too
	return slices.DeleteFunc(inspectGit(p.changes(tb)), func(a umpire.TrialAttempt) bool { return a.Kind == umpire.AttemptPlain })
}

// changes compares both trees.
func (p *pair) changes(tb testing.TB) (all []gitdir.Change) {
	tb.Helper()
	before, after := listGitTree(tb, p.before), listGitTree(tb, p.after)
	for name, info := range before {
		c := gitdir.Change{Path: filepath.Join(p.before, name), Before: info.Mode()}
		if now, there := after[name]; !there {
			c.Gone = true
		} else if c.After = now.Mode(); same(tb, p, name, info, now) {
			if c.Before == c.After {
				continue
			}
			c.Same = true
		}
		c.File = filepath.Join(p.after, name)
		all = append(all, c)
	}
	for name, info := range after {
		if before[name] == nil {
			all = append(all, gitdir.Change{
				Path: filepath.Join(p.before, name), After: info.Mode(), New: true, File: filepath.Join(p.after, name),
			})
		}
	}
	return all
}

func same(tb testing.TB, p *pair, name string, before, after fs.FileInfo) bool {
	tb.Helper()
	if before.Mode().Type() != after.Mode().Type() {
		return false
	}
	if !before.Mode().IsRegular() {
		was, _ := os.Readlink(filepath.Join(p.before, name)) // "" for a folder
		is, _ := os.Readlink(filepath.Join(p.after, name))
		return was == is
	}
	was, err := os.ReadFile(filepath.Join(p.before, name))
	if err != nil {
		tb.Fatal(err)
	}
	is, err := os.ReadFile(filepath.Join(p.after, name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(was) == string(is)
}

func listGitTree(tb testing.TB, root string) map[string]fs.FileInfo {
	tb.Helper()
	found := map[string]fs.FileInfo{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := e.Info()
		found[strings.TrimPrefix(path, root+"/")] = info
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// recordingCommands are commands that lose nothing, according to git itself.
var recordingCommands = []string{
	"true", "git add a", "echo x >> a; git commit -qam x", "git switch -q topic", "git switch -qc new",
	"git checkout -q v1", "git merge -q topic", "git merge -q --no-ff -m m topic", "git stash -q",
	"echo x > c; git stash -qu", "git tag v2", "git tag -am v3 v3", "git branch next", "git commit -q --amend -m y",
	"git reset -q --hard HEAD~1", "git reset -q HEAD~1", "git reset -q --soft HEAD~1", "git rebase -q HEAD~1 topic",
	"git cherry-pick topic", "git revert --no-edit HEAD", "git restore b", "rm b; git restore b", "git clean -qfd",
	"git stash apply -q", "git fetch -q", "git pull -q --ff-only origin main", "git merge -q topic; git branch -d topic", "git branch -f next topic; git branch -D topic",
	"git branch -m topic other", "git pack-refs --all", "git repack -qad", "git gc -q", "git gc -q --auto",
	"git update-ref refs/heads/x HEAD", "git branch -f topic HEAD~1", "git rm -q b", "git mv b c", "git notes add -m x",
	"git symbolic-ref HEAD refs/heads/main", "git status", "git write-tree", "git switch -q -", "git switch -q main",
	"echo x > n; git add -N n", "git commit -q --allow-empty -m e", "git checkout -q --detach", "touch -d yesterday .git/index",
}

// losing are changes that lose commits, hide something, or are made by hand.
var losing = []string{
	"rm -rf .git/objects", "git update-ref -d refs/heads/lonely", "git branch -D lonely", "git stash drop -q", "git branch -D topic",
	"git update-ref -d refs/heads/topic", "git tag -d v1",
	"git stash pop -q", "git stash clear", "git reflog expire --expire=now --all",
	"git reflog expire --expire=now --all; git gc -q --prune=now",
	"rm -rf .git/logs", "git rev-parse HEAD~1 > .git/refs/heads/main", "git rev-parse HEAD > .git/HEAD",
	"echo 'ref: refs/heads/topic' > .git/HEAD", "echo x > .git/index", "rm .git/index", "rm .git/HEAD",
	"git update-index --assume-unchanged a", "git update-index --skip-worktree a", "echo a > .git/info/exclude",
	"mkdir -p .git/info; git rev-parse HEAD > .git/info/grafts", "git rev-parse HEAD > .git/shallow",
	"echo /tmp > .git/objects/info/alternates", "echo x > .git/ORIG_HEAD", "echo x > .git/refs/heads/x",
	"git rev-parse HEAD > .git/refs/heads/x", "echo x > .git/MERGE_HEAD", "git rev-parse HEAD~1 > .git/refs/tags/v1",
	"git rev-parse HEAD~1 > .git/refs/stash", "git pack-refs --all; echo x > .git/packed-refs",
	"git pack-refs --all; sed -i /lonely/d .git/packed-refs", "f=$(find .git/objects -type f | head -1); rm -f $f; echo x > $f",
	"find .git/objects -type f | head -1 | xargs rm -f", "ln -s .. .git/refs/x", "echo x > .git/unknown",
	"git repack -qad; rm -f .git/objects/pack/*.idx", "git repack -qad; rm -f .git/objects/pack/*.pack",
	"mkdir -p .git/objects/aa; echo x > .git/objects/aa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "mkdir .git/modules; ln -s ../../b .git/modules/s",
	"echo x > .git/info/sparse-checkout", "echo x > .git/refs/heads/main.lock", "mv .git/refs/heads/lonely .git/refs/heads/l.x",
	"cp .git/refs/heads/lonely .git/refs/heads/main", "git tag -f v1 topic", "git tag -f v1 lonely",
}

func TestRecordingIsQuiet(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for _, text := range recordingCommands {
		if found := p.does(t, text); len(found) > 0 {
			t.Errorf("%s: %v", text, found)
		}
	}
}

func TestLosingIsFound(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for _, text := range losing {
		if found := p.does(t, text); len(found) == 0 {
			t.Errorf("%s: nothing is found", text)
		}
	}
}

// TestReachableStaysReachable runs random sequences of commands. After each one without
// findings it asks git whether a commit was lost.
func TestReachableStaysReachable(t *testing.T) {
	t.Parallel()
	commits := func(dir string) []string {
		return strings.Fields(script(t, dir, "git rev-list --all --reflog; git rev-parse HEAD"))
	}
	quiet, lost := 0, 0
	for seed := range uint64(6) {
		dice, p := rand.New(rand.NewPCG(seed, 1)), newPair(t) //nolint:gosec // it makes test data
		for range 12 {
			text := append(slices.Clone(recordingCommands), losing...)[dice.IntN(len(recordingCommands)+len(losing))]
			if len(p.does(t, text)) > 0 {
				lost++
				continue
			}
			quiet++
			now := commits(p.after)
			for _, id := range commits(p.before) {
				if !slices.Contains(now, id) {
					t.Fatalf("seed %d: %s: %s cannot be reached any more", seed, text, id)
				}
			}
			script(t, p.after, "git fsck --connectivity-only")
			if err := os.RemoveAll(p.before); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(p.after, p.before); err != nil {
				t.Fatal(err)
			}
		}
	}
	if quiet < 10 || lost < 10 {
		t.Errorf("%d quiet, %d found", quiet, lost)
	}
}

// TestNewRepositoriesAreFound: a repository that could run programs is found, whichever way it was made.
func TestNewRepositoriesAreFound(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	const evil = "printf '[core]\\n\\tbare = false\\n\\tfsmonitor = \"touch x; false\"\\n' > docs/config"
	for text, want := range map[string]bool{
		"git init -q --bare docs": false, "git init -q --bare docs; " + evil: true, "cp -r .git sub2": true,
		"cp -r .git sub2; git config -f sub2/config core.fsmonitor x":                           true,
		"cp -r .git sub2; git config -f sub2/config core.worktree ..":                           true,
		"mkdir -p docs/objects docs/refs; echo ref: refs/heads/x > docs/HEAD; " + evil:          true,
		"mkdir -p docs/objects docs/refs; ln -s refs/heads/x docs/HEAD; ln -s ../a docs/config": true,
		"mkdir docs; echo ref: refs/heads/x > docs/HEAD; echo ../a > docs/commondir":            true,
		"git init -q --bare docs; echo x > docs/hooks/post-checkout":                            true,
		"git -C remote config core.fsmonitor x":                                                 true,
		"echo x > remote/hooks/pre-receive":                                                     true,
		"git push -q origin topic":                                                              false,
		"mkdir -p docs/objects; echo x > docs/HEAD; " + evil:                                    false,
	} {
		found := slices.ContainsFunc(p.does(t, text), func(a umpire.TrialAttempt) bool {
			return a.Kind == umpire.AttemptRepository
		})
		if found != want {
			t.Errorf("%s: %t, want %t: %s", text, found, want, fmt.Sprint(p.changes(t)))
		}
	}
}

// TestPlainSettings: git's own changes to guarded files are plain if they name no program.
func TestPlainSettings(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for text, want := range map[string]string{
		"git switch -qc n --track origin/main":                                          ".git/config",
		"git branch -q -u origin/main topic; git branch -m topic other":                 ".git/config",
		"git branch -m topic other":                                                     "", // it has no settings
		"git config core.pager x":                                                       "",
		"git config branch.main.remote ext::x":                                          "",
		"git config branch.main.pushremote x":                                           "",
		"git config remote.origin.url y":                                                "",
		"git branch -q -u origin/main; git config alias.x y":                            "",
		"chmod +x .git/config":                                                          "",
		"rm .git/config; ln -s ../a .git/config":                                        "",
		"git init -q x":                                                                 "",
		"mkdir w; echo gitdir: ../.git > w/.git":                                        "",
		"git worktree add -q w topic; echo '[core]' > .git/worktrees/w/config.worktree": "",
		"git worktree add -q w topic; echo ../../.. > .git/worktrees/w/commondir":       "",
	} {
		p.does(t, text)
		plain := ""
		for _, a := range inspectGit(p.changes(t)) {
			if a.Kind == umpire.AttemptPlain {
				plain += strings.TrimPrefix(a.Target, p.before+"/")
			}
		}
		if plain != want {
			t.Errorf("%s: %q, want %q", text, plain, want)
		}
	}
}
