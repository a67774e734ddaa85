package shell

import (
	"cmp"
	"path"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// launchers are the files of a project that start a program of its packages, by their usual
// folder: npx, composer exec and bundle exec start them too. "" means any folder. A project can
// give any of these names to its own program, which then runs like the project's tests.
var launchers = [...]struct{ folder, programs string }{
	{"node_modules/.bin", ownPrograms + " biome"},
	{".venv/bin", venvPrograms}, {"venv/bin", venvPrograms},
	{"vendor/bin", "phpunit pest phpstan psalm pint php-cs-fixer phpcs"},
	{"bin", "rails rake rspec rubocop standardrb console phpunit"},
	{"", "gradlew mvnw artisan manage.py"},
}

const venvPrograms = pythonChecks + " coverage tox python python3 pip pip3"

// renamed are the launchers with another name than their program.
var renamed = map[string]string{"gradlew": "gradle", "mvnw": "mvn"}

// findLauncher returns the program that a file of the project starts, and its name, or nil. The
// file must exist in the project, and the agent must not have changed it. A virtual environment
// links its Python from outside. Rules see the file as it is written on the line.
func findLauncher(w *walker, s *state, file word) (*program, string) {
	paths := s.absolutePaths(file)
	if w.env.Real == nil || !file.known() || len(paths) != 1 || !strings.Contains(file.text, "/") {
		return nil, ""
	}
	dir, name := path.Split(paths[0])
	dir, target := w.env.Real(dir), w.env.Real(paths[0])
	if target == "" || !inProject(&w.env, dir) || !inProject(&w.env, target) && !scan.HasField("python python3", name) {
		return nil, ""
	}
	for _, l := range launchers {
		if !scan.HasField(l.programs, name) || l.folder != "" && !strings.HasSuffix(dir, "/"+l.folder) {
			continue
		}
		if w.env.Wrote != nil && (w.env.Wrote(dir+"/"+name) || w.env.Wrote(target)) {
			return nil, ""
		}
		name = cmp.Or(renamed[name], name)
		return w.findProgram(name), name
	}
	return nil, ""
}

// inProject reports whether a path without links lies in the folder of the line, or in its work
// tree.
func inProject(env *Env, file string) bool {
	top := env.Dir
	if env.GitTop != nil {
		top = cmp.Or(env.GitTop(top), top)
	}
	top = env.Real(top)
	return top != "" && strings.HasPrefix(file+"/", strings.TrimSuffix(top, "/")+"/")
}

// askAboutOwnFile makes a launcher of the project's own ask that is given nothing to do but to print
// something about itself. Only those that a package manager installed are known to do just that.
func askAboutOwnFile(u *use) {
	if u.launcher.text != "" && !holdsAny(u.files[0], "node_modules/ vendor/ venv/") {
		u.raise(umpire.Medium, umpire.Say("runs the file %s", u.launcher.text))
	}
}

// startsLauncher judges an interpreter that is given a launcher instead of a script of its own:
// php artisan, sh gradlew. It reports whether that is so.
func startsLauncher(u *use) bool {
	if len(u.given) > 0 || len(u.unknown) > 0 || len(u.operands) == 0 {
		return false
	}
	file := u.operands[0]
	if !strings.Contains(file.text, "/") {
		file.text = "./" + file.text
	}
	if p, _ := findLauncher(u.w, u.s, file); p == nil {
		return false
	}
	walkInFreshShell(u, append([]word{file}, u.operands[1:]...))
	u.why, u.code, u.operands = runsOwn, true, nil
	return true
}
