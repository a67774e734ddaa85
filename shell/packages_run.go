package shell

import "github.com/umpirehq/umpire"

// runsOwn is why the wrappers of package managers run unasked in front of a check:
// what they start is judged by itself.
const runsOwn = "runs a program of the project's packages"

// projectChecks are the tests and checks that `poetry run`, `bundle exec`,
// `pnpm exec` and their kin may start unasked. A project can give any of these
// names to a program of its own; it runs as the project's tests do.
const projectChecks = ownPrograms + " biome pytest py.test mypy ruff black isort flake8 pylint pyright basedpyright pycodestyle pydocstyle pyflakes vulture bandit yamllint codespell " +
	"rspec rubocop standardrb"

// checkProjectRun judges the program that such a wrapper starts: any but those
// checks can be anything.
func checkProjectRun(u *use) {
	command := u.operands
	u.operands = nil
	switch {
	case len(command) == 0:
		u.raise(umpire.Medium, "starts a program or a shell")
		return
	case !ownCheck(command):
		u.raise(umpire.Medium, "runs a program of the project")
	default:
		u.why = runsTests
	}
	u.elsewhere(command)
	if len(u.unknown) > 0 || u.doubtful {
		u.suspects(command[1:])
	}
}

// ownCheck reports a command that begins with one of projectChecks, or with
// python -m and one of them.
func ownCheck(command []word) bool {
	name := command[0]
	if len(command) > 2 && name.known() && hasField("python python3", name.text) && command[1].known() && command[1].text == "-m" {
		name = command[2]
	}
	return name.known() && hasField(projectChecks+" unittest", name.text)
}

// checkShownVersion judges `poetry version`, which changes the project's version
// when it is given one.
func checkShownVersion(u *use) {
	if len(u.operands) > 0 || u.program0() == "hatch" {
		u.raiseTo(umpire.Medium, reversible, "changes the version")
	}
}
