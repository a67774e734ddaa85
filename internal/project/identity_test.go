package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/place"
)

// TestP0DIdentity checks that all folders of a repository have one project, that another
// repository has another, and that a folder without git is identified by its real path.
func TestP0DIdentity(t *testing.T) {
	t.Parallel()

	t.Run("project_identity_same_repo_same_id", func(t *testing.T) {
		t.Parallel()
		tmp := tempDir(t)
		main, tree := filepath.Join(tmp, "main"), filepath.Join(tmp, "tree")
		root := newRepo(t, main, "one")
		commit(t, main, "two")
		sub := filepath.Join(main, "sub", "d")
		mkdir(t, sub)
		gitIn(t, main, "worktree", "add", "-q", "-b", "side", tree)
		commit(t, tree, "three")
		write(t, filepath.Join(tree, "sub", "go.mod"), "module x")
		for _, dir := range []string{main, sub, tree, filepath.Join(tree, "sub")} {
			p := open(t, dir, Options{})
			if string(p.ID) != root || p.Kind != kindGit || len(p.Notes) > 0 {
				t.Errorf("Open(%q): id %s, kind %v, notes %q; want id %s", dir, p.ID, p.Kind, p.Notes, root)
			}
			if p.GitDir != filepath.Join(main, ".git") || p.Dir != dir {
				t.Errorf("Open(%q): git dir %q, dir %q", dir, p.GitDir, p.Dir)
			}
		}
		if p := open(t, sub, Options{}); p.Root != main || p.Worktree != "" {
			t.Errorf("N-9 main: root %q worktree %q", p.Root, p.Worktree)
		}
		if p := open(t, tree, Options{}); p.Root != tree || p.Worktree != "tree" {
			t.Errorf("N-9 linked: root %q worktree %q", p.Root, p.Worktree)
		}
	})

	t.Run("project_identity_diff_repo_diff_id", func(t *testing.T) {
		t.Parallel()
		tmp := tempDir(t)
		a, b := filepath.Join(tmp, "a"), filepath.Join(tmp, "b")
		newRepo(t, a, "a")
		newRepo(t, b, "b")
		if x, y := open(t, a, Options{}), open(t, b, Options{}); x.ID == y.ID {
			t.Errorf("both have id %s", x.ID)
		}
	})

	t.Run("project_identity_non_git_stable", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		alias := filepath.Join(tempDir(t), "alias")
		link(t, dir, alias)
		want := pathID(dir)
		if len(want) != 64 {
			t.Fatalf("id %q is not 64 characters", want)
		}
		for range 100 {
			for _, name := range []string{dir, alias, dir + "/."} {
				p := open(t, name, Options{})
				if p.ID != want || p.Kind != kindPath || p.GitDir != "" || p.Root != dir {
					t.Fatalf("Open(%q) = %+v, want id %s", name, p, want)
				}
			}
		}
	})
}

func TestIdentity(t *testing.T) {
	t.Parallel()

	t.Run("N-83 project_identity_git_stable", func(t *testing.T) {
		t.Parallel()
		dir, cache := tempDir(t), tempDir(t)
		root := newRepo(t, dir, "one")
		for i := range 100 {
			o := Options{Cache: cache}
			if i%10 == 0 {
				o.Cache = ""
			}
			if p := open(t, dir, o); string(p.ID) != root {
				t.Fatalf("run %d: id %s, want %s", i, p.ID, root)
			}
		}
	})

	t.Run("X-38 project_identity_smallest_root", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		want := newRepo(t, dir, "one")
		for _, branch := range []string{"b", "c", "d"} {
			gitIn(t, dir, "checkout", "-q", "--orphan", branch)
			want = min(want, commit(t, dir, branch))
			gitIn(t, dir, "checkout", "-q", "main")
			gitIn(t, dir, "merge", "-q", "--allow-unrelated-histories", "-m", "merge", branch)
		}
		if p := open(t, dir, Options{}); string(p.ID) != want {
			t.Errorf("id %s, want %s", p.ID, want)
		}
	})

	t.Run("X-38 project_identity_ignores_replaced_history", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		root := newRepo(t, dir, "one")
		commit(t, dir, "two")
		head := commit(t, dir, "three")
		gitIn(t, dir, "replace", "--graft", head)
		write(t, filepath.Join(dir, ".git", "info", "grafts"), head+"\n")
		if p := open(t, dir, Options{}); string(p.ID) != root {
			t.Errorf("id %s, want %s", p.ID, root)
		}
	})

	t.Run("N-7 project_identity_packed_refs", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		root := newRepo(t, dir, "one")
		gitIn(t, dir, "pack-refs", "--all", "--prune")
		if p := open(t, dir, Options{}); string(p.ID) != root {
			t.Errorf("packed: id %s, want %s, notes %q", p.ID, root, p.Notes)
		}
		gitIn(t, dir, "checkout", "-q", "--detach")
		if p := open(t, dir, Options{}); string(p.ID) != root {
			t.Errorf("detached: id %s, want %s, notes %q", p.ID, root, p.Notes)
		}
	})

	t.Run("N-7 project_identity_other_ref_formats", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		gitIn(t, dir, "init", "-q")
		mkdir(t, filepath.Join(dir, ".git", "reftable")) // makes us ask git for HEAD
		if p := open(t, dir, Options{}); p.ID != pathID(dir) || !hasNote(p, "no commits yet") {
			t.Errorf("empty: id %s, notes %q", p.ID, p.Notes)
		}
		root := commit(t, dir, "one")
		if p := open(t, dir, Options{}); string(p.ID) != root {
			t.Errorf("id %s, want %s, notes %q", p.ID, root, p.Notes)
		}
	})

	t.Run("N-83 project_identity_does_not_wait_for_pipes", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		root := newRepo(t, dir, "one")
		for _, name := range []string{"worktrees", "commondir", "shallow"} {
			if err := exec.Command("mkfifo", filepath.Join(dir, ".git", name)).Run(); err != nil {
				t.Skip("no named pipes here:", err)
			}
		}
		b, err := place.Open(dir, place.Options{})
		if err != nil || b.Repository.Common == "" {
			t.Fatalf("bounds %+v, %v", b, err)
		}
		r := &repository{b.Repository}
		if r.shallow() {
			t.Error("a pipe named shallow counts")
		}
		if head, err := r.head(t.Context()); head != root || err != nil {
			t.Errorf("head %s, %v; want %s", head, err, root)
		}
	})

	t.Run("N-7 project_identity_submodule_is_its_own", func(t *testing.T) {
		t.Parallel()
		tmp := tempDir(t)
		super, lib := filepath.Join(tmp, "super"), filepath.Join(tmp, "lib")
		root := newRepo(t, lib, "lib")
		newRepo(t, super, "super")
		gitIn(t, super, "submodule", "--quiet", "add", lib, "lib")
		p := open(t, filepath.Join(super, "lib"), Options{})
		if string(p.ID) != root || p.Root != filepath.Join(super, "lib") {
			t.Errorf("id %s root %q notes %q", p.ID, p.Root, p.Notes)
		}
	})
}

