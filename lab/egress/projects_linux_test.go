package egress

import (
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/umpirehq/umpire/internal/files/sample"
)

// A project is a small tree with the lines that install, build and test it.
type project struct {
	name, needs string
	lines       []string
	asks        map[string]string // the lines that ask, and why
	files       map[string]string
}

// Files of projects. Each program uses the package left.
const (
	nodePackage = `{"name":"p","version":"1.0.0","scripts":{"build":"node build.js","test":"node test.js"},` +
		`"dependencies":{"left":"^1.0.0"}}`
	nodeBuild = `const fs = require("fs"); require("left"); fs.mkdirSync("dist", {recursive: true}); ` +
		`fs.writeFileSync("dist/p.js", "1\n")`
	nodeTest    = `require("left"); require("assert").ok(require("./dist/p.js") !== undefined)`
	goMain      = "package main\n\nimport _ \"example.org/left\"\n\nfunc main() {}\n"
	goTest      = "package main\n\nimport \"testing\"\n\nfunc TestMain(*testing.M) { main() }\n"
	pythonTest  = "import unittest\nimport left\n\nclass T(unittest.TestCase):\n    def test(self): pass\n"
	rustLibrary = "#[test]\nfn works() { assert_eq!(left::left(), 1) }\n"
)

var allProjects = []project{
	{
		name: "npm", needs: "npm --version", lines: []string{"npm install", "npm run build", "npm test"},
		files: map[string]string{"package.json": nodePackage, "build.js": nodeBuild, "test.js": nodeTest},
	},
	{
		name: "npm with a lock file", needs: "npm --version", lines: []string{"npm ci", "npm run build", "npm test"},
		files: map[string]string{
			"package.json": nodePackage, "build.js": nodeBuild, "test.js": nodeTest,
			"package-lock.json": `{"name":"p","version":"1.0.0","lockfileVersion":3,"packages":{` +
				`"":{"name":"p","version":"1.0.0","dependencies":{"left":"^1.0.0"}},"node_modules/left":{"version":"1.0.0",` +
				`"resolved":"https://` + registry + `/left/-/left-1.0.0.tgz","bin":{"left":"index.js"}}}}`,
		},
	},
	{
		name: "npm with workspaces", needs: "npm --version",
		lines: []string{"npm install", "npm run build --workspaces", "npm test --workspaces"},
		files: map[string]string{
			"package.json":   `{"name":"all","private":true,"workspaces":["a"]}`,
			"a/package.json": nodePackage, "a/build.js": nodeBuild, "a/test.js": nodeTest,
		},
	},
	{
		name: "Go", needs: "go version", lines: []string{"go mod tidy", "go build -o bin/p .", "go test ./..."},
		files: map[string]string{"go.mod": "module p\n\ngo 1.21\n", "main.go": goMain, "main_test.go": goTest},
	},
	{
		name: "Go with vendored modules", needs: "go version",
		lines: []string{"go get example.org/left@v1.0.0", "go mod vendor", "go build ./...", "go test ./..."},
		files: map[string]string{"go.mod": "module p\n\ngo 1.21\n", "main.go": goMain, "main_test.go": goTest},
	},
	{
		name: "Python", needs: "python3 -m pip --version",
		lines: []string{"python3 -m pip install --target . left", "python3 -m compileall -q .", "python3 -m unittest"},
		files: map[string]string{"test_p.py": pythonTest},
	},
	{
		name: "Python in one file", needs: "python3 -m pip --version",
		lines: []string{
			"python3 -m pip install --target p left", "python3 -m zipapp p -o p.pyz", "python3 -m unittest discover p",
		},
		files: map[string]string{"p/__main__.py": "import left\n", "p/test_p.py": pythonTest},
	},
	{
		name: "Python with an environment", needs: "python3 -m pip --version",
		lines: []string{
			"python3 -m venv --without-pip --system-site-packages .venv",
			".venv/bin/python -m pip install -r requirements.txt", ".venv/bin/python -m unittest",
		},
		asks: map[string]string{
			"python3 -m venv --without-pip --system-site-packages .venv": "a link leads to the machine's Python",
			".venv/bin/python -m pip install -r requirements.txt":        "the file may name other registries",
		},
		files: map[string]string{"requirements.txt": "left==1.0.0\n", "test_p.py": pythonTest},
	},
	{
		name: "Rust", needs: "cargo --version && cc --version", lines: []string{"cargo fetch", "cargo build", "cargo test"},
		files: map[string]string{".gitignore": "/target\n", "Cargo.toml": cargoManifest("p"), "src/lib.rs": rustLibrary},
	},
	{
		name: "Rust with a workspace", needs: "cargo --version && cc --version",
		lines: []string{"cargo add left --package a", "cargo build --workspace", "cargo test --workspace"},
		files: map[string]string{
			".gitignore": "/target\n", "Cargo.toml": "[workspace]\nmembers = [\"a\"]\nresolver = \"2\"\n",
			"a/Cargo.toml": "[package]\nname = \"a\"\nversion = \"1.0.0\"\nedition = \"2021\"\n", "a/src/lib.rs": rustLibrary,
		},
	},
	{
		name: "make with npm and Go", needs: "make --version && npm --version && go version",
		lines: []string{"make deps", "make build", "make test"},
		files: map[string]string{
			"Makefile": "deps:\n\tnpm install\n\tgo mod tidy\nbuild:\n\tnpm run build\n\tgo build -o bin/p .\n" +
				"test:\n\tnpm test\n\tgo test ./...\n",
			"package.json": nodePackage, "build.js": nodeBuild, "test.js": nodeTest,
			"go.mod": "module p\n\ngo 1.21\n", "main.go": goMain, "main_test.go": goTest,
		},
	},
}

