package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// A pattern, a list, a version or an archive member may name a file of secrets, and some
// programs print secrets that are not in a file.
func TestSecretsPrintedInOtherWays(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`yq -p props .env`, `yq -p=props '.' .env`, `fd -H '^\.env$' -x cat`, `fd -H .env --exec-batch head`, `fd -H -g .env -x cat`, `fd -H .env | xargs cat`, `fd -e pem -x cat`,
		`find . -regex '.*/\.env' -exec cat {} \;`, `find . -path '*/.env' -exec cat {} +`, `find . -iname '.ENV' -exec cat {} +`, `find . -wholename './.env' | xargs cat`,
		`find . -name .env | xargs cat`, `find . -name '*.pem' | xargs cat`, `find . -name '.*' -exec cat {} +`, `rg -g .env ''`, `rg --hidden -g '.env*' .`, `grep -r --include=.env '' .`, `ag -G '\.env$' ''`,
		`tree --fromfile .env`, `tree --fromtabfile .env`, `du --files0-from=.env`, `wc --files0-from=.env`, `sort --files0-from=.env`, `tar -cf - -T list`, `tar -tf a.tar -T .env`, `file -f .env`, `xargs -a .env echo`,
		`jq -n -f prog.jq`, `jq --from-file prog.jq data.json`, `docker inspect web`, `docker container inspect web`, `docker inspect -f '{{.Config.Env}}' web`, `docker inspect -f '{{json .}}' web`, `podman inspect web`,
		`docker compose config`, `docker-compose config`, `helm get values x`, `helm get all x`, `helm get manifest x`, `pbpaste`, `xclip -o`, `xclip -selection clipboard -o`, `xsel -b`, `xsel`, `wl-paste`,
		`git archive HEAD .env | tar -xO`, `git archive HEAD | tar -xO .env`, `tar -xOf a.tar .env`, `unzip -p a.zip .env`, `git config --blob HEAD:.env -l`, `git config --blob=HEAD:.env -l`, `git config -f .env -l`,
		`git show HEAD:.env`, `git cat-file -p HEAD:.env`, `echo HEAD:.env | git cat-file --batch`, `git rev-list --objects HEAD | git cat-file --batch`, `git diff -- .env`, `git log -p -- .env`,
		`git log --patch -- secrets/id_rsa`, `git log -L 1,2:.env`, `git grep x -- .env`, `git --no-pager blame .env`, `git format-patch --stdout -1 -- .env`, `git ls-files .env | xargs cat`,
		`cat .npmrc`, `cat .pypirc`, `cat .netrc`, `git checkout-index --temp .env`,
	} {
		if got := lineVerdict(t, line); got == umpire.Allow {
			t.Errorf("%s is allowed", line)
		}
	}
	for _, line := range []string{
		`fd -e go -x cat`, `fd main -x wc -l`, `find . -name '*.go' | xargs cat`, `find . -name '*.go' -exec cat {} +`, `find . -name .env`, `fd -H .env`, `rg -g '*.ts' x`, `rg -g '!node_modules' x`, `grep -r --include='*.go' x .`,
		`yq .name a.yaml`, `jq .a b.json`, `docker inspect -f '{{.State.Status}}' web`, `docker network inspect x`, `helm get notes x`, `helm list`,
		`git archive HEAD | tar -t`, `tar -xOf a.tar README.md`, `unzip -p a.zip a.txt`, `git show HEAD:main.go`, `git log -p -- src`, `git log -p -- '*.go'`, `git diff -- main.go`, `git ls-files src | xargs wc -l`, `git ls-files | xargs cat`,
		`tree`, `du -sh src`, `ls -la .env`, `test -f .env`, `git status .env`, `git check-ignore .env`, `find . -newer .env`, `git cat-file -p HEAD`, `find . -not -name .env -name '*.go' -exec cat {} +`,
	} {
		if got := lineVerdict(t, line); got != umpire.Allow {
			t.Errorf("%s is %s", line, got)
		}
	}
}

// lineVerdict decides a command line in a project with all its paths inside.
func lineVerdict(t *testing.T, line string) umpire.Verdict {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		t.Fatal(err)
	}
	call := umpire.Call{Tool: "Bash", Input: input}
	facts, err := FactsOf(call, shell.Env{Dir: testRoot, Home: testHome})
	if err != nil {
		t.Fatal(err)
	}
	for i := range facts.Accesses {
		if a := &facts.Accesses[i]; a.Paths() {
			a.Resolved, a.Place = a.Target, umpire.PlaceInside
		}
	}
	return Decide(newPolicy(t, testOptions), Query{Call: call, Facts: facts, Conditions: Conditions{Mode: umpire.ModeDefault}}).Verdict
}

