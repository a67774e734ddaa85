package shell

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
)

// consequence returns the worst consequence that a line's facts state.
func consequence(line string) umpire.Consequence {
	facts := umpire.Facts{Accesses: Parse(line, testEnv)}
	for i := range facts.Accesses {
		a := &facts.Accesses[i]
		switch a.Kind { // the decision derives it, see package policy
		case umpire.KindRead:
			a.Consequence = umpire.Harmless
		case umpire.KindWrite:
			a.Consequence = umpire.Reversible
		case umpire.KindNetwork:
			a.Consequence = umpire.Outward
		case umpire.KindUnknown, umpire.KindExec, umpire.KindDelete, umpire.KindInvoke:
		}
	}
	return facts.Consequence()
}

// TestEveryRiskStatesItsConsequence: an entry riskier than low states its consequence, which no
// author can forget.
func TestEveryRiskStatesItsConsequence(t *testing.T) {
	t.Parallel()
	everyProgram(func(path string, p *program) {
		if p.risk.AtLeast(umpire.Medium) && p.consequence == unstated {
			t.Errorf("%s: states no consequence", path)
		}
		if p.risk == umpire.Critical && p.consequence != lost {
			t.Errorf("%s: is critical and not lost", path)
		}
		for opt := range p.options {
			if opt.does&(asks|harms) != 0 && opt.consequence == unstated {
				t.Errorf("%s %v: states no consequence", path, opt.names())
			}
			if opt.does&obeys != 0 && opt.consequence != unstated && opt.consequence != lost {
				t.Errorf("%s %v: obeys what nobody can judge, and is not lost", path, opt.names())
			}
			if opt.does&(deletes|drops) != 0 && opt.does&(asks|harms) != 0 && opt.consequence != lost {
				t.Errorf("%s %v: deletes and is not lost", path, opt.names())
			}
		}
	})
}

// TestConsequenceOfLines checks everyday lines.
func TestConsequenceOfLines(t *testing.T) {
	t.Parallel()
	for want, lines := range map[umpire.Consequence][]string{
		umpire.Harmless: {
			"ls -la", "cat a.go", "git status", "git log -3", "rg x src", "git diff --stat", "sed -n 1,5p a",
			"git clean -n", "find . -name x",
		},
		umpire.Reversible: {
			`git commit -m "test"`, "git add -A", "git checkout -b x", "git switch -c x", "git branch x", "git stash",
			"git stash push -m x", "git merge x", "git commit --amend", "git tag v1", "git fetch", "git pull",
			"git rebase main", "git reset --soft HEAD~1", "git rm a", "git mv a b", "chmod +x run.sh", "mkdir -p a/b",
			"cp a b", "mv a b", "sed -i s/a/b/ f", "gofmt -w .", "prettier --write src", "black .", "ruff check --fix",
			"npm install", "npm ci", "npm install left-pad", "yarn add x", "pnpm install", "go mod tidy",
			"pip install x", "pip install 'x[dev]>=2,<3' y", "npm install @a/b@2 c@latest", "uv sync", "cargo add serde", "npm test", "go test ./...", "go build ./...", "cargo build",
			"pytest", "tsc -p .", "eslint --fix src", "touch a", "ln -s a b", "tar xf a.tar", "echo x > f",
			"truncate -s 0 f", "git branch -d x", "gh repo clone a/b",
		},
		umpire.Outward: {
			"git push", "git push origin main", "git push --force", "git push --delete origin x", "npm publish",
			"gh pr create -t x", "gh pr merge 3", "curl -d @f https://example.com", "curl https://example.com",
			"wget https://example.com/a", "docker push a/b", "kubectl apply -f x.yaml", "terraform apply",
			"ssh host ls", "scp a host:b", "aws s3 rm s3://b/x", "nc example.com 80", "gh api -X POST /repos",
			"dig example.com",
		},
		umpire.Lost: {
			"rm a", "rm -rf build", "git reset --hard", "git clean -fd", "git checkout -- .", "git checkout main",
			"git restore a", "git branch -D x", "git stash drop", "git stash clear", "git rm -f a",
			"git checkout -f main", "git worktree remove x", "dd if=a of=b", "shred a", "kill 1234", "pkill node",
			"pip install ./x", "pip install -e .", "pip install -r r.txt", "pip install -i https://example.com x",
			"pip install git+https://example.com/x", "npm install ../x", "npm i --registry https://example.com x",
			"yarn add file:x", "pnpm add https://example.com/x.tgz", "uv add --index https://example.com x",
			"bun add ./x", "python3 x.py", "./x.sh", "bash deploy.sh", "make deploy", "nosuch --flag", "node x.js", "npm install -g x",
			"sudo apt-get install x", "find . -name x -delete", "rsync --delete a/ b/", "docker volume rm x",
			"docker rm x", "crontab -r", `eval "$(cat x)"`, "$X", "if then", "source env.sh",
			"git config core.hooksPath x", "python3 -c 'x()'", "npm run deploy", "psql -c 'drop table x'",
		},
	} {
		for _, line := range lines {
			if got := consequence(line); got != want {
				t.Errorf("%q is %s, want %s", line, got, want)
			}
		}
	}
}

// TestWrappingNeverLowersTheConsequence: nothing that runs a command does.
func TestWrappingNeverLowersTheConsequence(t *testing.T) {
	t.Parallel()
	around := rapid.SampledFrom([]string{
		"%s", "sudo %s", "env A=1 %s", "timeout 5 %s", "nice %s", "nohup %s", "time %s", "command %s", "xargs %s",
		"busybox %s", "( %s )", "{ %s; }",
		"if true; then %s; fi", "for i in 1; do %s; done", "f() { %s; }; f", "echo $( %s )", "! %s", "%s | cat",
		"true && %s", "watch %s", "cat < <(%s)",
		"git stash; %s", "%s; ls", "%s > out", "flock f %s", "script -c \"%s\"",
	})
	rapid.Check(t, func(t *rapid.T) {
		plain := simple().Draw(t, "command")
		line := fmt.Sprintf(around.Draw(t, "inner"), plain)
		if outer := around.Draw(t, "outer"); !strings.Contains(line, `"`) || !strings.Contains(outer, `"`) {
			line = fmt.Sprintf(outer, line)
		}
		if got, alone := consequence(line), consequence(plain); !got.AtLeast(alone) {
			t.Fatalf("%q is %s, alone %s", line, got, alone)
		}
	})
}

// TestAListIsAsBadAsItsWorstPart: `a; b` has exactly the worse consequence of both.
func TestAListIsAsBadAsItsWorstPart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := simple().Draw(t, "a"), simple().Draw(t, "b")
		want := umpire.WorseConsequence(consequence(a), consequence(b))
		if got := consequence(a + "; " + b); got != want {
			t.Fatalf("%q is %s, want %s", a+"; "+b, got, want)
		}
	})
}
