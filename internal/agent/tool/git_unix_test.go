//go:build unix

package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// repository makes the bench a git repository with one commit of a.txt.
func (b *bench) repository() {
	b.t.Helper()
	b.options.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "LC_ALL=C",
	}
	b.git(b.root, "init", "-q", "-b", "main", ".")
	b.file("a.txt", "one\n")
	b.git(b.root, "add", ".")
	b.git(b.root, "commit", "-q", "-m", "first")
}

// git runs git as a person would.
func (b *bench) git(dir string, args ...string) string {
	b.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		b.t.Skip("needs git")
	}
	cmd := exec.CommandContext(b.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, b.options.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// program writes a program that leaves a file named ran, and returns its path.
func (b *bench) program() string {
	b.t.Helper()
	path := b.file(filepath.Join(b.outside, "program"), "#!/bin/sh\ntouch '"+filepath.Join(b.outside, "ran")+"'\n")
	must(b.t, os.Chmod(path, 0o755))
	return path
}

func (b *bench) ran() bool {
	_, err := os.Stat(filepath.Join(b.outside, "ran"))
	return err == nil
}

func TestGitLooks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.repository()
	if got := b.ok("GitStatus", fields{}); got != "## main\n" {
		t.Errorf("clean: %q", got)
	}
	if got := b.ok("GitDiff", fields{}); got != "[no differences]" {
		t.Errorf("no diff: %q", got)
	}
	b.file("a.txt", "two\n")
	b.file("new *.txt", "new\n")
	b.file("other", "o\n")
	if got := b.ok("GitStatus", fields{"paths": []string{"a.txt", "new *.txt"}}); got != "## main\n M a.txt\n?? \"new *.txt\"\n" {
		t.Errorf("changed: %q", got)
	}
	if got := b.ok("GitDiff", fields{"revision": "HEAD"}); !strings.HasSuffix(got, "@@ -1 +1 @@\n-one\n+two\n") {
		t.Errorf("diff: %q", got)
	}
	if got := b.ok("GitDiff", fields{"stat": true, "paths": "a.txt"}); !strings.Contains(got, "1 file changed") {
		t.Errorf("stat: %q", got)
	}
	if got := b.ok("GitDiff", fields{"staged": true}); got != "[no differences]" {
		t.Errorf("staged: %q", got)
	}
	b.git(b.root, "commit", "-q", "-am", "second")
	if got := b.ok("GitLog", fields{"limit": 1, "revision": "main"}); !strings.Contains(got, "second") || strings.Contains(got, "first") {
		t.Errorf("log: %q", got)
	}
	if got := b.ok("GitLog", fields{"paths": []string{"other"}}); got != "[no commits]" {
		t.Errorf("log of a path: %q", got)
	}
	b.fails("GitLog", fields{"revision": "none"}, "exit code 128\nfatal: bad revision 'none'")
	for range 30 {
		b.git(b.root, "commit", "-q", "--allow-empty", "-m", "more")
	}
	if got := strings.Count(b.ok("GitLog", fields{}), "\ncommit ") + 1; got != 20 {
		t.Errorf("%d commits are shown unasked", got)
	}
}

// TestGitLooksRunsNothing: read-only commands start no programs and write nothing, even
// if a repository's settings or the environment name programs.
func TestGitLooksRunsNothing(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(b *bench, program string){
		"a file system monitor": func(b *bench, p string) { b.git(b.root, "config", "core.fsmonitor", p) },
		"an external diff":      func(b *bench, p string) { b.git(b.root, "config", "diff.external", p) },
		"a driver": func(b *bench, p string) {
			b.git(b.root, "config", "diff.mine.command", p)
			b.file(".gitattributes", "*.txt diff=mine\n")
		},
		"a text converter": func(b *bench, p string) {
			b.git(b.root, "config", "diff.mine.textconv", p)
			b.file(".gitattributes", "*.txt diff=mine\n")
		},
		"a pager": func(b *bench, p string) {
			for _, key := range []string{"core.pager", "pager.log", "pager.diff", "pager.status"} {
				b.git(b.root, "config", key, p)
			}
		},
		"a hook": func(b *bench, p string) {
			hook := b.file(".git/hooks/post-index-change", "#!/bin/sh\n"+p+"\n")
			must(b.t, os.Chmod(hook, 0o755))
		},
		"hooks elsewhere": func(b *bench, p string) {
			must(b.t, os.Rename(p, filepath.Join(b.outside, "post-index-change")))
			b.git(b.root, "config", "core.hooksPath", b.outside)
		},
		"a program for signatures": func(b *bench, p string) {
			b.git(b.root, "config", "gpg.program", p)
			b.git(b.root, "config", "log.showSignature", "true")
			tree := b.git(b.root, "rev-parse", "HEAD^{tree}")
			b.file("signed", "tree "+tree+"\nauthor A <a@example.com> 0 +0000\ncommitter A <a@example.com> 0 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n")
			b.git(b.root, "reset", "-q", "--soft", b.git(b.root, "hash-object", "-t", "commit", "-w", "signed"))
		},
		"an alias": func(b *bench, p string) {
			for _, verb := range []string{"status", "diff", "log"} {
				b.git(b.root, "config", "alias."+verb, "!"+p)
			}
		},
		"the environment": func(b *bench, p string) {
			b.options.Env = append(b.options.Env, "GIT_EXTERNAL_DIFF="+p, "GIT_PAGER="+p, "PAGER="+p, "GIT_TRACE="+filepath.Join(b.outside, "ran"),
				"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0="+p, "GIT_EXEC_PATH="+b.outside)
		},
		"missing objects": func(b *bench, p string) {
			b.git(b.root, "config", "remote.origin.url", "ext::"+p+" %S")
			b.git(b.root, "config", "remote.origin.promisor", "true")
			b.git(b.root, "config", "extensions.partialClone", "origin")
			b.git(b.root, "config", "core.repositoryFormatVersion", "1")
			b.git(b.root, "config", "protocol.allow", "always")
			blob := b.git(b.root, "rev-parse", "HEAD:a.txt")
			must(b.t, os.Remove(b.path(".git/objects/"+blob[:2]+"/"+blob[2:])))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.repository()
			b.file("a.txt", "two\n")
			arrange(b, b.program())
			for tool, in := range map[string]fields{"GitStatus": {}, "GitDiff": {"revision": "HEAD"}, "GitLog": {}} {
				r := b.do(tool, in)
				if b.ran() {
					t.Fatalf("%s has run it: %s", tool, r.Output)
				}
				if r.Status != umpire.ResultOK && name != "missing objects" {
					t.Errorf("%s: %s", tool, r.Output)
				}
			}
		})
	}
}

