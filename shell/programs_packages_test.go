package shell

import (
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
)

// A riskCase is a line and the worst risk of its accesses.
type riskCase struct {
	name, line string
	want       umpire.Risk
}

// checkFamilyRisks checks the risk of each line. A harmless line must not be in doubt either.
func checkFamilyRisks(t *testing.T, cases []riskCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name+" "+c.line, func(t *testing.T) {
			t.Parallel()
			got := umpire.Safe
			for _, a := range Parse(c.line, Env{Dir: "/p", Home: "/home/u"}) {
				got = umpire.Worse(got, a.Risk)
				if a.Doubt != "" && umpire.Low.AtLeast(c.want) {
					t.Errorf("in doubt: %s", a.Doubt)
				}
			}
			if got != c.want {
				t.Errorf("%s is %s, want %s", c.line, got, c.want)
			}
		})
	}
}

// accessOn returns the first access of a kind to a target, or nil.
func accessOn(line string, kind umpire.AccessKind, target string) *umpire.Access {
	all := Parse(line, Env{Dir: "/p", Home: "/home/u"})
	for i := range all {
		if all[i].Kind == kind && all[i].Target == target {
			return &all[i]
		}
	}
	return nil
}

// An accessCase is a line and an access that it must contain.
type accessCase struct {
	line   string
	kind   umpire.AccessKind
	target string
}

func checkFamilyAccesses(t *testing.T, cases []accessCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			if accessOn(c.line, c.kind, c.target) == nil {
				t.Errorf("no %s of %s in %+v", c.kind, c.target, Parse(c.line, Env{Dir: "/p", Home: "/home/u"}))
			}
		})
	}
}

