package shell

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// withFiles returns an Env with settings files, by path.
func withFiles(files map[string]string, git ...GitSetting) Env {
	return Env{
		Dir: "/p", Home: "/home/u", Git: func(string) ([]GitSetting, error) { return git, nil },
		Settings: func(dir string, names []string) ([]SettingsFile, error) {
			var found []SettingsFile
			for ; dir != "/"; dir = path.Dir(dir) {
				for _, name := range names {
					if text, ok := files[dir+"/"+name]; ok && text == "unreadable" {
						return nil, errors.New("no")
					} else if ok {
						found = append(found, SettingsFile{Path: dir + "/" + name, Text: text})
					}
				}
			}
			return found, nil
		},
	}
}

// online returns the network access of a line: "free" without a question, "asks" with a
// question about it, or "".
func online(line string, env Env) string {
	got := ""
	for _, a := range Parse(line, env) {
		switch {
		case a.Asks != "" || a.Risk.AtLeast(umpire.Medium):
			return "asks"
		case a.Online:
			got = "free"
		}
	}
	return got
}

// ordinaryLookups are typical look-ups in a project without settings.
var ordinaryLookups = []string{
	"npm view x", "npm info @types/node versions --json", "npm search router", "npm ping", "gh pr view 1",
	"gh pr diff 165 --name-only",
	"gh issue list", "gh api repos/o/r/pulls", "gh repo view o/r", "gh pr view https://github.com/o/r/pull/1",
	"gh pr view feature/a/b",
	"glab mr list", "kubectl get pods", "kubectl -n x describe pod y", "docker ps", "docker images",
	"docker container ls", "docker search redis",
	"cargo search serde", "cargo +stable info serde", "gem search rails", "brew info wget", "helm list", "aws s3 ls",
	"aws sts get-caller-identity",
	"gcloud projects list", "az account show", "dnf info gcc", "conda search numpy", "crictl ps",
	"npm outdated", "npm outdated --json react", "yarn outdated", "yarn info x version", "pnpm outdated --format=json",
	"pnpm view x versions", "pip index versions x", "pip list --outdated", "pip3 list -o", "gem outdated",
	"go list -m -versions golang.org/x/net", "go list -m -u all", "go list -m -json github.com/a/b@latest",
}

func TestOrdinaryLookupsAreFree(t *testing.T) {
	t.Parallel()
	for _, line := range ordinaryLookups {
		if got := online(line, withFiles(nil)); got != "free" {
			t.Errorf("%s: %q %+v", line, got, Parse(line, withFiles(nil)))
		}
	}
	harmless := map[string]string{"/p/.npmrc": "# settings\nsave-exact=true\n; more\nfund = false\r\nengine-strict\n"}
	if got := online("npm view x", withFiles(harmless)); got != "free" {
		t.Errorf("with a harmless .npmrc: %q", got)
	}
}

// Each file that may choose the server makes the look-up ask, wherever the program finds it.
func TestSettingsOfAProjectAsk(t *testing.T) {
	t.Parallel()
	hostile := map[string][]string{
		"npm view x": {
			"registry=http://127.0.0.1:1/", "//127.0.0.1:1/:_authToken=${GITHUB_TOKEN}", "@x:registry=http://evil",
			"https-proxy=http://evil", "proxy=http://evil", "fund=false\rregistry=http://evil",
			" registry = http://evil", "\"registry\"=http://evil", "user-agent=${GITHUB_TOKEN}", "${X}=y",
			"[x]\nfund=true", "cafile=x", "node-options=--require ./evil.js", "userconfig=./x", "globalconfig=./x",
			"\xef\xbb\xbfregistry=http://evil", "browser=./evil.sh", "unreadable",
		},
	}
	for line, texts := range hostile {
		for _, text := range texts {
			for _, where := range []string{"/p/.npmrc", "/p/sub/.npmrc"} {
				env := withFiles(map[string]string{where: text})
				env.Dir = "/p/sub"
				if got := online(line, env); got != "asks" {
					t.Errorf("%s with %s %q: %q", line, where, text, got)
				}
			}
		}
	}
	for line, name := range map[string]string{
		"cargo search serde": ".cargo/config.toml", "cargo info serde": ".cargo/config",
		"cargo +nightly search x": "rust-toolchain.toml",
		"gem search x":            ".gemrc", "conda search x": ".condarc",
		"az account show": ".azure/config", "glab mr list": ".git/glab-cli/config.yml",
	} {
		if got := online(line, withFiles(map[string]string{"/p/" + name: ""})); got != "asks" {
			t.Errorf("%s with %s: %q", line, name, got)
		}
	}
}

