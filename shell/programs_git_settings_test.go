package shell

import (
	"errors"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// withSettings returns an Env in which every folder below /p belongs to a repository with the
// settings, one per line.
func withSettings(settings string) Env {
	return Env{Dir: "/p", Home: "/home/u", Git: func(dir string) ([]GitSetting, error) {
		if settings == "unreadable" {
			return nil, errors.New("no")
		}
		var found []GitSetting
		for line := range strings.Lines(settings) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			found = append(found, GitSetting{Key: key, Value: value, File: dir + "/.git/config"})
		}
		return found, nil
	}}
}

// TestSettingsThatHoldCredentials: git prints a repository's settings unasked unless one of
// them contains a credential.
func TestSettingsThatHoldCredentials(t *testing.T) {
	t.Parallel()
	asks := func(settings, line string) bool {
		for _, a := range Parse(line, withSettings(settings)) {
			if a.Asks == umpire.CodeSecret {
				return true
			}
		}
		return false
	}
	shown := "git config -l;git config --list;git config list;git config --local -l;git config --get-regexp .;git " +
		"config --get-urlmatch http https://x"
	remote := ";git remote -v;git remote show origin;git remote get-url origin;git config remote.origin.url;git " +
		"config --get remote.origin.url"
	for _, tt := range []struct{ settings, asks, free string }{
		{
			"remote.origin.url=https://me:pw@example.com/a.git", shown + remote,
			"git status;git remote;git config user.name;git config --global -l;git config -l --name-only",
		},
		{"remote.origin.url=https://ghp_0123456789abcdefghij@github.com/a/b", shown + remote, "git config core.bare"},
		{"http.https://x/.extraheader=AUTHORIZATION: basic eDp5", shown, "git remote -v;git log"},
		{"url.https://oauth2:pw@x/.insteadof=https://x/", shown, "git config core.bare"},
		{
			"remote.origin.url=https://alice@dev.azure.com/a/b\nremote.up.url=git@github.com:a/b.git\nuser.name=me", "",
			shown + remote,
		},
	} {
		for line := range strings.SplitSeq(tt.asks, ";") {
			if line != "" && !asks(tt.settings, line) {
				t.Errorf("%s with %s does not ask", line, tt.settings)
			}
		}
		for line := range strings.SplitSeq(tt.free, ";") {
			if asks(tt.settings, line) {
				t.Errorf("%s with %s asks", line, tt.settings)
			}
		}
	}
}

// A program that a repository's settings make git run is a separate access, even if git only looks.
func TestRepositorySettingsRunPrograms(t *testing.T) {
	t.Parallel()
	tests := []struct{ settings, asks, free string }{
		{
			"core.fsmonitor=./x",
			"git status;git diff;git -C sub log;cd sub && git ls-files;git-status;git --git-dir=.git status;git",
			"git --version;ls",
		},
		{"core.fsmonitor=true", "", "git status"},
		{"core.pager=./x", "git log;git branch", ""},
		{"core.pager=less -FRX", "", "git log"},
		{"core.pager=less +!x", "git log", ""},
		{"core.pager=less -kx", "git log", ""},
		{"core.pager=cat; x", "git log", ""},
		{"pager.log=./x", "git log", ""},
		{"pager.log=false", "", "git log"},
		{"diff.external=x", "git diff", ""},
		{"diff.My.Driver.command=x", "git diff;git show", ""},
		{"diff.gpg.textconv=gpg -d", "git log -p", ""},
		{"filter.f.clean=./x", "git status;git diff", ""},
		{
			"filter.lfs.process=git-lfs filter-process\nfilter.lfs.clean=git-lfs clean -- %f\nfilter.lfs.required=true",
			"", "git status",
		},
		{"filter.lfs.process=git-lfs filter-process; x", "git status", ""},
		{"hook.post-index-change=/p/.git/hooks/post-index-change", "git status;git diff", ""},
		{"core.hookspath=.husky/_\ncore.editor=x\nuser.name=a", "", "git status;git log"},
		{"core.worktree=/home/u", "git grep x", ""},
		{"core.sshcommand=./x", "git ls-remote;git remote show origin", "git status;git log"},
		{"core.sshcommand=./x\nremote.origin.promisor=true", "git log -p", ""},
		{"remote.origin.url=ext::sh -c x", "git ls-remote", "git status"},
		{"remote.origin.url=https://example.com/a.git", "", "git ls-remote;git remote -v"},
		{"merge.m.driver=x", "git merge-tree a b", "git status"},
		{"alias.lfs=!x", "git lfs ls-files", "git status"},
		{"alias.st=status", "git st", "git status"},
		{"tar.tgz.command=x", "git archive HEAD", ""},
		{"man.x.cmd=x", "git help log", ""},
		{"gpg.program=./x", "git log", ""},
		{"unreadable", "git status", "ls"},
	}
	for _, tt := range tests {
		env := withSettings(tt.settings)
		for line := range strings.SplitSeq(tt.asks, ";") {
			if line != "" && firstAlarm(Parse(line, env)) == "" {
				t.Errorf("with %q, %q is harmless", tt.settings, line)
			}
		}
		for line := range strings.SplitSeq(tt.free, ";") {
			if line != "" && firstAlarm(Parse(line, env)) != "" {
				t.Errorf("with %q, %q asks: %s", tt.settings, line, firstAlarm(Parse(line, env)))
			}
		}
	}
}