// TestIdentityFromPath covers repositories without usable history.
func TestIdentityFromPath(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, note string
		make       func(t *testing.T, dir string)
	}{
		{"A-23 no commits", "no commits yet", func(t *testing.T, dir string) { gitIn(t, dir, "init", "-q") }},
		{"X-38 shallow clone", "shallow clone", func(t *testing.T, dir string) {
			origin := tempDir(t)
			newRepo(t, origin, "one")
			commit(t, origin, "two")
			gitIn(t, dir, "clone", "-q", "--depth=1", "file://"+origin, ".")
		}},
		{"git file to nowhere", "does not lead to a repository", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, ".git"), "gitdir: /nowhere/at/all\n")
		}},
		{"git file that says nothing", "does not lead to a repository", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, ".git"), "")
		}},
		{"git link to itself", "does not lead to a repository", func(t *testing.T, dir string) {
			link(t, ".git", filepath.Join(dir, ".git"))
		}},
		{"empty git folder", "does not lead to a repository", func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, ".git"))
		}},
		{"HEAD names a file elsewhere", "not a ref", func(t *testing.T, dir string) {
			newRepo(t, dir, "one")
			write(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/../../secret\n")
		}},
		{"HEAD leads in a circle", "symbolic refs", func(t *testing.T, dir string) {
			newRepo(t, dir, "one")
			write(t, filepath.Join(dir, ".git", "refs", "heads", "main"), "ref: refs/heads/main\n")
		}},
		{"HEAD is a pipe", "not a regular file", func(t *testing.T, dir string) {
			newRepo(t, dir, "one")
			head := filepath.Join(dir, ".git", "HEAD")
			if err := os.Remove(head); err != nil {
				t.Fatal(err)
			}
			if err := exec.Command("mkfifo", head).Run(); err != nil {
				t.Skip("no named pipes here:", err)
			}
		}},
		{"HEAD names a commit that is missing", "git rev-list", func(t *testing.T, dir string) {
			newRepo(t, dir, "one")
			write(t, filepath.Join(dir, ".git", "HEAD"), "0123456789012345678901234567890123456789\n")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := tempDir(t)
			c.make(t, dir)
			sub := filepath.Join(dir, "sub")
			mkdir(t, sub)
			for _, at := range []string{dir, sub} {
				p := open(t, at, Options{})
				if p.ID != pathID(dir) || p.Root != dir || !hasNote(p, c.note) || !hasNote(p, "identity from path") {
					t.Errorf("Open(%q): id %s root %q notes %q", at, p.ID, p.Root, p.Notes)
				}
			}
		})
	}
}