// TestSecretsMeantByPatterns resolves patterns: each way to select a secret without spelling
// it, with each reader, in each way to pass the selection on.
func TestSecretsMeantByPatterns(t *testing.T) {
	t.Parallel()
	choices := []string{
		"ls -A", "ls -A | grep env", "ls -a | grep -i ENV", "ls -d .e*", "ls -d .[a-z]*", "find .e*", "find . -name '*nv'", "find . -name '.?nv'",
		"find . -name '[.]env'", "find . -iname '*ENV'", "find . -regex '.*env'", "find . -samefile .env", "find . -name '*_rsa'", "find . | grep 'rsa$'",
		"git ls-files '*env'", "git ls-files | grep env", "git ls-files | grep -F .env", "git diff --name-only | grep env", "fd -H env", "fd -uu 'env$'", "rg --files --hidden | grep env",
	}
	readers := []string{"cat", "head -1", "tail -n 1", "sed -n p", "awk 1", "grep .", "sort", "nl", "tac", "rev", "base64", "od -c", "strings", "cut -c1-9", "fold", "jq -R .", "paste", "iconv"}
	handed := []string{"%s | xargs %r", "%s | xargs -n1 %r", "%s | xargs -I{} %r {}", "%s | xargs -I@ %r @", "%r $(%s)", `%s | while read -r f; do %r "$f"; done`, `for f in $(%s); do %r "$f"; done`}
	lines := 0
	for _, choice := range choices {
		for _, reader := range readers {
			for _, how := range handed {
				line := strings.NewReplacer("%s", choice, "%r", reader).Replace(how)
				if lines++; lineVerdict(t, line) == umpire.Allow {
					t.Errorf("%s is allowed", line)
				}
			}
		}
	}
	if lines < 2000 {
		t.Errorf("only %d lines", lines)
	}
}

// TestSecretsBesidesWhatIsFound names a secret next to each result of a search, and versions of
// one in the index and in history.
func TestSecretsBesidesWhatIsFound(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`find . -type d -exec cat {}/.env \;`, `find src -type d -exec head -5 {}/.npmrc \;`, `find . -type d | xargs -I{} cat {}/.env`, `ls -d */ | xargs -I{} cat {}.env`,
		`fd -t d -x cat {}/.env`, `for d in */; do cat "$d.env"; done`, `for d in *; do cat "$d/.env"; done`, `find . -samefile .env -exec cat {} +`, `find .e* -exec cat {} +`,
		`grep -rh '' . --include='*nv'`, `rg --hidden -g '*env' ''`, `ag --hidden -G 'env$' .`,
		`git show :0:.env`, `git show :certs/server.key`, `git show ':(top).env'`, `git show "$(git rev-parse HEAD:.env)"`, `git cat-file -p $(git rev-parse HEAD:.env)`,
		`git stash show -p 'stash@{0}' -- .env`, `git stash list -p -- .env`, `git range-diff a..b c..d -- .env`, `git grep '' -- '*.key'`, `git grep '' -- '.e*'`, `git log -p -- '.e*'`,
		`git log --patc -- .env`, `git log --word-diff -- .env`, `git log --color-words -- .env`, `git log --binary -- .env`, `git log -W -- .env`, `git diff -- server.key`, `git diff server.key`, `git diff HEAD -- certs/id_rsa`, `git diff HEAD~1 prod.tfvars`, `git diff --word-diff --stat -- server.key`, `git stash show -p -- server.key`,
		`grep -r --inc=.env '' .`, `grep --recursive --incl '.env' '' .`, `echo HEAD:.env | git cat-file --batch-com`, `git config --blo HEAD:.env -l`,
	} {
		if lineVerdict(t, line) == umpire.Allow {
			t.Errorf("%s is allowed", line)
		}
	}
	for _, line := range []string{
		`ls -A`, `ls -A | wc -l`, `ls -A | grep foo`, `ls | xargs wc -l`, `find . -name '*test*' | xargs grep -l foo`, `find . -name '*config*' | xargs cat`, `git ls-files | grep test | xargs wc -l`,
		`git ls-files '*.go' | xargs cat`, `find . -type d -exec ls {}/src \;`, `find . -type d -exec cat {}/package.json \;`, `find . -name '*env*'`, `fd -H yml .github -x cat`, `rg -g '!*.lock' foo`,
		`git log --oneline -- .env`, `git diff main..dev.1`, `git diff v1.2 main.go`, `git diff --stat -- server.key`, `git diff --name-only -- .env`, `git show ':/fix .env'`, `git rev-parse HEAD:src/a.js`, `git stash show -p`, `git log -p -- src '*.go'`, `git grep foo -- '*.go' ':!vendor'`, `git diff -- . ':(exclude).env'`,
	} {
		if got := lineVerdict(t, line); got != umpire.Allow {
			t.Errorf("%s is %s", line, got)
		}
	}
}