// projects installs, builds and tests projects with their groups listed, and counts the lines that ask. Their
// commands reach the registries, and no other host.
func projects(t *testing.T, n *internet) {
	n.forget()
	var unasked, lines, asked atomic.Int32
	some := sample.Of(t, 4, allProjects)
	t.Run("all", func(t *testing.T) {
		for _, pr := range some {
			t.Run(pr.name, func(t *testing.T) {
				t.Parallel()
				needs(t, pr.needs)
				p := newPerson(t, n, "npm, go, pypi, crates")
				p.write(t, pr.files)
				for _, line := range pr.lines {
					why := p.questionAbout(t, line)
					if (why != "") != (pr.asks[line] != "") {
						t.Errorf("%s asks %q, want %q", line, why, pr.asks[line])
					}
					lines.Add(1)
					if why != "" {
						asked.Add(1)
					}
				}
				if len(pr.asks) == 0 && !t.Failed() {
					unasked.Add(1)
				}
			})
		}
	})
	n.quiet(t, registry, "proxy.golang.org", "pypi.org", crateIndex, crateFiles)
	t.Logf("figure: egress: %d of %d projects installed, built and tested unasked; %d of %d lines ask: %t",
		unasked.Load(), len(some), asked.Load(), lines.Load(), !t.Failed())
}

// questionAbout runs a line in a trial, keeps its effects, and returns why umpire would ask an agent's person before
// the line or after it, or "".
func (p *person) questionAbout(t *testing.T, line string) string {
	t.Helper()
	before := p.check(t, line)
	var r struct {
		Exit     int             `json:"exit_code"`
		Refused  json.RawMessage `json:"refused"`
		Decision *decision       `json:"decision"` // nil if nothing changed
	}
	out := p.decode(t, &r, "try", "--json", "--keep", "--", line)
	if r.Exit != 0 {
		t.Fatalf("%s: exit code %d, refused %s\n%s", line, r.Exit, r.Refused, out)
	}
	switch {
	case before.Verdict != "allow" && before.Trial != "first":
		return before.Reason
	case r.Decision != nil && r.Decision.Verdict != "allow":
		return r.Decision.Reason
	}
	if r.Refused != nil {
		t.Logf("%s: refused %s", line, r.Refused)
	}
	return ""
}
