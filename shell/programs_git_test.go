package shell

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
)

var gitEnv = Env{Dir: "/p", Home: "/home/u"}

// gitRisk returns the worst risk of a line; doubt counts as asking.
func gitRisk(line string) umpire.Risk {
	risk := umpire.Safe
	for _, a := range Parse(line, gitEnv) {
		risk = umpire.Worse(risk, a.Risk)
		if a.Doubt != "" {
			risk = umpire.Worse(risk, umpire.Medium)
		}
	}
	return risk
}

// gitTargets returns the paths and hosts of a line as "kind path".
func gitTargets(line string) []string {
	var out []string
	for _, a := range Parse(line, gitEnv) {
		if a.Kind != umpire.KindExec {
			out = append(out, a.Kind.String()+" "+a.Target)
		}
	}
	return out
}

// gitRisks are lines by the worst risk of their accesses. Lines that should ask are listed
// under medium.
var gitRisks = []struct {
	row   string
	risk  umpire.Risk
	lines string
}{
	{"M-36 reading", umpire.Safe, `
git
git --version
git status
git status -sb --porcelain=v2 -uno
git status --short --branch --ignored
git log
git log --oneline --graph --all --decorate -20
git log -p -1 README.md
git log -5 --pretty=format:'%h %s' --since='2 weeks ago' --author=me -- src
git log --pretty format:%h -S needle -G 'a|b' --stat
git log -L 10,20:main.go
git log --grep x -i -E --no-merges --first-parent main..topic
git diff
git diff --staged --stat
git diff main...HEAD --name-status -M90% -U10 -w
git diff HEAD~3..HEAD -- . ':!vendor' ':(exclude)go.sum'
git diff $(git merge-base main HEAD)
git diff $(git merge-base main HEAD)..HEAD --stat
git show HEAD:README.md
git show --stat --format=fuller abc123^
git show 'HEAD@{2 days ago}'
git blame -w -C -C -L 5,+10 main.go
git shortlog -sne --all
git rev-list --count HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel
git ls-files '*.go'
git ls-files -o --exclude-standard
git ls-tree -r --name-only HEAD
git cat-file -p HEAD
git grep -n 'TODO' -- src
git grep -lie a -e b HEAD
git describe --tags --always --dirty
git name-rev --tags HEAD
git merge-base --is-ancestor main HEAD
git for-each-ref --sort=-committerdate --format='%(refname)' refs/heads
git show-ref --tags
git count-objects -vH
git check-ignore -v out
git reflog -n 5
git reflog show main
git notes list
git cherry -v main
git range-diff main...topic
git diff-tree --no-commit-id --name-only -r HEAD
git fsck --no-dangling
git var GIT_AUTHOR_IDENT
git archive HEAD src
git format-patch --stdout -1
git apply --stat --check x.patch
git help config
git worktree list --porcelain
git submodule
git submodule status --recursive
git bisect log
git symbolic-ref --short HEAD
git sparse-checkout list
`},
	{"M-36 listing", umpire.Safe, `
git branch
git branch -a
git branch -vv --color=never
git branch --show-current
git branch --list 'release/*'
git branch -r --contains abc123
git branch --merged main
git branch --no-merged main --sort=-committerdate
git branch --format '%(refname:short)'
git tag
git tag -l 'v1.*'
git tag -n3
git tag --points-at HEAD
git tag --sort=-v:refname
git remote
git remote -v
git remote get-url origin
git stash list
git stash list -p --stat
git stash show -p 'stash@{0}'
git config user.name
git config --get remote.origin.url
git config --get-regexp '^alias'
git config --global --list --show-origin
git config get user.email
git clean -n
git clean -ndx
git clean --dry -d
git commit --dry-run -a
git rm -n x
git mv -n a b
`},
	{"global options", umpire.Safe, `
git --no-pager log -1
git -P diff
git -C sub log -1
git -C sub -C deeper status
git -c color.ui=never log -1
git -c Core.QuotePath=off ls-files
git -c core.pager=cat log
git -c core.fsmonitor=false status
git --git-dir=.git status
git --no-optional-locks --literal-pathspecs status
git --git-dir .git log -1
/usr/bin/git status
git-status
`},
	{"asks another repository", umpire.Low, `
git ls-remote
git ls-remote --heads origin main
git remote show origin
`},
	{"C-57 M-70 changes", umpire.Medium, `
git add .
git add -A
git add -p
git mv a b
git rm --cached secret
git restore --staged .
git switch main
git switch -c topic
git branch topic
git branch topic main
git branch -m old new
git branch -v topic
git branch --edit-description
git branch --set-upstream-to=origin/main
git tag v1.2.3
git tag -a v1 -m x
git tag -v v1
git stash
git stash push -m wip -- a
git stash apply
git fetch
git fetch origin main --prune
git init
git remote add fork name
git worktree add wt topic
git submodule update --init
git notes add -m x
git symbolic-ref HEAD refs/heads/x
git format-patch -3
git apply x.patch
git apply --check --apply x.patch
git apply --stat --index x.patch
git config user.name me
git config set user.email me@example.com
git config --unset user.email
git maintenance run
`},
	{
		"M-59 C-59 push", umpire.High,
		"git push\ngit push origin main\ngit push -u origin topic\ngit push --dry-run\ngit -C x push\ngit  push",
	},
	{
		"M-60 C-58 commit", umpire.High,
		"git commit -m 'x'\ngit commit -am x\ngit commit --amend --no-edit\ngit commit -m --dry-run\ngit commit " +
			"--dry-run --surprise",
	},
	{"M-61 checkout", umpire.High, "git checkout main\ngit checkout -b topic\ngit checkout -- file\ngit checkout ."},
	{"M-62 reset", umpire.High, "git reset\ngit reset --hard HEAD~1\ngit reset HEAD file"},
	{"M-63 rebase", umpire.High, "git rebase main\ngit rebase --continue"},
	{"M-64 merge", umpire.High, "git merge topic\ngit pull\ngit cherry-pick abc\ngit revert HEAD\ngit am x.mbox"},
	{"M-65 stash", umpire.High, "git stash drop\ngit stash pop\ngit stash clear\ngit stash drop 'stash@{1}'"},
	{"loses work", umpire.High, `
git clean -fd
git clean -fdx
git clean -n --surprise -f
git restore file
git restore --staged --worktree file
git restore -SW file
git rm -rf build
git switch -f main
git switch -qf main
git switch --discard main
git switch -C main
git branch -D topic
git branch -d topic
git branch --del topic
git branch -f main HEAD~9
git branch -M main
git branch -vD topic
git tag -d v1
git tag -f v1 HEAD~3
git tag -fam msg v1
git reflog expire --expire=now --all
git gc --prune=now
git update-ref -d refs/heads/main
git filter-branch --all
git filter-repo --path x
git replace a b
git notes remove HEAD
git worktree remove wt
git remote remove origin
git remote set-url origin x
git mv -f a b
git prune
git checkout-index -a -f
git submodule deinit .
git lfs prune
`},
	{"settings that run programs later", umpire.High, `
git config alias.st '!./x'
git config core.pager ./x
git config --edit
git config -e
git config --local include.path ../x
git config --add core.hookspath x
git config set core.editor x
git config --global alias.x y
git maintenance start
git init --template=evil
`},
	{"runs programs", umpire.Medium, `
git -c core.fsmonitor=./x status
git -c alias.x='!sh' x
git -c core.pager='cat; x' log
git -c color.ui=never -c core.sshCommand=x status
git -c $setting status
git --config-env=core.fsmonitor=X status
git --exec-path=. status
git --git-dir=evil.git status
git --work-tree=.. status
git -p log
git --paginate help
git --bare log
git -x status
git x
git $x
git diff --ext-diff
git diff --ext
git diff --textconv
git show --textconv HEAD
git cat-file --textconv HEAD:x
git cat-file --filters HEAD:x
git log --show-signature
git grep -O x
git grep -nOless x
git grep --open-files-in-pager=./x y
git grep --open y
git difftool
git difftool -y -x ./x
git mergetool
git hook run pre-commit
git help -w log
git bisect run ./x
git submodule foreach './x'
git web--browse x
git instaweb --httpd=./x
git log $(./x)
git log --grep=$x
git log main..$x
git log -n $x
git diff "$a" "$b"
`},
	{"runs programs of others", umpire.High, `
git ls-remote --exec=./x .
git ls-remote --upl=./x .
git clone -u ./x . copy
git fetch --upload-pack ./x
git push --receive-pack=./x origin
git push --exec ./x origin
git fetch 'ext::sh -c x'
git ls-remote ext::x
git clone 'ext::x' d
git pull fd::3
git remote add e ext::x
git submodule add ext::x d
git rebase --exec ./x main
git rebase -x ./x main
git send-email x
git daemon
git credential fill
`},
	{"writes", umpire.Medium, `
git diff --output=x
git log --output x
git log --outp=x
git show --output=x
git rev-list --output=x HEAD
git shortlog --output=x
git archive -o x.tar HEAD
git archive --remote=. --exec=./x HEAD
git stash export
git fsck --lost-found
git hash-object -w x
git bundle create x.bundle HEAD
git worktree add ../w
`},
	{
		"dashed spellings", umpire.High,
		"git-push --force origin main\ngit-reset --hard\ngit-clean -fd\n/usr/bin/git-commit -m x",
	},
}