// TestGitMeansTheFolderOfTheCall: the environment cannot choose another repository.
func TestGitMeansTheFolderOfTheCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.repository()
	elsewhere := newBench(t)
	elsewhere.repository()
	elsewhere.file("secret", "x\n")
	b.options.Env = append(b.options.Env, "GIT_DIR="+elsewhere.path(".git"), "GIT_WORK_TREE="+elsewhere.root, "GIT_INDEX_FILE="+elsewhere.path(".git/index"))
	if got := b.ok("GitStatus", fields{}); got != "## main\n" {
		t.Errorf("status: %q", got)
	}
}

func TestGitCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.repository()
	b.file("a.txt", "two\n")
	b.file("b.txt", "b\n")
	b.file("c.txt", "c\n")
	b.git(b.root, "add", "b.txt", "c.txt")
	b.ok("GitCommit", fields{"message": "only b", "paths": []string{"b.txt"}})
	if got := b.git(b.root, "show", "--name-only", "--format=%s"); got != "only b\n\nb.txt" {
		t.Errorf("committed %q", got)
	}
	b.ok("GitCommit", fields{"message": "-x --amend\n\n# kept"})
	if got := b.git(b.root, "show", "--name-only", "--format=%B"); got != "-x --amend\n\n# kept\n\n\nc.txt" {
		t.Errorf("committed %q", got)
	}
	b.ok("GitCommit", fields{"message": "all", "all": true})
	if got := b.git(b.root, "log", "--format=%s"); got != "all\n-x --amend\nonly b\nfirst" {
		t.Errorf("history %q", got)
	}
	b.fails("GitCommit", fields{"message": "nothing"}, "nothing to commit")
	b.fails("GitCommit", fields{}, "input.message: is missing")
	b.fails("GitCommit", fields{"message": ""}, "input.message: is missing")
}

// TestGitRunsNothingOfSubmodules: git looks into submodules, but runs no programs from their settings, which
// may come from strangers.
func TestGitRunsNothingOfSubmodules(t *testing.T) {
	t.Parallel()
	for _, in := range []struct {
		tool  string
		input fields
	}{
		{"GitStatus", fields{}}, {"GitDiff", fields{}}, {"GitDiff", fields{"revision": "HEAD"}},
		{"GitCommit", fields{"message": "m", "all": true}}, {"GitCommit", fields{"message": "m", "paths": []string{"a.txt"}}},
		{"GitCheckout", fields{"branch": "other"}}, {"GitCheckout", fields{"branch": "new", "create": true}},
	} {
		t.Run(in.tool, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.repository()
			b.git(b.root, "branch", "other")
			sub := b.path("sub")
			b.git(b.root, "init", "-q", sub)
			b.file("sub/f", "one\n")
			b.file("sub/.gitattributes", "f filter=mine\n")
			b.git(sub, "add", ".")
			b.git(sub, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "one")
			b.git(b.root, "add", "sub")
			b.git(sub, "config", "filter.mine.clean", b.program())
			b.file("sub/f", "two\n")
			b.file("a.txt", "two\n")
			if r := b.do(in.tool, in.input); b.ran() {
				t.Errorf("%s %v has run what a submodule names: %s", in.tool, in.input, r.Output)
			} else if r.Status != umpire.ResultOK {
				t.Errorf("%s %v: %s", in.tool, in.input, r.Output)
			}
		})
	}
}

