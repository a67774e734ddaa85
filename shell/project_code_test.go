package shell

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// emptyProject returns a project without any of the files that programs obey.
func emptyProject() Env {
	env := testEnv
	env.Find = func(string, ...string) string { return "" }
	env.Entries = func(string) ([]string, error) { return nil, nil }
	return env
}

// runsProjectCode reports whether one of the accesses of a line runs project code.
func runsProjectCode(line string, env Env) bool {
	for _, a := range Parse(line, env) {
		if a.Code {
			return true
		}
	}
	return false
}

func TestProjectCode(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(`npm test
npm run lint
npm run build
npm t
yarn test
yarn lint
pnpm test
pnpm -r test
bun test
bun run test
npx eslint .
npx some-package
pnpm exec jest
poetry run pytest
poetry show
uv run pytest
bundle exec rspec
eslint .
eslint --print-config a.js
prettier --check .
stylelint a.css
jest
vitest run
mocha
playwright test
pytest -q
python3 -m pytest
python -m unittest
tox
nox
mypy .
pylint a.py
flake8
rspec
rubocop
phpunit
ctest
go test ./...
go build ./...
go vet ./...
go generate ./...
go run .
go tool stringer
golangci-lint run
cargo build
cargo check
cargo clippy
cargo test
cargo bench
cargo nextest run
mvn test
gradle test
dotnet test
dotnet build
swift test
mix test
mix format --check-formatted
deno test
deno lint
node --test
node server.js
make
make test
just
task build
cmake --build .
zig build
rake test
rails test
flutter test
./run.sh
bash run.sh
source env.sh
python3 a.py
pre-commit run
turbo run test
cd sub && npm test
env CI=1 npm test
timeout 5 go test ./...
sh -c 'npm test'
`) {
		if line = strings.TrimSpace(line); !runsProjectCode(line, emptyProject()) {
			t.Errorf("%s: is not marked as project code", line)
		}
	}
}

func TestNoProjectCode(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(`ls
git status
npm --version
npm ls
npm view react
yarn --version
yarn why react
pnpm list
eslint --version
pytest --version
go version
go list ./...
go env
go mod graph
gofmt -d .
ruff check .
black --check .
tsc --noEmit
cargo --version
cargo tree
cargo metadata
mvn -v
gradle -v
make --version
python3 -m json.tool a.json
python3 --version
pip list
shellcheck a.sh
brew list
apt list
`) {
		line = strings.TrimSpace(line)
		if got := Parse(line, emptyProject()); slices.ContainsFunc(got, func(a umpire.Access) bool { return a.Code }) {
			t.Errorf("%s: is marked as project code: %+v", line, got)
		}
	}
}

// TestMindedFiles: a file that a program always obeys makes even a look count as running
// project code, and so does a failed search for such files.
func TestMindedFiles(t *testing.T) {
	t.Parallel()
	for line, file := range map[string]string{
		"yarn --version": ".yarnrc.yml", "yarn info x": ".yarnrc", "npm ls": ".npmrc", "pnpm list": ".pnpmfile.cjs",
		"cargo tree": ".cargo/config.toml", "cargo --version": "rust-toolchain.toml",
		"cargo fmt --check": ".cargo/config",
		"mvn -v":            ".mvn", "dotnet --version": "global.json", "uv pip list": ".venv",
		"rustc --version": "rust-toolchain",
	} {
		env := emptyProject()
		env.Find = func(_ string, names ...string) string {
			if slices.Contains(names, file) {
				return file
			}
			return ""
		}
		if !runsProjectCode(line, env) {
			t.Errorf("%s beside %s: is not marked as project code", line, file)
		}
		if !runsProjectCode(line, testEnv) {
			t.Errorf("%s without a look at the files: is not marked as project code", line)
		}
		if runsProjectCode(line, emptyProject()) {
			t.Errorf("%s without %s: is marked as project code", line, file)
		}
	}
}

// TestShadowedModules: python -m looks into the working folder first.
func TestShadowedModules(t *testing.T) {
	t.Parallel()
	line := "cat a.json | python3 -m json.tool"
	for _, name := range []string{"json.py", "json", "argparse.py", "re.cpython-312-x86_64-linux-gnu.so", "enum.pyc"} {
		env := emptyProject()
		env.Entries = func(string) ([]string, error) { return []string{"readme.md", name}, nil }
		if !runsProjectCode(line, env) {
			t.Errorf("beside %s: is not marked as project code", name)
		}
		if runsProjectCode("python3 -I -m json.tool a.json", env) {
			t.Errorf("isolated, beside %s: is marked as project code", name)
		}
	}
	env := emptyProject()
	env.Entries = func(string) ([]string, error) { return nil, errors.New("no") }
	if !runsProjectCode(line, env) {
		t.Error("a folder that cannot be read: is not marked as project code")
	}
}

// TestEveryEntryIsReviewed walks the tables of codeFamilies: a use is marked as project code,
// or codeFree lists it with a reason.
func TestEveryEntryIsReviewed(t *testing.T) {
	t.Parallel()
	entries := 0
	var walk func(name, line, path string, p *program)
	walk = func(name, line, path string, p *program) {
		entries++
		free := freeOf(name, path)
		if got := runsProjectCode(line+" operand", emptyProject()); !got && !free {
			t.Errorf("%s: is neither marked as project code nor listed in codeFree", line)
		}
		for sub := range p.subcommands {
			for s := range strings.FieldsSeq(sub.names) {
				walk(name, line+" "+s, strings.TrimPrefix(path+"."+s, "."), sub)
			}
		}
	}
	for _, family := range codeFamilies {
		for i := range *family {
			for name := range strings.FieldsSeq((*family)[i].names) {
				walk(name, name, "", &(*family)[i])
			}
		}
	}
	if entries < 500 {
		t.Errorf("%d entries were walked", entries)
	}
}

// TestCodeFreeNamesEntries: the programs that codeFree and configuredPrograms list exist.
func TestCodeFreeNamesEntries(t *testing.T) {
	t.Parallel()
	w := &walker{tables: families[:], coded: codeFamilies[:]}
	for _, free := range codeFree {
		if free.why == "" {
			t.Errorf("%s %s: no why", free.programs, free.subs)
		}
		for sub := range strings.FieldsSeq(free.subs) {
			found := false
			for name := range strings.FieldsSeq(free.programs) {
				p := w.findProgram(name)
				for part := range strings.SplitSeq(sub, ".") {
					if p != nil {
						p = p.findSubcommand(part)
					}
				}
				found = found || p != nil
			}
			if !found {
				t.Errorf("%s: no entry %q", free.programs, sub)
			}
		}
		for name := range strings.FieldsSeq(free.programs) {
			if !w.codeProgram(name) {
				t.Errorf("%s: is in none of the tables", name)
			}
		}
	}
}
