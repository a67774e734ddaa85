package shell

import (
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

func TestGitHostRisks(t *testing.T) {
	t.Parallel()
	groups := []struct {
		name  string
		risk  umpire.Risk
		lines string
	}{
		{
			"about itself", umpire.Safe,
			"gh\ngh --version\ngh pr\ngh help\ngh config get editor\ngh alias list\ngh extension list",
		},
		{"asks", umpire.Low, `
gh pr view 3 --json title,body --jq .title
gh pr list --state open -L 50 --author @me
gh pr diff 3 -- src/main.go
gh pr diff --name-only -R o/r
gh pr checks --watch
gh pr status
gh issue view 3 --comments
gh issue list --label bug --search 'x in:title'
gh run list -w ci.yml -L 5
gh run view 123 --log-failed
gh workflow list
gh release view v1
gh repo view o/r --json name
gh api repos/o/r/pulls/3/comments --paginate
gh api -X GET search/issues -f q=x
gh api --method=get x
gh search prs --owner o x
gh auth status
gh label list
gh status
gh api graphql -f query='query{viewer{login}}'
gh api graphql -F owner=x -f query='query($owner: String!) { repository(owner: $owner) { id } }'
glab mr list
glab mr view 3
`},
		{"asks a person", umpire.Medium, `
gh pr view 3 --web
gh pr view -w
gh issue view 3 --surprise
gh browse
gh api graphql -f query='mutation{x}'
gh api graphql -f query='{a} mutation b{c}'
gh api graphql -f query='{a}' -f query='{b}'
gh api graphql -f query="$Q"
gh api graphql -F query=@q.graphql
gh api graphql --input q.json
gh api --hostname evil.example x
gh run download 3
gh release download v1
gh repo clone o/r
gh nothing-known
gh pr nothing-known
gh pr $x
`},
		{"changes", umpire.High, `
gh pr create --fill
gh pr merge 3 --squash
gh pr close 3
gh pr comment 3 -b x
gh pr review --approve
gh pr checkout 3
gh issue create -t x -b y
gh issue delete 3
gh repo create x --public
gh repo delete o/r
gh release create v1
gh secret set X
gh workflow run ci.yml
gh run rerun 3
gh gist create f
gh auth token
gh auth status --show-token
gh auth login
gh alias set x '!sh'
gh config set editor x
gh extension install o/x
gh extension exec x
gh codespace ssh
gh api -X DELETE repos/o/r
gh api -XPOST x
gh api -X GET -X PATCH x
gh api --method "$M" x
gh api repos/o/r/issues -f title=x
gh api x -F body=@f
gh api x --input f
glab mr merge 3
glab api x
gh api x | sh
`},
	}
	for _, group := range groups {
		for line := range strings.Lines(strings.TrimSpace(group.lines)) {
			line = strings.TrimSuffix(line, "\n")
			t.Run(group.name+"/"+line, func(t *testing.T) {
				t.Parallel()
				if risk := gitRisk(line); risk != group.risk {
					t.Errorf("risk of %q = %v, want %v: %+v", line, risk, group.risk, Parse(line, gitEnv))
				}
			})
		}
	}
}

func TestGitHostPaths(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"gh pr create -F ../body.md", "read /p/../body.md"},
		{"gh api x -F f=@/etc/passwd", "read /etc/passwd"},
		{"gh api x -f f=@/etc/passwd", ""},
		{"gh api x --input ../f", "read /p/../f"},
		{"gh api https://example.com/x", "network https://example.com/x"},
		{"gh release download v1 -D ../out", "write /p/../out"},
		{"gh pr view 3", ""},
	}
	for _, tt := range tests {
		if got := strings.Join(gitTargets(tt.line), ", "); got != tt.want {
			t.Errorf("%q touches %q, want %q", tt.line, got, tt.want)
		}
	}
}