func TestGitRisks(t *testing.T) {
	t.Parallel()
	for _, group := range gitRisks {
		for line := range strings.Lines(strings.TrimSpace(group.lines)) {
			line = strings.TrimSuffix(line, "\n")
			t.Run(group.row+"/"+line, func(t *testing.T) {
				t.Parallel()
				if risk := gitRisk(line); risk != group.risk {
					t.Errorf("risk of %q = %v, want %v: %+v", line, risk, group.risk, Parse(line, gitEnv))
				}
			})
		}
	}
}

// gitPaths are lines with the paths and hosts that they touch.
var gitPaths = []struct{ line, want string }{
	{"git log -- src", ""},
	{"git log -- ../other", "read /p/../other"},
	{"git show /etc/passwd", "read /etc/passwd"},
	{"git log a/../../b", "read /p/a/../../b"},
	{"git show HEAD:../x", ""},
	{"git show HEAD:.env", "read /p/.env"},
	{"git show HEAD:config/.env.production", "read /p/config/.env.production"},
	{"git diff .env", "read /p/.env"},
	{"git diff HEAD~1 -- config/.env", "read /p/config/.env"},
	{"git log -p -- .env", "read /p/.env"},
	{"git log -- .env", ""},
	{"git blame .env", "read /p/.env"},
	{"git grep x -- .env", "read /p/.env"},
	{"git cat-file -p HEAD:.env", "read /p/.env"},
	{"git check-ignore .env", ""},
	{"git status .env", ""},
	{"git diff -- . ':!vendor' ':(exclude).env'", ""},
	{"git show v1.2.3 origin/a.b", ""},
	{"git diff origin/a..origin/b", ""},
	{"git diff --no-index -- /dev/null /etc/shadow", "read /dev/null, read /etc/shadow"},
	{"git diff --no-ind a b", "read /p/a, read /p/b"},
	{"git diff a /etc/shadow", "read /etc/shadow"},
	{"git diff -O/etc/shadow", "read /etc/shadow"},
	{"git grep --no-index x /etc", "read /etc"},
	{"git grep -f /etc/shadow", "read /etc/shadow, read /p"},
	{"git grep /etc/passwd", "read /p"},
	{"git blame --contents ../x y", "read /p/../x, read /p/y"},
	{"git blame -w src/a.go", "read /p/src/a.go"},
	{"git grep x -- src", "read /p/src"},
	{"git grep x main..HEAD", ""},
	{"git hash-object ../x", "read /p/../x"},
	{"git ls-files -X ../x", "read /p/../x"},
	{"git config -f ../x -l", "read /p/../x"},
	{"git commit -F ../msg", "read /p/../msg"},
	{"git apply ../x.patch", "read /p/../x.patch"},
	{"git -C ../other status", "read /p/../other"},
	{"git -C sub rm f", "read /p/sub, delete /p/sub/f"},
	{"git rm -r a b", "delete /p/a, delete /p/b"},
	{"git rm --cached a", ""},
	{"git mv a b", "delete /p/a, write /p/b"},
	{"git checkout -- a", "write /p/a"},
	{"git checkout main", ""},
	{"git restore a", "write /p/a"},
	{"git restore --staged a", ""},
	{"git archive -o ../x.tar HEAD", "write /p/../x.tar"},
	{"git log --output=../x", "write /p/../x"},
	{"git clone https://example.com/a.git ../a", "network https://example.com/a.git, write /p/../a"},
	{"git clone git@example.com:a/b.git", "network git@example.com:a/b.git"},
	{"git clone ../a b", "read /p/../a, write /p/b"},
	{"git fetch origin", ""},
	{"git push https://example.com/a main", "network https://example.com/a"},
	{"git ls-remote file:///srv/a", "read /srv/a"},
	{"git config --global alias.x y", "write /home/u/.gitconfig"},
	{"git config --system a.b c", "write /etc/gitconfig"},
	{"git config core.hooksPath x", "write /p/.git/config"},
	{"git init ../x", "write /p/../x"},
}

