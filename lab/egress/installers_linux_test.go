package egress

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/umpirehq/umpire/internal/files/sample"
)

// Hosts of groups, each with something to fetch.
const (
	yarnRegistry = "registry.yarnpkg.com"
	debian       = "deb.debian.org"
	manuals      = "docs.python.org"
	github       = "github.com"
)

// An installer is a program that fetches, with a project of its own.
type installer struct {
	group, needs, line, made string
	first                    bool // it is tried first
	port                     string
	hosts                    []string // it fetches from
	reach                    string   // approved before the run, because the group also takes what it is sent
	files                    map[string]string
}

// needsLeft is a package of npm that needs another.
const needsLeft = `{"name":"p","version":"1.0.0","dependencies":{"left":"^1.0.0"}}`

var allInstallers = []installer{
	{ // it takes longest to give up
		group: "npm", needs: "yarn --version", first: true, line: "yarn install", made: "node_modules/left/index.js",
		hosts: []string{yarnRegistry}, files: map[string]string{"package.json": needsLeft},
	},
	{
		group: "npm", needs: "npm --version", first: true, line: "npm install", made: "node_modules/left/index.js",
		hosts: []string{registry}, files: map[string]string{"package.json": needsLeft},
	},
	{
		group: "npm", needs: "npm --version", first: true, line: "npm install left", made: "node_modules/left/index.js",
		hosts: []string{registry},
	},
	{
		group: "npm", needs: "npx --version", line: "npx --yes left", hosts: []string{registry},
		files: map[string]string{"package.json": `{"name":"p","version":"1.0.0"}`},
	},
	{
		group: "npm", needs: "pnpm --version", first: true, line: "pnpm install", made: "node_modules/left/index.js",
		hosts: []string{registry}, files: map[string]string{"package.json": needsLeft},
	},
	{
		group: "go", needs: "go version", first: true, line: "go get example.org/left@v1.0.0", made: "go.sum",
		hosts: []string{"proxy.golang.org"}, files: map[string]string{"go.mod": "module p\n\ngo 1.21\n"},
	},
	{
		group: "pypi", needs: "python3 -m pip --version", first: true, made: "lib/left.py",
		line: "python3 -m pip install --target lib left", hosts: []string{"pypi.org"},
	},
	{
		group: "crates", needs: "cargo --version && cc --version", line: "cargo build", made: "target/debug/libp.rlib",
		hosts: []string{crateIndex, crateFiles},
		files: map[string]string{"Cargo.toml": cargoManifest("p"), "src/lib.rs": "pub use left::left;\n"},
	},
	{
		group: "github", needs: "git version", made: "cloned/.git/HEAD", hosts: []string{github}, reach: github,
		line: "git clone -q https://" + github + "/me/public.git cloned && git -C cloned fetch -q",
	},
	{
		group: "docs", needs: "curl --version", line: "curl -sSf -o page.html https://" + manuals + "/3/",
		made: "page.html", hosts: []string{manuals},
	},
	{
		group: "debian", needs: "apt-get --version", made: "left_1.0.0_all.deb", hosts: []string{debian}, port: "80",
		line: "export APT_CONFIG=$PWD/apt.conf; apt-get update && apt-get download left",
		files: map[string]string{
			"apt.conf": `Dir::Etc::SourceList "./sources.list"; Dir::Etc::SourceParts "-"; Dir::State "./state"; ` +
				`Dir::State::status "./status"; Dir::Cache "./cache"; APT::Sandbox::User "root"; ` +
				`Acquire::Languages "none";`,
			"sources.list": "deb [trusted=yes] http://" + debian + "/ ./\n", "status": "",
			"state/lists/partial/.keep": "", "cache/archives/partial/.keep": "",
		},
	},
}

// cargoManifest is that of a package which needs the crate.
func cargoManifest(name string) string {
	return "[package]\nname = \"" + name + "\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n[dependencies]\nleft = \"1\"\n"
}

// installers runs real programs against servers of the test: first without their groups, then with them.
func installers(t *testing.T, n *internet) {
	n.forget()
	some := sample.Of(t, 4, allInstallers)
	t.Run("refused", func(t *testing.T) {
		for _, i := range some {
			t.Run(i.line, func(t *testing.T) { i.isRefused(t, n) })
		}
	})
	n.quiet(t)
	var hosts []string
	var fetched atomic.Int32
	t.Run("fetched", func(t *testing.T) {
		for _, i := range some {
			hosts = append(hosts, i.hosts...)
			t.Run(i.line, func(t *testing.T) {
				i.fetches(t, n)
				fetched.Add(1)
			})
		}
	})
	n.quiet(t, hosts...)
	t.Logf("figure: egress: %d of %d lines fetched from the hosts of their group alone, and nothing left without it: %t",
		fetched.Load(), len(some), !t.Failed())
}

// isRefused runs the installer without its group. Nothing leaves, and the card names the host.
func (i *installer) isRefused(t *testing.T, n *internet) {
	t.Parallel()
	needs(t, i.needs)
	p := newPerson(t, n, "rubygems")
	p.write(t, i.files)
	out, code := p.run(t, "try", "--keep", "--", i.line)
	if _, err := os.Stat(filepath.Join(p.project, i.made)); code == 0 || err == nil && i.made != "" {
		t.Errorf("exit code %d, %v\n%s", code, err, out)
	}
	if !strings.Contains(out, "It wants "+i.hosts[0]+":"+cmp.Or(i.port, "443")+", which a trial does not reach.") {
		t.Errorf("the card should name only %s:\n%s", i.hosts[0], out)
	}
}

// fetches runs the installer with its group. It reaches its hosts, and no other.
func (i *installer) fetches(t *testing.T, n *internet) {
	t.Parallel()
	needs(t, i.needs)
	p := newPerson(t, n, i.group)
	p.write(t, i.files)
	args := []string{"try", "--keep"}
	if i.reach != "" {
		args = append(args, "--reach", i.reach)
	}
	out, code := p.run(t, append(args, "--", i.line)...)
	if _, err := os.Stat(filepath.Join(p.project, i.made)); code != 0 || err != nil {
		t.Errorf("exit code %d, %v\n%s", code, err, out)
	}
	for _, host := range i.hosts {
		if !strings.Contains(out, "Reached: "+host+":"+cmp.Or(i.port, "443")+" ("+i.group+")") {
			t.Errorf("nothing says that it reached %s:\n%s", host, out)
		}
	}
	if strings.Count(out, "Reached: ") != len(i.hosts) {
		t.Errorf("it reached more:\n%s", out)
	}
	if d := p.check(t, i.line); (d.Trial == "first") != i.first {
		t.Errorf("tried first: %s, want %t", d.Trial, i.first)
	}
}

// write writes files into the project.
func (p *person) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(p.project, name)
		must(t, os.MkdirAll(filepath.Dir(at), 0o755))
		must(t, os.WriteFile(at, []byte(text), 0o644))
	}
}

// A decision is the answer of umpire check.
type decision struct {
	Verdict string `json:"verdict"`
	Trial   string `json:"trial"`
	Reason  string `json:"reason"`
}

// check decides about a line.
func (p *person) check(t *testing.T, line string) (d decision) {
	t.Helper()
	p.decode(t, &d, "check", "--json", "--", line)
	return d
}

// decode runs umpire in the project, decodes its answer, and returns its other output.
func (p *person) decode(t *testing.T, answer any, args ...string) string {
	t.Helper()
	cmd := p.command(t, args...)
	var rest bytes.Buffer
	cmd.Stderr = &rest
	out, err := cmd.Output()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatalf("%v\n%s%s", err, out, rest.String())
	}
	return rest.String()
}
