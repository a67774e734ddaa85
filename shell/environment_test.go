package shell

import (
	"strings"
	"testing"
)

// Printing the whole environment asks, and so does printing a variable with a secret's name.
// Checking whether a variable is set does not.
func TestEnvironmentIsPrinted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, lines string
		unasked     bool
	}{
		{"all of it", `
env
env -0
env A=1
env -u HOME | sort
env | grep AWS
env | grep --ignore-case path
env | grep --color=auto AWS
env | grep -v PATH
env | grep -i path
env | cut -d= -f2
env | grep PATH; env
sudo env
/usr/bin/env
printenv
set
set | grep GO
export
export -p
declare -p
declare -x
typeset
readonly -p
systemctl show-environment
tmux show-environment -g
find . -maxdepth 0 -exec env \;
`, false},
		{"a secret", `
printenv GITHUB_TOKEN
printenv HOME AWS_SECRET_ACCESS_KEY
printenv $X
declare -p NPM_TOKEN
echo $GITHUB_TOKEN
echo "token: ${OPENAI_API_KEY:-none}"
echo ${GITHUB_TOKEN:0:4}
printf '%s\n' "$DB_PASSWORD"
x=$GITHUB_TOKEN; echo $x
cat <<< "$GITHUB_TOKEN"
printf %s "${!X}"
envsubst < f
echo '$GITHUB_TOKEN' | envsubst
n=GITHUB_TOKEN; echo ${!n}
echo "${GITHUB_TOKEN,,}"
`, false},
		{"something else", `
env -i
env -u GITHUB_TOKEN ls
env | grep -c PATH
env | grep ^GOPATH=
env | wc -l
printenv | cut -d= -f1
set | grep -q GITHUB_TOKEN
printenv HOME PATH
printenv GOPATH
echo $HOME $PATH $USER
echo ${GITHUB_TOKEN:+set}
echo ${#GITHUB_TOKEN}
[ -n "$GITHUB_TOKEN" ] && echo set
test -z "$OPENAI_API_KEY"
echo $MONKEY $PWD $TOKENIZERS
declare -p PATH
export FORCE_COLOR=1
set -e
TOKEN=x; echo $TOKEN
n=HOME; echo ${!n}
echo ${!GO@}
echo '$HOME' | envsubst
envsubst '$HOME $USER' < f
locale
`, true},
	}
	for _, tt := range tests {
		for line := range strings.SplitSeq(strings.TrimSpace(tt.lines), "\n") {
			if got := runsUnasked(line); got != tt.unasked {
				t.Errorf("%s: %q runs unasked: %v: %+v", tt.name, line, got, Parse(line, neverSafeEnv))
			}
		}
	}
}

func TestHereDocumentHoldsSecret(t *testing.T) {
	t.Parallel()
	if runsUnasked("cat <<EOF\n$GITHUB_TOKEN\nEOF") {
		t.Error("a here-document prints a secret unasked")
	}
	if !runsUnasked("cat <<EOF\n$HOME\nEOF") || !runsUnasked("cat <<'EOF'\n$GITHUB_TOKEN\nEOF") {
		t.Error("a here-document without a secret asks")
	}
}

// TestHarmlessValues checks values of variables that remove a program or name one that only
// prints, and similar values, which ask.
func TestHarmlessValues(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"PAGER=cat git log -1", "GIT_PAGER= git diff", "export GIT_PAGER=cat; git log", "GOWORK=off go build ./...",
		"GOFLAGS=-mod=vendor go vet ./...",
		"RUSTFLAGS='-D warnings' cargo check", "RAILS_ENV=test bundle exec rspec", "declare -f", "declare -F f",
		"git diff $(git merge-base main HEAD)..HEAD -- src", `git show "$(git log -1 --format=%H)" --stat`,
		"git log --format=%h -3 | xargs -n1 git show --stat",
		"PYTHONPATH=src pytest -q", "PYTHONPATH=.:lib python -m pytest", "npx tsc --noEmit --pretty false",
		"pytest -o log_cli=true", "npx vitest run --no-coverage",
		"git interpret-trailers --parse < a.txt", "git -c log.showSignature=false log -1",
	} {
		if !runsUnasked(line) {
			t.Errorf("asks: %s: %+v", line, Parse(line, neverSafeEnv))
		}
	}
	for _, line := range []string{
		"PAGER='cat;x' git log", "PAGER=./cat git log", "GIT_PAGER='cat x' git log", "GOFLAGS=-toolexec=x go build",
		"GOWORK=x go build", "RUSTFLAGS='-C linker=x' cargo check",
		"RUSTFLAGS='-D warnings -C linker=x' cargo check", "RAILS_ENV=production bundle exec rspec",
		"export PYTHONWARNINGS=error::evil.X; pytest", "PAGER=(cat x); git log",
		"PYTHONPATH=/tmp/x pytest", "PYTHONPATH=../x pytest", "PYTHONPATH=src: pytest", "PYTHONPATH=src python x.py",
		"PYTHONPATH=src black --check .", "PYTHONPATH=$X pytest", "PYTHONPATH=src python -m x",
		"npx tsc --noEmit false", "npx tsc --noEmit --pretty false --noEmit false", "npx tsc --noEmit false --pretty",
		"pytest -o addopts=-pevil", "pytest() { sh x; }; PYTHONPATH=src pytest",
		"declare -fx x", "declare -p", "git interpret-trailers --parse --trailer x=y", "git interpret-trailers",
		"git diff $(git branch)..HEAD -- src",
		`git show "$(git log -1 --format=%s)"`, `git show "$(git log -1 --format=%H%n%s)"`,
		`git show "$(git log -p -1 --format=%H)"`, "cat $(git ls-files)/..", "f=$(find src); cat $f/../../x",
		"for f in $(ls); do cat $f./x; done",
	} {
		if runsUnasked(line) {
			t.Errorf("runs unasked: %s", line)
		}
	}
}