func TestGitPaths(t *testing.T) {
	t.Parallel()
	for _, tt := range gitPaths {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(gitTargets(tt.line), ", "); got != tt.want {
				t.Errorf("%q touches %q, want %q", tt.line, got, tt.want)
			}
		})
	}
}

// Accesses that a mode may have to refuse are named.
func TestGitNamesForce(t *testing.T) {
	t.Parallel()
	tests := []struct{ row, line, table string }{
		{"C-60 push --force", "git push --force", "git push --force"},
		{"C-60 push --force", "git push --forc origin main", "git push --force"},
		{"C-60 push --force", "git push --force-with-lease", "git push --force"},
		{"C-60 push --force", "git -C x push origin +main", "git push --force"},
		{"C-60 push --force", "git push --mirror", "git push --force --mirror"},
		{"C-60 push --force", "git push origin :main", "git push --force --delete"},
		{"C-60 push --force", "git push -d origin main", "git push --force --delete"},
		{"C-61 push -f", "git push -f", "git push --force"},
		{"C-61 push -f", "git push -uf origin main", "git push --force"},
		{"C-61 push -f", "git-push -f", "git push --force"},
		{"C-62 rebase -i", "git rebase -ki HEAD~3", "git rebase --interactive"},
		{"C-62 rebase -i", "git rebase -i HEAD~3", "git rebase --interactive"},
		{"C-62 rebase -i", "git rebase --inter HEAD~3", "git rebase --interactive"},
		{"C-59 push", "git push origin main", "git push"},
	}
	for _, tt := range tests {
		t.Run(tt.row+"/"+tt.line, func(t *testing.T) {
			t.Parallel()
			named := slices.ContainsFunc(Parse(tt.line, gitEnv), func(a umpire.Access) bool {
				return a.Table == tt.table
			})
			if !named {
				t.Errorf("%q: no access of table %q: %+v", tt.line, tt.table, Parse(tt.line, gitEnv))
			}
		})
	}
}