// TestGitPush: pushes a branch under its own name, to a known remote, without force or
// deletion.
func TestGitPush(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.repository()
	remote := filepath.Join(b.outside, "remote.git")
	b.git(b.outside, "init", "-q", "--bare", "-b", "main", remote)
	b.git(b.root, "remote", "add", "origin", remote)
	b.git(b.root, "config", "remote.origin.receivepack", b.program())
	b.git(b.root, "config", "remote.origin.push", "+refs/heads/*:refs/heads/*")
	b.ok("GitPush", fields{})
	if b.ran() {
		t.Error("the program of the settings has run at the other end")
	}
	first := b.git(b.root, "rev-parse", "main")
	if got := b.git(remote, "rev-parse", "main"); got != first {
		t.Errorf("pushed %s", got)
	}
	b.git(b.root, "branch", "topic")
	b.ok("GitPush", fields{"branch": "topic", "set_upstream": true})
	if got := b.git(b.root, "rev-parse", "--abbrev-ref", "topic@{upstream}"); got != "origin/topic" {
		t.Errorf("upstream %s", got)
	}
	b.git(b.root, "commit", "-q", "--amend", "--allow-empty", "-m", "another")
	b.fails("GitPush", fields{}, "[rejected]")
	if got := b.git(remote, "rev-parse", "main"); got != first {
		t.Errorf("forced to %s", got)
	}
	b.fails("GitPush", fields{"remote": "elsewhere"}, `the repository has no remote "elsewhere"`)
	b.git(b.root, "config", "remote.origin.mirror", "true")
	b.fails("GitPush", fields{}, "mirror")
	if got := b.git(remote, "rev-parse", "main"); got != first {
		t.Errorf("mirrored to %s", got)
	}
}

func TestGitCheckout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.repository()
	b.ok("GitCheckout", fields{"branch": "topic", "create": true})
	b.file("a.txt", "two\n")
	b.git(b.root, "commit", "-q", "-am", "second")
	b.ok("GitCheckout", fields{"branch": "main"})
	if b.content("a.txt") != "one\n" {
		t.Errorf("a.txt holds %q", b.content("a.txt"))
	}
	b.file("a.txt", "mine\n")
	b.fails("GitCheckout", fields{"branch": "topic"}, "would be overwritten")
	if b.content("a.txt") != "mine\n" {
		t.Errorf("what was changed is lost: %q", b.content("a.txt"))
	}
	b.ok("GitCheckout", fields{"branch": "topic", "paths": []string{"a.txt"}})
	if b.content("a.txt") != "two\n" {
		t.Errorf("a.txt holds %q", b.content("a.txt"))
	}
	b.ok("GitCheckout", fields{"revision": "HEAD", "paths": []string{"a.txt"}})
	if b.content("a.txt") != "one\n" {
		t.Errorf("a.txt holds %q", b.content("a.txt"))
	}
	b.fails("GitCheckout", fields{}, "input.branch: is missing")
	b.fails("GitCheckout", fields{"branch": "a.txt"}, "invalid reference")
}

// TestGitRunsWhatWasDecided: a command does not run with another command's decision.
func TestGitRunsWhatWasDecided(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.repository()
	started := b.start("GitCheckout", fields{"branch": "other", "create": true})
	started.Call.Input = []byte(`{"branch":"evil","create":true}`)
	if r := b.Run(t.Context(), started); r.Status != umpire.ResultError || r.Output != "the decision does not cover this command" {
		t.Errorf("%s %q", r.Status, r.Output)
	}
	started = b.start("GitStatus", fields{})
	started.Call.Tool, started.Call.Input = "GitCommit", []byte(`{"message":"x"}`)
	if r := b.Run(t.Context(), started); r.Status != umpire.ResultError {
		t.Errorf("%s %q", r.Status, r.Output)
	}
	if got := b.git(b.root, "branch", "--list"); got != "* main" {
		t.Errorf("branches %q", got)
	}
}

// TestGitArgumentsAreThoseOfTheWords: git runs with the judged words, and with no other
// words from the model.
func TestGitArgumentsAreThoseOfTheWords(t *testing.T) {
	t.Parallel()
	for tool, input := range map[string]string{
		"GitStatus": `{"paths":["a"]}`, "GitDiff": `{"staged":true,"revision":"x"}`, "GitLog": `{"limit":3,"paths":["a"]}`,
		"GitCommit": `{"message":"m","all":true}`, "GitPush": `{"branch":"b"}`, "GitCheckout": `{"branch":"b"}`,
	} {
		words, err := policy.GitWords(umpire.Call{Tool: tool, Input: []byte(input)})
		if err != nil {
			t.Fatal(err)
		}
		args := gitVerbs[tool].args(words)
		for _, word := range words[2:] {
			at := len(args) - 1
			for at >= 0 && args[at] != word {
				at--
			}
			if at < 0 {
				t.Errorf("%s: %q of %q is not in %q", tool, word, words, args)
			}
		}
		if ended := args[len(args)-1] == "--"; ended != (tool == "GitDiff" || tool == "GitCommit" || tool == "GitCheckout") {
			t.Errorf("%s: %q", tool, args)
		}
	}
}
