package shell

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// runsOwn is the reason why the wrappers of package managers run unasked in front of a check:
// the program they start is judged separately.
const runsOwn = "runs a program of the project's packages"

// projectChecks are the tests and checks that `poetry run`, `bundle exec`, `pnpm exec` and
// similar wrappers may start unasked. A project can give any of these names to its own program,
// which then runs like the project's tests.
const (
	projectChecks = ownPrograms + " " + pythonChecks + " biome rspec rubocop standardrb"
	pythonChecks  = "pytest py.test mypy ruff black isort flake8 pylint pyright basedpyright pycodestyle pydocstyle " +
		"pyflakes vulture bandit yamllint codespell"
)

// checkProjectRun judges the program that such a wrapper starts. Apart from those checks it can
// be anything.
func checkProjectRun(u *use) {
	command := u.takeOperands()
	if followProjectScript(u, command) {
		return
	}
	switch {
	case len(command) == 0:
		u.raise(umpire.Medium, "starts a program or a shell")
		return
	case !ownCheck(command):
		u.raise(umpire.Medium, "runs a program of the project")
	default:
		u.why = runsTests
	}
	walkInFreshShell(u, command)
	if len(u.unknown) > 0 || u.doubtful {
		walkSuspects(u, command[1:])
	}
}

// followProjectScript follows a script of pyproject.toml, which takes precedence over a
// program of the same name. It reports whether there is one.
func followProjectScript(u *use, command []word) bool {
	runner := u.program0()
	if !scan.HasField("pdm hatch poe", runner) || len(command) == 0 || !command[0].known() || len(u.given) > 0 {
		return false
	}
	for _, g := range u.global {
		if !scan.HasField("-q --quiet -v --verbose", g.name) && g.option.does&enters == 0 {
			return false
		}
	}
	name := command[0].text
	found := u.followRecipe(runner, name, command[1:], scan.HasField(checkScripts, name))
	switch {
	case found == noRecipe:
		return false
	case found == readRecipe:
	case scan.HasField(checkScripts, name):
		u.become(umpire.Safe, runsTests)
		u.operands = command[1:]
		checkScriptArgs(u)
	default:
		u.raise(umpire.Medium, umpire.Say("runs the script %s of the project", command[0].display()))
	}
	u.code = true
	return true
}

// checkPoe judges the task that poe runs.
func checkPoe(u *use) {
	command := u.takeOperands()
	if !followProjectScript(u, command) {
		u.raise(umpire.Medium, "runs a task of the project")
	}
}

// ownCheck reports whether a command begins with one of projectChecks, or with python -m and
// one of them.
func ownCheck(command []word) bool {
	name := command[0]
	if len(command) > 2 && name.known() && scan.HasField("python python3", name.text) && command[1].known() &&
		command[1].text == "-m" {
		name = command[2]
	}
	return name.known() && scan.HasField(projectChecks+" unittest", name.text)
}

// checkShownVersion judges `poetry version`, which with an operand changes the project's
// version.
func checkShownVersion(u *use) {
	if len(u.operands) > 0 || u.program0() == "hatch" {
		u.raiseTo(umpire.Medium, reversible, "changes the version")
	}
}
