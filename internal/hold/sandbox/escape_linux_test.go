package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestInheritedFiles checks that a command does not inherit files that umpire's parent
// processes left open. An open folder would bypass all mounts.
func TestInheritedFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("echo kept >../o/file")
	for _, opened := range []struct {
		path string
		how  int
	}{{"file", unix.O_RDWR}, {"", unix.O_RDONLY | unix.O_DIRECTORY}} {
		fd, err := unix.Open(filepath.Join(b.outside, opened.path), opened.how, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		b.works(writing, fmt.Sprintf("test ! -e /proc/self/fd/%d && test ! -e /proc/$$/fd/%d", fd, fd))
		b.fails(writing, fmt.Sprintf("bash -c 'echo x >&%d'", fd), "Bad file descriptor")
	}
	b.has(filepath.Join(b.outside, "file"), "kept\n")
}

// TestGuardsWhatGitIsTold covers settings files and hooks named in git's settings, even in the work tree.
func TestGuardsWhatGitIsTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, attack, want string }{
		"hooks in a folder that is missing":  {"git config core.hooksPath .hooks", "mkdir .hooks", "File exists"},
		"hooks in a folder, in one line":     {"echo '[core] hooksPath = \"h\" ; ours' >>.git/config && mkdir h", "touch h/pre-commit", "Read-only"},
		"hooks in a folder by its path":      {"git config core.hooksPath $PWD/h && mkdir h", "touch h/pre-commit", "Read-only"},
		"hooks in a person's own settings":   {"printf '[core]\\nhooksPath = h\\n' >../h/.gitconfig && mkdir h", "touch h/pre-commit", "Read-only"},
		"settings of the work tree":          {"git config include.path ../git.conf && touch git.conf", "echo x >git.conf", "Read-only"},
		"settings of the work tree, missing": {"git config include.path ../git.conf", "echo '[core]' >git.conf; false", "git.conf.untrusted now"},
		"settings named by settings":         {"git config include.path ../a && git config -f a include.path b && touch b", "echo x >b", "Read-only"},
		"hooks named by settings":            {"git config include.path ../a && git config -f a core.hooksPath h && mkdir h", "touch h/x", "Read-only"},
		"hooks of a linked worktree": {
			"git config core.hooksPath h && git commit -q --allow-empty -m x && git worktree add -q in/tree && mkdir in/tree/h", "touch in/tree/h/x", "Read-only",
		},
		"start files that lie in a project": {"touch bashrc && ln -s ../p/bashrc ../h/.bashrc", "echo evil >>bashrc", "Read-only"},
		"where a linked worktree looks": {
			"git commit -q --allow-empty -m x && git worktree add -q in/tree", "echo ../../../evil >.git/worktrees/tree/commondir", "Read-only",
		},
		"a submodule with a long name": {
			"git init -q --bare .git/modules/a/b/c/d", "git -C .git/modules/a/b/c/d config core.pager evil", "",
		},
		"a submodule in a submodule": {
			"git init -q --bare .git/modules/a && git init -q --bare .git/modules/a/modules/b/c", "touch .git/modules/a/modules/b/c/hooks/x", "Read-only",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.bare(tt.before)
			b.fails(writing, tt.attack, tt.want)
			b.works(writing, "git status && touch file")
		})
	}
}