// Parse finds the settings where the program will look for them.
func TestSettingsAreFoundWhereTheProgramLooks(t *testing.T) {
	t.Parallel()
	env := withFiles(map[string]string{"/p/sub/.npmrc": "registry=http://evil"})
	for line, want := range map[string]string{
		"npm view x": "free", "cd sub && npm view x": "asks", "npm -C sub view x": "asks",
		"npm --prefix sub view x": "asks", "(cd sub; npm view x)": "asks",
		"time npm view y": "free", "cd sub && time npm view y": "asks", "cd $X && npm view x": "asks",
		"sh -c 'cd sub; npm view x'":     "asks",
		"npm view a; cd sub; npm view b": "asks", "xargs -n1 npm view < names": "asks",
	} {
		if got := online(line, env); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Remotes determine the host for clients of git hosts.
func TestRemotesOfARepositoryAsk(t *testing.T) {
	t.Parallel()
	remote := func(key, value string) Env {
		return withFiles(nil, GitSetting{Key: key, Value: value, File: "/p/.git/config"})
	}
	for _, tt := range []struct {
		line, key, value, want string
	}{
		{"gh pr view 1", "remote.origin.url", "https://evil.example/o/r.git", "free"}, // gh ignores it
		{"gh pr view 1", "remote.origin.gh-resolved", "base", "free"},
		{"gh pr view 1", "remote.origin.gh-resolved", "evil.example/o/r", "asks"},
		{"glab mr list", "remote.origin.url", "git@gitlab.com:o/r.git", "free"},
		{"glab mr list", "remote.origin.url", "https://gitlab.com/o/r", "free"},
		{"glab mr list", "remote.origin.url", "https://gitlab.com.evil.example/o/r", "asks"},
		{"glab mr list", "remote.origin.pushurl", "https://evil.example/o/r", "asks"},
		{"glab mr list", "url.https://evil.example/.insteadof", "https://gitlab.com/", "asks"},
	} {
		if got := online(tt.line, remote(tt.key, tt.value)); got != tt.want {
			t.Errorf("%s with %s = %s: %q, want %q", tt.line, tt.key, tt.value, got, tt.want)
		}
	}
	for _, line := range []string{
		"gh pr view https://evil.example/o/r/pull/1", "gh repo view evil.example/o/r",
		"gh repo view git@evil.example:o/r", "gh issue view HTTPS://github.com.evil.example/o/r/issues/1",
	} {
		if got := online(line, withFiles(nil)); got != "asks" {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// Variables that choose a server, a proxy, credentials or settings make every look-up ask,
// whether set for the command or exported earlier on the line.
func TestVariablesThatSteerAsk(t *testing.T) {
	t.Parallel()
	const names = ("HTTP_PROXY http_proxy HTTPS_PROXY https_proxy ALL_PROXY all_proxy NO_PROXY npm_config_registry " +
		"NPM_CONFIG_USERCONFIG npm_config_https_proxy GH_HOST GH_REPO GH_CONFIG_DIR GH_TOKEN GH_ENTERPRISE_TOKEN " +
		"GITLAB_HOST KUBECONFIG DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG CARGO_HOME CARGO_REGISTRIES_X_INDEX " +
		"CARGO_HTTP_PROXY RUSTUP_TOOLCHAIN PIP_INDEX_URL PIP_CONFIG_FILE PIP_PROXY VIRTUAL_ENV GEMRC GEM_HOME " +
		"CONDARC CONDA_PREFIX HOMEBREW_BOTTLE_DOMAIN HELM_KUBEAPISERVER AWS_ENDPOINT_URL AWS_CONFIG_FILE AWS_PROFILE " +
		"AZURE_CONFIG_DIR CLOUDSDK_CONFIG CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE NODE_OPTIONS NODE_EXTRA_CA_CERTS " +
		"NODE_TLS_REJECT_UNAUTHORIZED SSL_CERT_FILE REQUESTS_CA_BUNDLE HOME XDG_CONFIG_HOME")
	for name := range strings.FieldsSeq(names) {
		for _, lookup := range ordinaryLookups {
			for _, line := range []string{
				name + "=./x " + lookup, "export " + name + "=./x; " + lookup, "env " + name + "=./x " + lookup,
				"declare -x " + name + "=./x && " + lookup,
			} {
				if got := online(line, withFiles(nil)); got != "asks" {
					t.Errorf("%s: %q", line, got)
				}
			}
		}
	}
}

// Every entry that contacts a server is a look-up with a reason, or asks; each group of
// look-ups has entries.
func TestLookupsAreListed(t *testing.T) {
	t.Parallel()
	met := map[*lookup]bool{}
	everyProgram(func(table string, p *program) {
		for name := range strings.FieldsSeq(p.names) {
			entry := strings.TrimSuffix(table, p.name()) + name
			if l := findLookup(entry, program0(entry)); l != nil && slices.Contains(serverWhys, p.why) {
				met[l] = true
			}
		}
	})
	for i := range lookups {
		l := &lookups[i]
		judged := scan.HasField("aws gcloud az go", l.program) // judged by their checks
		if l.because == "" || !met[l] && !judged {
			t.Errorf("%s %s: no entry asks a server, or the reason is missing", l.program, l.verbs)
		}
	}
}

func program0(table string) string {
	name, _, _ := strings.Cut(table, " ")
	return name
}

// An unlisted look-up asks, although it is safe to start.
func TestUnlistedLookupsAsk(t *testing.T) {
	t.Parallel()
	for line := range strings.SplitSeq("yarn audit;pnpm audit;bun outdated;bun info x;bun pm view x;npm audit;"+
		"npm audit signatures;npm doctor;npm outdated --all;npm outdated -la;npm outdated $X;npm outdated http://evil/x;"+
		"docker compose ps;docker-compose ps;docker manifest inspect evil.example/x;helm show chart x;git ls-remote;"+
		"git remote show origin;pip search x;pip index versions $X;pip2 list -o;uv pip list --outdated;"+
		"poetry show --latest;poetry show -l;poetry search x;bundle outdated;composer outdated;cargo outdated;"+
		"go list -m -versions evil.example/x;go list -m -u evil.example/x;go list -m -versions $X;"+
		"go list -m -versions github.com.evil.example/x;go list -m 'github.com/a/b@v1?x=y';go list -mod=mod -m -u all;"+
		"go list -m -u -toolexec=./x all;go list -m -u -modfile=x all;go -C /x list -m -u $X;"+
		".venv/bin/pip index versions x;node_modules/.bin/npm outdated", ";") {
		if got := online(line, withFiles(nil)); got != "asks" {
			t.Errorf("%s: %q", line, got)
		}
	}
	if got := online("git remote show -n origin", withFiles(nil)); got != "" {
		t.Errorf("git remote show -n: %q", got)
	}
}

// Without Env.Settings, no look-up that obeys a settings file gets the network.
func TestLookupsInAnUnknownWorld(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"npm view x": "", "gh pr view 1": "", "kubectl get pods": "free", "docker ps": "free",
	} {
		if got := online(line, Env{Dir: "/p", Home: "/home/u"}); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// No rule for the program covers a setting, and the access names the setting.
func TestASettingIsAnAccessOfItsOwn(t *testing.T) {
	t.Parallel()
	all := Parse("npm view x; npm view y", withFiles(map[string]string{"/p/.npmrc": "registry=http://evil"}))
	named := 0
	for _, a := range all {
		if a.Table == ServerTable && a.Words[0] == "npm obeys /p/.npmrc" && strings.Contains(catalogue.English.Text(a.Reason), "/p/.npmrc") &&
			a.Asks == umpire.CodeNetwork && a.Risk == umpire.Medium {
			named++
		}
	}
	if named != 1 || len(all) != 3 {
		t.Errorf("%+v", all)
	}
}

// manifestLookups are look-ups that ask about the packages of a file, with harmless and hostile texts of it.
var manifestLookups = []struct{ lines, file, harmless, hostile string }{
	{
		"npm outdated;yarn outdated;pnpm outdated;pnpm view x;yarn info x", "package.json",
		`{}|{"dependencies":{"react":"1","@types/node":"*"},"scripts":{"x":"evil"},"name":"a b"}|` +
			`{"devDependencies":{"left-pad":"git+https://github.com/x/y"},"peerDependencies":{"a.b_c":"1"}}`,
		`{"dependencies":{"https://evil.example/x":"1"}}|{"devDependencies":{"a@http://evil":"1"}}|[]|{|` +
			`{"optionalDependencies":{"git+ssh://x":"1"}}|{"peerDependencies":{"user/repo":"1"}}|` +
			`{"dependencies":{"x%2f..":"1"}}|{"dependencies":{"../x":"1"}}|{"dependencies":{"a b":"1"}}|` +
			`{"dependencies":{"x?y":"1"}}|{"dependencies":{"":"1"}}|{"workspaces":["a"]}|{"dependencies":["http://x"]}|` +
			`{"packageManager":"yarn@https://evil/x.js"}|{"devEngines":{}}|{"pnpm":{}}|{"\u0064ependencies":{"http://x":"1"}}`,
	},
	{
		"yarn outdated;yarn info x", "yarn.lock",
		"a@^1:\n  version \"1\"\n  resolved \"https://r/a.tgz#1\"\n|a@npm:b@1:\n  name b\n  version \"2\"\n" +
			"  dependencies:\n    name \"^1.0\"",
		"a@1:\n  name \"http://evil/x\"|a@1:\n  \"name\" \"http://evil/x\"|a@1:\n\tname http://evil|a@1:\n  name: //evil|" +
			"a@1:\n  registry \"http://evil\"|a@1:\n  \"na\\u006de\" \"http://evil\"|a@1:\r  name http://evil",
	},
	{
		"go list -m -u all;go list -m -versions golang.org/x/net", "go.mod",
		"module x.example/y\n\ngo 1.25\n\nrequire golang.org/x/net v0.1.0 // indirect\n|" +
			"module x\nrequire (\n\tgithub.com/a/b v1.0.0\n\tk8s.io/api v0.1.0\n)\nreplace github.com/a/b => ../b\n|" +
			"replace github.com/a/b v1 => github.com/c/d v2\nexclude github.com/a/b v2\nretract v1.0.0\ntoolchain go1.25.1\n" +
			"tool github.com/a/b/cmd/x",
		"require evil.example/x v1|require (\n\tevil.example/x v1\n)|require (\n\tgithub.com/a/b v1\n\tevil.example v1\n)|" +
			"require \"evil.example/x\" v1|replace github.com/a/b => evil.example/x v1|require v1.0.0-x.dev v1|" +
			"replace (\n\tgithub.com/a/b => evil.example/x v1\n)|require github.com.evil.example/x v1|exclude evil.example/x v1|" +
			"require `evil.example/x` v1|require gitlab.example/x v1|tool evil.example/x/cmd",
	},
	{"go list -m -u all", "go.work", "", "go 1.25|use ."},
	{"yarn outdated", ".yarnrc.yml", "", "yarnPath: x|"}, {"yarn info x", ".yarnrc", "", "registry \"http://evil\""},
	{"pnpm outdated;pnpm view x", "pnpm-workspace.yaml", "", "packages: []"}, {"pnpm outdated", ".pnpmfile.cjs", "", "x"},
	{"pnpm outdated;pnpm view x;yarn info x;yarn outdated", ".corepack.env", "", "COREPACK_NPM_REGISTRY=http://evil|"},
	{"pip index versions x;pip list --outdated", ".venv/bin/pip", "", "#!x"},
	{"npm outdated;yarn outdated;pnpm view x", ".npmrc", "fund=false|# x", "registry=http://evil|@x:registry=http://evil"},
}

// TestLookupsOfManifests: a look-up that asks about the packages of a file is free only if their names are plain.
func TestLookupsOfManifests(t *testing.T) {
	t.Parallel()
	for _, m := range manifestLookups {
		for line := range strings.SplitSeq(m.lines, ";") {
			for want, texts := range map[string]string{"free": m.harmless, "asks": m.hostile} {
				if texts == "" {
					continue
				}
				for text := range strings.SplitSeq(texts, "|") {
					for _, where := range []string{"/p/", "/p/sub/"} {
						env := withFiles(map[string]string{where + m.file: text})
						env.Dir = "/p/sub"
						if got := online(line, env); got != want {
							t.Errorf("%s with %s%s %q: %q, want %q", line, where, m.file, text, got, want)
						}
					}
				}
			}
		}
	}
}