// Rules see the subcommand as given, past the global options.
func TestGitRuleWords(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"git -C x --no-pager push origin", "git push origin"},
		{"git -c color.ui=never log -1", "git log -1"},
		{"git cherry-pick a", "git cherry-pick a"},
		{"git revert a", "git revert a"},
		{"gh pr view 3", "gh pr view 3"},
		{"gh pr merge 3", "gh pr merge 3"},
	}
	for _, tt := range tests {
		got := ""
		for _, a := range Parse(tt.line, gitEnv) {
			if a.Kind == umpire.KindExec {
				got = strings.Join(a.Words, " ")
			}
		}
		if got != tt.want {
			t.Errorf("%q has the words %q, want %q", tt.line, got, tt.want)
		}
	}
}

// Names that git prints stay below the folder, so they may be passed on.
func TestGitPrintsNames(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"cat $(git ls-files)", "read /p"},
		{"cat $(git diff --name-only main)", "read /p"},
		{"cat $(git grep -l x)", "read /p"},
		{"cat $(git show --name-only --format= HEAD)", "read /p"},
		{"cat $(git ls-files ..)", "read …"},
		{"cat $(git ls-files --format=x)", "read …"},
		{"cat $(git ls-files -s)", "read …"},
		{"cat $(git grep x)", "read …"},
		{"cat $(git grep --no-index -l x a)", "read …"},
		{"cat $(git log --name-only)", "read …"},
		{"cat $(git rev-parse --show-toplevel)", "read …"},
		{"cat $(git rev-parse --not-known x)", "read …"},
		{"cat $(git rev-parse ../x)", "read …"},
	}
	for _, tt := range tests {
		targets := gitTargets(tt.line)
		if len(targets) == 0 || targets[len(targets)-1] != tt.want {
			t.Errorf("%q touches %q, want %q last", tt.line, targets, tt.want)
		}
	}
}