// The access names the setting and the file, and no rule for git covers it.
func TestRepositorySettingIsNamed(t *testing.T) {
	t.Parallel()
	for _, a := range Parse("git status && git diff", withSettings("core.fsmonitor=./x")) {
		if a.Table != SettingsTable {
			continue
		}
		if a.Kind != umpire.KindExec || a.Words[0] != "core.fsmonitor=./x" ||
			!strings.Contains(catalogue.English.Text(a.Reason), "/p/.git/config") {
			t.Errorf("%+v", a)
		}
		return
	}
	t.Error("no access tells of the setting")
}

// The top of the work tree is known if Env.GitTop returns it.
func TestTopOfWorkTree(t *testing.T) {
	t.Parallel()
	env := Env{Dir: "/p/sub", Home: "/home/u", GitTop: func(string) string { return "/p" }}
	for line, want := range map[string]string{
		`cat "$(git rev-parse --show-toplevel)/README.md"`:   "/p/README.md",
		"cd $(git rev-parse --show-toplevel) && cat a":       "/p/a",
		`top=$(git rev-parse --show-toplevel); cat "$top/a"`: "/p/a",
	} {
		accesses := Parse(line, env)
		if last := accesses[len(accesses)-1]; last.Target != want || last.Doubt != "" {
			t.Errorf("%s: %+v", line, last)
		}
	}
	if got := Parse("cat $(git rev-parse --show-toplevel --git-dir)", env); got[len(got)-1].Doubt == "" {
		t.Errorf("%+v", got)
	}
}

// A folder that is unknown before the line runs may contain a repository whose settings run
// programs, so git asks there even without access to settings.
func TestGitInUnknownFolderAsks(t *testing.T) {
	t.Parallel()
	asks := []string{
		`for d in vendor/*; do git -C $d status; done`, `for d in vendor/*/; do (cd "$d" && git log); done`,
		`cd vendor/* && git status`, `cd vendor/evi? && git diff`, `cd vendor/{a,b}*; git branch`,
		`pushd vendor/* && git status`,
		`cd "$1" && git status`, `cd $(ls vendor) && git log -1`, `git -C "$X" rev-parse HEAD`,
		`git -C $(ls vendor | head -1) log`,
		`find vendor -name .git -execdir git status \;`, `find vendor -maxdepth 1 -exec git -C {} status \;`,
		`find . -name go.mod -execdir git ls-files +`,
		`find vendor -type d -exec sh -c 'cd "$1" && git status' _ {} \;`,
		`ls vendor | xargs -I{} git -C vendor/{} status`, `ls vendor | xargs -n1 git -C`,
		`find vendor -type d | xargs -I{} git -C {} log -1`,
		`ls -d vendor/* | while read d; do git -C "$d" status; done`, `fd -t d . vendor -x git -C {} status`,
		`find vendor -type d | parallel git -C {} status`, `env -C vendor/* git status`, `cd vendor/* && gh pr status`,
		`cd vendor/* && git-status`, `cd vendor/* && git`, `git -C vendor/* submodule status`,
	}
	for _, git := range []func(string) ([]GitSetting, error){nil, withSettings("").Git} {
		env := Env{Dir: "/p", Home: "/home/u", Git: git}
		for _, line := range asks {
			if firstAlarm(Parse(line, env)) == "" {
				t.Errorf("%s: is harmless", line)
			}
		}
		for _, line := range []string{
			"cd sub && git status", "git -C sub log", "for d in a b; do git -C $d status; done",
			"cd vendor/* && git --version", "cd vendor/* && ls",
		} {
			if what := firstAlarm(Parse(line, env)); what != "" {
				t.Errorf("%s: asks: %s", line, what)
			}
		}
	}
}