func TestPackageManagers(t *testing.T) {
	t.Parallel()
	checkFamilyRisks(t, []riskCase{
		{"M-37", "npm list", umpire.Safe}, {"M-37", "npm ls --depth=0", umpire.Safe},
		{"M-37", "npm ls -g --depth 0", umpire.Safe},
		{"M-37", "npm outdated", umpire.Safe}, {"M-37", "npm view react versions --json", umpire.Safe},
		{"M-37", "npm view @types/node@20", umpire.Safe},
		{"M-37", "yarn list --pattern x", umpire.Safe}, {"M-37", "yarn info react", umpire.Safe},
		{"M-37", "yarn why react", umpire.Safe},
		{"M-37", "pnpm list -r", umpire.Safe}, {"M-37", "pnpm ls", umpire.Safe},
		{"M-37", "pnpm why react", umpire.Safe}, {"M-37", "bun pm ls", umpire.Safe},
		{"M-37 not a name", "npm view git+https://example.test/x.git", umpire.Medium},
		{"M-37 not known", `npm view "x$(cat notes.txt)"`, umpire.Medium},
		{"M-37 other registry", "npm view x --registry=https://example.test", umpire.Medium},
		{"M-37 shorthand", "npm view user/repo", umpire.Medium},
		{"M-38", "npm test", umpire.Safe}, {"M-38", "npm t", umpire.Safe}, {"M-38", "npm run test", umpire.Safe},
		{"M-38", "npm run lint", umpire.Safe}, {"M-38", "npm run check", umpire.Safe},
		{"M-38", "npm test -- src/a.test.ts", umpire.Safe}, {"M-38", "npm test -- --coverage", umpire.Safe},
		{"M-38", "yarn test", umpire.Safe}, {"M-38", "yarn lint", umpire.Safe}, {"M-38", "pnpm test", umpire.Safe},
		{"M-38", "bun test", umpire.Safe},
		{"M-38", "npx tsc --noEmit", umpire.Safe}, {"M-38", "npx tsc --noEmit -p tsconfig.json", umpire.Safe},
		{"M-38", "npx eslint src", umpire.Safe},
		{"M-38 boundary", "npm run test:deploy", umpire.Medium},
		{"M-38 boundary", "npx eslint-anything", umpire.Medium}, {"M-38", "npx eslint --fix src", umpire.Medium},
		{"M-38 abbreviation", "npx eslint --rulesd x src", umpire.Medium},
		{"M-38", "npx tsc", umpire.Medium}, {"M-38", "npx tsc --noEmit false", umpire.Medium},
		{"M-38", "npx eslint@8 src", umpire.Medium},
		{"M-38 option", "npm test -- --config=other.js", umpire.Medium},
		{"M-38 shell", "npm test --script-shell=./x", umpire.Medium},
		{"M-38 other script", "npm run build", umpire.Medium}, {"M-38 other script", "yarn build", umpire.Medium},
		{"M-38 other script", "npm start", umpire.Medium}, {"M-38 named by a variable", `npm run "$X"`, umpire.Medium},
		{"M-38 lists", "npm run", umpire.Safe},
		{"M-39", "npm --version", umpire.Safe},
		{"M-52", "npm install", umpire.High}, {"M-52", "npm install lodash", umpire.High},
		{"M-52", "npm ci", umpire.High}, {"M-52", "npm -C . i", umpire.High}, {"M-53", "npm i lodash", umpire.High},
		{"M-54", "yarn add x", umpire.High}, {"M-54 yarn alone installs", "yarn", umpire.High},
		{"M-54", "yarn --cwd .", umpire.High}, {"M-55", "pnpm add x", umpire.High}, {"M-56", "bun add x", umpire.High},
		{"M-57", "pip install x", umpire.High}, {"M-57", "pip3 install -r requirements.txt", umpire.High},
		{"M-57", "python3 -m pip install x", umpire.High}, {"M-57", "python -mpip install x", umpire.High},
		{"M-58", "brew install x", umpire.High},
		{"M-176", "sudo apt install curl", umpire.High}, {"M-179", "npm install lodash", umpire.High},
		{"publish", "npm publish", umpire.High}, {"publish", "cargo publish", umpire.High},
		{"download", "npx -y cowsay", umpire.High}, {"shell", "npx", umpire.Medium},
		{"shell", "cat x.sh | npx", umpire.Medium}, {"shell", "echo 'rm -r src' | npx", umpire.High},
		{"download", "pipx run x", umpire.High}, {"download", "pnpm dlx x", umpire.High},
		{"config", "npm config set registry https://example.test", umpire.High},
		{"config", "npm config get registry", umpire.Safe},
		{"pkg", "npm pkg set scripts.preinstall=./x", umpire.Medium}, {"audit", "npm audit", umpire.Low},
		{"audit", "npm audit fix", umpire.High},
		{"pip", "pip list", umpire.Safe}, {"pip", "pip show requests", umpire.Safe}, {"pip", "pip freeze", umpire.Safe},
		{"pip", "python -m pip list --format=json", umpire.Safe}, {"pip", "pip --python ./x list", umpire.Medium},
		{"pip", "pip config --editor './x' edit", umpire.High},
		{"system", "brew list", umpire.Safe}, {"system", "brew info go", umpire.Low},
		{"system", "apt list --installed", umpire.Safe}, {"system", "apt show curl", umpire.Safe},
		{"system", "apt-cache policy curl", umpire.Safe}, {"system", "dpkg -l", umpire.Safe},
		{"system", "dpkg -i x.deb", umpire.High},
		{"system", "rpm -qa", umpire.Safe}, {"system", "rpm -i x.rpm", umpire.High},
		{"system", "rpm --eval '%(id)'", umpire.High}, {"system", "apt -o Dpkg::Pre-Invoke::=x list", umpire.Medium},
		{"system", "yum -c x makecache", umpire.High}, {"other", "uv pip list", umpire.Safe},
		{"other", "uv run ./x.sh", umpire.Medium}, {"verify scripts", "rpm -qV x", umpire.Medium},
		{"fetches", "rpm -qp https://example.test/x.rpm", umpire.High}, {"builds", "uv tree", umpire.Medium},
		{"a package of that name", "emerge list", umpire.High}, {"other", "poetry run ./x.sh", umpire.Medium},
	})
	checkFamilyAccesses(t, []accessCase{
		{"pip install -r ../r.txt", umpire.KindRead, "/p/../r.txt"},
		{"npm test -- /etc/x", umpire.KindRead, "/etc/x"},
		{"npm --prefix /x test", umpire.KindRead, "/x"},
	})
}

// TestSubcommandsKeepTheirNames: an entry shared by several subcommands must let rules
// distinguish them.
func TestSubcommandsKeepTheirNames(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"yarn publish": "publish", "docker inspect x": "inspect", "docker push x": "push", "pnpm dlx x": "dlx",
		"go install x": "install", "npm i x": "install",
		"cargo yank x": "yank", "terraform plan": "plan", "kubectl describe pod x": "describe", "uv venv": "venv",
		"openssl rsa": "rsa", "apt search x": "search",
	} {
		if got := Parse(line, Env{Dir: "/p"})[0].Words[1]; got != want {
			t.Errorf("%s: rules see the subcommand %q, want %q", line, got, want)
		}
	}
}

// TestInstallersKeepUnlistedOptionsApart: a rule for any package must not cover an option that names another source.
func TestInstallersKeepUnlistedOptionsApart(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"pip install --trusted-host h x": "--trusted-host", "npm install --before 1 x": "--before",
		"pnpm add --dir d x": "--dir", "uv add --git g x": "--git", "yarn add --cwd d x": "--cwd",
	} {
		if got := Parse(line, Env{Dir: "/p"})[0].Extras; !slices.Contains(got, want) {
			t.Errorf("%s: rules see the extras %q, want %s", line, got, want)
		}
	}
}