func TestGitTablesNameNothingTwice(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, table := range gitTools[0].more {
		for _, p := range *table {
			for name := range strings.FieldsSeq(p.names) {
				if seen[name] {
					t.Errorf("git %s is in the tables twice", name)
				}
				seen[name] = true
			}
		}
	}
	dashed, _ := builtIn("git-add")
	for name := range strings.FieldsSeq(dashed.names) {
		if !seen[strings.TrimPrefix(name, "git-")] {
			t.Errorf("%s is not a subcommand of git", name)
		}
	}
}

// gitLines returns all lines of the table of risks.
func gitLines() []string {
	var out []string
	for _, group := range gitRisks {
		for line := range strings.Lines(strings.TrimSpace(group.lines)) {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	return out
}

// Options before the subcommand, other spellings and further arguments never make a line less
// risky.
func TestGitRiskNeverFalls(t *testing.T) {
	t.Parallel()
	lines := gitLines()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom(lines).Draw(t, "line")
		front := rapid.SampledFrom([]string{
			"-C sub", "--no-pager", "-c color.ui=never", "--git-dir=.git", "-p", "-c a.b=c", "--exec-path=.",
		}).Draw(t, "front")
		rest, ok := strings.CutPrefix(line, "git ")
		if !ok {
			return
		}
		rest = strings.TrimSpace(rest)
		bare := gitRisk(line)
		if got := gitRisk("git " + front + " " + rest); got > bare {
			t.Fatalf("git %s %s is %v, less than %v", front, rest, got, bare)
		}
		if got := gitRisk("git-" + rest); !strings.HasPrefix(rest, "-") && got > bare {
			t.Fatalf("git-%s is %v, less than %v", rest, got, bare)
		}
		if got := gitRisk(line + " --surprise"); got > bare {
			t.Fatalf("%s --surprise is %v, less than %v", line, got, bare)
		}
	})
}

// The log of HEAD determines whether the trust in a clone's code is still valid. A line that
// can write anything there is of high risk and irreversible.
func TestLogsOfRefsAreNotForged(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"git reflog write HEAD a b 'commit: x'", "git reflog delete --rewrite HEAD@{1}", "git reflog expire --all",
		"git update-ref -m 'commit: x' HEAD b", "git update-ref -m'commit: x' HEAD b",
	} {
		consequence := umpire.Harmless
		for _, a := range Parse(line, gitEnv) {
			consequence = umpire.WorseConsequence(consequence, a.Consequence)
		}
		if risk := gitRisk(line); risk != umpire.High || consequence != umpire.Lost {
			t.Errorf("%s: %s, %s", line, risk, consequence)
		}
	}
	for _, line := range []string{"git reflog", "git reflog show main", "git reflog main"} {
		if risk := gitRisk(line); risk != umpire.Safe {
			t.Errorf("%s: %s", line, risk)
		}
	}
}
