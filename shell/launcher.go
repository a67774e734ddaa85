package shell

import (
	"cmp"
	"path"
	"strings"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// launchers are the files of a project that start a program of its packages, by their usual
// folder: npx, composer exec and bundle exec start them too. "" means any folder. A project can
// give any of these names to its own program, which then runs like the project's tests. A package
// manager installs the files of a folder unless the project writes them itself.
var launchers = [...]struct {
	folder, programs string
	own              bool
}{
	{"node_modules/.bin", ownPrograms + " biome", false},
	{".venv/bin", venvPrograms, false}, {"venv/bin", venvPrograms, false},
	{"vendor/bin", "phpunit pest phpstan psalm pint php-cs-fixer phpcs", false},
	{"bin", "rails rake rspec rubocop standardrb console phpunit", true},
	{"", "gradlew mvnw artisan manage.py", true},
}

const venvPrograms = pythonChecks + " coverage tox python python3 pip pip3"

// renamed are the launchers with another name than their program.
var renamed = map[string]string{"gradlew": "gradle", "mvnw": "mvn"}

// findLauncher returns the program that a file of the project starts, or nil, its name, and whether
// the project writes the file itself. The file must exist in the project, and the agent must not have
// changed it. A virtual environment links its Python from outside. Rules see the file as it is
// written on the line.
func findLauncher(w *walker, s *state, file word) (p *program, name string, own bool) {
	paths := s.absolutePaths(file)
	if w.env.Real == nil || !file.known() || len(paths) != 1 || !strings.Contains(file.text, "/") {
		return nil, "", false
	}
	dir, name := path.Split(paths[0])
	dir, target := w.env.Real(dir), w.env.Real(paths[0])
	if target == "" || !inProject(&w.env, dir) || !inProject(&w.env, target) && !scan.HasField("python python3", name) {
		return nil, "", false
	}
	for _, l := range launchers {
		if !scan.HasField(l.programs, name) || l.folder != "" && !strings.HasSuffix(dir, "/"+l.folder) {
			continue
		}
		if w.env.Wrote != nil && (w.env.Wrote(dir+"/"+name) || w.env.Wrote(target)) {
			return nil, "", false
		}
		name = cmp.Or(renamed[name], name)
		return w.findProgram(name), name, l.own
	}
	return nil, "", false
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

// startsLauncher reports whether an interpreter runs a launcher (php artisan, sh gradlew), and judges
// such a use.
func startsLauncher(u *use) bool {
	if len(u.given) > 0 || len(u.unknown) > 0 || len(u.operands) == 0 {
		return false
	}
	file := u.operands[0]
	if !strings.Contains(file.text, "/") {
		file.text = "./" + file.text
	}
	if p, _, _ := findLauncher(u.w, u.s, file); p == nil {
		return false
	}
	walkInFreshShell(u, append([]word{file}, u.operands[1:]...))
	u.why, u.code, u.operands = runsOwn, true, nil
	return true
}