// TestRepositoriesThatWereMade covers nested repositories, because git also looks into
// them and runs programs in their settings.
func TestRepositoriesThatWereMade(t *testing.T) {
	t.Parallel()
	const evil = " && git init -q x && git -C x config core.fsmonitor ../evil"
	for name, tt := range map[string]struct{ line, aside string }{
		"plain":                          {"git init -q x && git -C x config user.name a && git -C x remote add origin ../o", ""},
		"a clone":                        {"git commit -q --allow-empty -m x && git clone -q . x", ""},
		"a worktree":                     {"git commit -q --allow-empty -m x && git worktree add -q x", ""},
		"one that runs a program":        {"true" + evil, "x/.git/config"},
		"one with a hook":                {"git init -q x && touch x/.git/hooks/post-checkout", "x/.git/hooks"},
		"one in brackets":                {"git init -q x && echo '[core] fsmonitor = \"evil\"]' >>x/.git/config", "x/.git/config"},
		"one behind a long line":         {"git init -q x && (head -c 99999 /dev/zero | tr '\\0' '#'; printf '\\n[core]\\nfsmonitor = evil') >>x/.git/config", "x/.git/config"},
		"one behind a line that goes on": {"git init -q x && printf '[core]\\nabbrev = 7\\\\\\n[extensions]\\nfsmonitor = evil\\n' >x/.git/config", "x/.git/config"},
		"one with a pipe for settings":   {"git init -q x && rm x/.git/config && mkfifo x/.git/config", "x/.git/config"},
		"a pipe for a repository":        {"mkdir x && mkfifo x/.git", ""},
		"one elsewhere":                  {"mkdir store x" + strings.ReplaceAll(evil, "x", "store/y") + " && echo gitdir: ../store/y/.git >x/.git", "store/y/.git/config"},
		"a submodule deep down":          {"mkdir -p a/b/c/d/e && cd a/b/c/d/e" + evil + " && git -C x commit -q --allow-empty -m x && git add x", "a/b/c/d/e/x/.git/config"},
		"a worktree with other settings": {"git init -q --bare store && git -C store config core.fsmonitor evil && mkdir -p x w/objects && echo ref: refs/heads/main >w/HEAD && echo ../store >w/commondir && echo gitdir: ../w >x/.git", "store/config"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			out, notes, err := b.noted(writing, "export HOME=/ GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; "+tt.line)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if tt.aside == "" {
				if len(notes) > 0 {
					t.Errorf("%q, want nothing to be said", notes)
				}
				return
			}
			path := filepath.Join(b.root, tt.aside)
			if len(notes) == 0 || !slices.ContainsFunc(notes, func(note string) bool { return strings.Contains(note, path) }) {
				t.Errorf("%q, want %s to be named", notes, path)
			}
			b.lacks(path)
			if !isPresent(path + untrusted) {
				t.Error("what was made is gone")
			}
		})
	}
}

// TestRepositoriesThatWereThere checks that an existing, deeply nested repository does
// not count as made by the command that finds it.
func TestRepositoriesThatWereThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("mkdir -p a/b/c/d/e && git init -q a/b/c/d/e && git -C a/b/c/d/e config core.hooksPath x && touch a/b/c/d/e/.git/hooks/pre-commit file")
	if _, notes, err := b.noted(writing, "git add file"); err != nil || len(notes) > 0 {
		t.Errorf("%q, %v, want nothing to be said", notes, err)
	}
	if !isPresent(filepath.Join(b.root, "a/b/c/d/e/.git/hooks/pre-commit")) || !isPresent(filepath.Join(b.root, "a/b/c/d/e/.git/config")) {
		t.Error("a person's repository was changed")
	}
}

// TestOpenedFolderIsGuarded checks that allowing a file in a home does not allow a
// shell's or git's startup files next to it.
func TestOpenedFolderIsGuarded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("echo mine >../h/.bashrc && git init -q ../h/other")
	limits := writing
	limits.Open = []string{filepath.Join(b.Home, "out")}
	b.works(limits, "echo x >~/out")
	b.fails(limits, "echo evil >>~/.bashrc", "Read-only")
	b.fails(limits, "touch ~/other/.git/hooks/pre-commit", "Read-only")
	limits.Open = append(limits.Open, filepath.Join(filepath.Dir(b.root), "new"))
	b.fails(limits, "mv ../p ../q", "Device or resource busy")
	b.fails(limits, "mkdir ~/.ssh; false", ".ssh.untrusted now")
	b.has(filepath.Join(b.Home, "out"), "x\n")
	b.has(filepath.Join(b.Home, ".bashrc"), "mine\n")
	limits.Open = []string{filepath.Join(b.Home, ".profile"), filepath.Join(b.Home, ".bashrc")}
	b.works(limits, "echo allowed >~/.bashrc && echo allowed >~/.profile")
	b.has(filepath.Join(b.Home, ".bashrc"), "allowed\n")
	b.has(filepath.Join(b.Home, ".profile"), "allowed\n")
}

// TestPlaceholdersStayInside runs a command that changes the target of the next
// placeholder's name between any two looks at it.
func TestPlaceholdersStayInside(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root, outside := filepath.Join(base, "w"), filepath.Join(base, "o")
	for _, dir := range []string{root, filepath.Join(outside, "hooks")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(root, ".github")); err != nil {
		t.Fatal(err)
	}
	b := Box{folders: []string{root}}
	if err := b.keepAbsent(filepath.Join(root, ".github/hooks")); err == nil {
		t.Error("a placeholder was made through a link that leads out")
	}
	b.watched = map[string]string{filepath.Join(root, ".github/hooks"): "", filepath.Join(root, ".github/made"): "elsewhere"}
	b.takeAway()
	if err := b.letGo(nil); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(outside, "hooks"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("outside: %v, %v, want it as it was", info, err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("outside there are %v, %v", left, err)
	}
}
