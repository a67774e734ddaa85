package gitdir

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
)

// gitSays runs git without any user's settings.
func gitSays(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	return string(out), err
}

func mustGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := gitSays(t, dir, args...); err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func listed(text string) (string, error) {
	var out strings.Builder
	err := parseConfig(text, func(key, value string) { out.WriteString(key + "\n" + value + "\x00") })
	return out.String(), err
}

// The parser agrees with git. If git rejects a file, the parser may do anything; if the parser
// rejects it, the caller asks.
func TestConfigIsReadAsGitReadsIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pieces := []string{
		"[core]", "[core ]", "[Core \"A b\"]", "[a.B]", "[a \"x\\\"y\"]", "[a \"x]y\"]", "\n", "\r\n", " ", "\t", "fsmonitor", "Name-1", "=", " = ", "./x", "\"q ; # \"", "\\\\", "\\\n",
		"\\n", "\\q", ";c", "#c", "\"", "true", "a b  ", "[", "]", "\ufeff", "_", "é", "\\\r\n", "[core] fsmonitor = x\n",
	}
	agreed := 0
	compare := func(tb rapid.TB, text string) {
		put(t, filepath.Join(dir, "config"), text)
		want, err := gitSays(t, dir, "config", "--null", "--list", "--file", "config")
		if err != nil {
			return
		}
		got, err := listed(text)
		if err != nil {
			return
		}
		agreed++
		// git prints a name without a value as the name alone.
		for entry := range strings.SplitSeq(strings.TrimSuffix(want, "\x00"), "\x00") {
			if entry != "" && !strings.Contains(entry, "\n") {
				want = strings.Replace(want, entry+"\x00", entry+"\ntrue\x00", 1)
			}
		}
		if got != want {
			tb.Fatalf("%q: got %q, git reads %q", text, got, want)
		}
	}
	compare(t, "[core] fsmonitor = x\n") // few of the others are valid
	rapid.Check(t, func(rt *rapid.T) {
		compare(rt, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 14).Draw(rt, "pieces"), ""))
	})
	if agreed == 0 {
		t.Error("nothing was compared")
	}
}

func TestConfigThatGitWritesIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, value := range []string{"./x", " a", "a\tb", `"x" \ y`, "a;b#c", "x\ny", ""} {
		mustGit(t, dir, "config", "--file", "config", "--add", "diff.Mi ne.command", value)
		data, err := os.ReadFile(filepath.Join(dir, "config"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := listed(string(data))
		if err != nil || !strings.HasSuffix(got, "diff.Mi ne.command\n"+value+"\x00") {
			t.Errorf("%q: %q, %v", value, got, err)
		}
	}
}

func settingsOf(t *testing.T, dir string) []string {
	t.Helper()
	found, err := ReadSettings(dir, "/home/u")
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, s := range found {
		if !hasPart(s.Key, "core.repositoryformatversion core.filemode core.bare core.logallrefupdates") {
			out = append(out, s.Key+"="+s.Value)
		}
	}
	return out
}

func hasPart(key, list string) bool { return slices.Contains(strings.Fields(list), key) }

func TestGitSettingsAreFoundAsGitFindsThem(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mustGit(t, top, "init", "-q", "main")
	main := filepath.Join(top, "main")
	mustGit(t, main, "config", "core.fsmonitor", "./x")
	mustGit(t, main, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.fsmonitor=false", "commit", "-q", "--allow-empty", "-m", "x")
	mustGit(t, main, "-c", "core.fsmonitor=false", "worktree", "add", "-q", "../wt")
	mustGit(t, top, "init", "-q", "--bare", "main/docs/bare")
	mustGit(t, filepath.Join(main, "docs/bare"), "config", "diff.external", "evil")
	put(t, filepath.Join(main, "pseudo/.git/HEAD"), "nonsense")
	put(t, filepath.Join(main, "pseudo/.git/config"), "[core]\npager = evil\n")
	mustGit(t, top, "init", "-q", "plain")
	plain := filepath.Join(top, "plain")
	mustGit(t, plain, "config", "include.path", "../more")
	put(t, filepath.Join(plain, "more"), "[core]\nsshCommand = evil\n")
	put(t, filepath.Join(plain, ".git/config.worktree"), "[core]\nworktree = ../..\n")
	put(t, filepath.Join(plain, ".git/hooks/post-index-change"), "#!/bin/sh\n")
	mustGit(t, top, "init", "-q", "broken")
	put(t, filepath.Join(top, "broken/.git/config"), "[core\n")
	mustGit(t, top, "init", "-q", "super")
	put(t, filepath.Join(top, "super/.git/modules/a/b/HEAD"), "ref: refs/heads/x")
	put(t, filepath.Join(top, "super/.git/modules/a/b/config"), "[core]\nworktree = ../../x\nfsmonitor = evil")

	tests := []struct {
		name, dir string
		want      []string
	}{
		{"a repository", "main", []string{"core.fsmonitor=./x"}},
		{"a folder below", "main/docs", []string{"core.fsmonitor=./x"}},
		{"a linked worktree", "wt", []string{"core.fsmonitor=./x"}},
		{"a bare repository inside another", "main/docs/bare", []string{"diff.external=evil"}},
		{"a folder of it", "main/docs/bare/refs", []string{"diff.external=evil"}},
		{"the git folder", "main/.git", []string{"core.fsmonitor=./x"}},
		{"a folder that only resembles one", "main/pseudo", []string{"core.pager=evil", "core.fsmonitor=./x"}},
		{"includes, a worktree elsewhere, a hook", "plain", []string{
			"include.path=../more", "core.sshcommand=evil", "core.worktree=../..", "hook.post-index-change=" + filepath.Join(plain, ".git/hooks/post-index-change"),
		}},
		{"submodules", "super", []string{"core.fsmonitor=evil"}},
		{"one that cannot be read", "broken", []string{`"` + filepath.Join(top, "broken/.git/config") + `": not a configuration of git`}},
		{"none", ".", nil},
	}
	for _, tt := range tests {
		if got := settingsOf(t, filepath.Join(top, tt.dir)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// FindWorktree returns the same folder as git, below links and in linked worktrees too.
func TestGitTopIsWhatGitPrints(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mustGit(t, top, "init", "-q", "main")
	mustGit(t, filepath.Join(top, "main"), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
	mustGit(t, filepath.Join(top, "main"), "worktree", "add", "-q", "../wt")
	put(t, filepath.Join(top, "main/sub/deep/a"), "")
	put(t, filepath.Join(top, "none/.git/HEAD"), "ref: refs/heads/x")
	if err := os.Symlink("main/sub", filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"main", "main/sub/deep", "wt", "link", "none"} {
		want, _ := gitSays(t, filepath.Join(top, dir), "rev-parse", "--show-toplevel")
		if got := FindWorktree(filepath.Join(top, dir)); got != strings.TrimSpace(want) {
			t.Errorf("%s: %q, git prints %q", dir, got, want)
		}
	}
}

func BenchmarkGitSettings(b *testing.B) {
	dir := b.TempDir()
	if err := exec.CommandContext(b.Context(), "git", "init", "-q", dir).Run(); err != nil {
		b.Skip("needs git")
	}
	var found []umpire.GitSetting
	for b.Loop() {
		found, _ = ReadSettings(dir, "/home/u")
	}
	if len(found) == 0 {
		b.Fatal("found nothing")
	}
}