// TestForeignRepository checks that a folder cannot claim a repository that does not know
// it.
func TestForeignRepository(t *testing.T) {
	t.Parallel()
	tmp := tempDir(t)
	trusted, tree := filepath.Join(tmp, "trusted"), filepath.Join(tmp, "tree")
	root := newRepo(t, trusted, "one")
	gitIn(t, trusted, "worktree", "add", "-q", tree)
	gitDir := filepath.Join(trusted, ".git")
	cases := map[string]func(t *testing.T, dotGit string){
		"git file":        func(t *testing.T, dotGit string) { write(t, dotGit, "gitdir: "+gitDir) },
		"git link":        func(t *testing.T, dotGit string) { link(t, gitDir, dotGit) },
		"worktree's file": func(t *testing.T, dotGit string) { write(t, dotGit, "gitdir: "+gitDir+"/worktrees/tree") },
		"commondir": func(t *testing.T, dotGit string) {
			write(t, filepath.Join(dotGit, "HEAD"), root)
			write(t, filepath.Join(dotGit, "commondir"), gitDir)
			write(t, filepath.Join(dotGit, "gitdir"), dotGit)
		},
	}
	for name, build := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tempDir(t)
			build(t, filepath.Join(dir, ".git"))
			p := open(t, dir, Options{})
			if string(p.ID) == root || p.GitDir != "" || p.ID != pathID(dir) || !hasNote(p, "does not confirm") {
				t.Errorf("id %s git dir %q notes %q", p.ID, p.GitDir, p.Notes)
			}
		})
	}
}

// TestHostileConfiguration checks that a repository cannot start programs.
func TestHostileConfiguration(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	root := newRepo(t, dir, "one")
	ran := filepath.Join(tempDir(t), "ran")
	script := filepath.Join(dir, "evil")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "core.sshCommand", "core.askPass",
		"core.alternateRefsCommand", "gpg.program", "credential.helper", "alias.rev-list", "pager.rev-list"} {
		gitIn(t, dir, "config", key, "!"+script)
		gitIn(t, dir, "config", "--add", key, script)
	}
	gitIn(t, dir, "config", "core.hooksPath", dir)
	if p := open(t, dir, Options{}); string(p.ID) != root {
		t.Errorf("id %s, want %s, notes %q", p.ID, root, p.Notes)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the repository's program ran")
	}
}

func TestRoot(t *testing.T) {
	t.Parallel()
	tmp := tempDir(t)
	home := filepath.Join(tmp, "home")
	shared := filepath.Join(tmp, "shared")
	write(t, filepath.Join(home, ".umpire", "permissions.json"), "{}")
	write(t, filepath.Join(home, "package.json"), "{}")
	write(t, filepath.Join(home, "web", "package.json"), "{}")
	mkdir(t, filepath.Join(home, "web", "src", "x"), filepath.Join(home, "plain", "y"), filepath.Join(shared, "job"))
	write(t, filepath.Join(shared, "go.mod"), "module planted")
	newRepo(t, filepath.Join(home, "repo"), "one")
	gitIn(t, tmp, "init", "-q", "--bare", filepath.Join(home, "bare.git"))
	write(t, filepath.Join(home, "repo", "app", "package.json"), "{}")
	if err := os.Chmod(shared, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ name, dir, root string }{
		{"A-22 nearest marker", "home/web/src/x", "home/web"},
		{"A-22 home is no project", "home/plain/y", "home/plain/y"},
		{"A-22 a shared folder is no project", "shared/job", "shared/job"},
		{"started in a shared folder", "shared", "shared"},
		{"started at home", "home", "home"},
		{"git beats a marker", "home/repo/app", "home/repo"},
		{"a folder that is gone", "home/web/gone/away", "home/web"},
		{"inside .git", "home/repo/.git/refs", "home/repo"},
		{"a bare repository is a folder", "home/bare.git/refs", "home/bare.git/refs"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := open(t, filepath.Join(tmp, c.dir), Options{Home: home})
			if want := filepath.Join(tmp, c.root); p.Root != want {
				t.Errorf("root %q, want %q", p.Root, want)
			}
		})
	}
	t.Run("a repository at home opens the working directory only", func(t *testing.T) {
		t.Parallel()
		dotfiles := tempDir(t)
		id := newRepo(t, dotfiles, "dotfiles")
		sub := filepath.Join(dotfiles, "notes")
		mkdir(t, sub)
		p := open(t, sub, Options{Home: dotfiles})
		if string(p.ID) != id || p.Contains(filepath.Join(dotfiles, ".ssh", "id")) || !p.Contains(filepath.Join(sub, "a")) {
			t.Errorf("id %s root %q notes %q", p.ID, p.Root, p.Notes)
		}
	})
	t.Run("a file is no working directory", func(t *testing.T) {
		t.Parallel()
		for _, dir := range []string{filepath.Join(home, "package.json"), "a\x00b"} {
			if p, err := Open(dir, Options{}); err == nil {
				t.Errorf("Open(%q) = %+v, want an error", dir, p)
			}
		}
	})
}

func TestKindString(t *testing.T) {
	t.Parallel()
	if kindGit.String() != "git_root" || kindPath.String() != "path" || Kind(9).String() != "path" {
		t.Error("kinds have other names")
	}
	var p Project
	if p.Contains("/") || p.Contains("x") {
		t.Error("the zero project contains something")
	}
	a := umpire.Access{Kind: umpire.KindWrite, Target: "/x"}
	if p.Resolve(&a); a.Place != umpire.PlaceOutside {
		t.Errorf("in the zero project /x is %v", a.Place)
	}
}
