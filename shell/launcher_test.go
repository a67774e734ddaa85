package shell

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// projectWith returns an Env of the project /p, in which every launcher exists. links map paths
// to the places where they lead.
func projectWith(links map[string]string) Env {
	env := emptyProject()
	env.Dir, env.Home = "/p", "/home/u"
	env.Real = func(file string) string {
		file = path.Clean(file)
		for link, target := range links {
			if below, found := strings.CutPrefix(file+"/", link+"/"); found {
				file = path.Join(target, below)
			}
		}
		if strings.Contains(file, "missing") {
			return ""
		}
		return file
	}
	return env
}

// places returns the ways to name a launcher on a line that begins with the prefix.
func places(folder, name string) []string {
	file := path.Join(folder, name)
	return []string{
		"./" + file, "/p/" + file, "$PWD/" + file, "cd src && ../" + file, "./src/../" + file,
		"cd ./" + cmpDir(folder) + " && ./" + name, "timeout 60 ./" + file, "sub/" + file, "env -u A ./" + file,
	}
}

func cmpDir(folder string) string {
	if folder == "" {
		return "."
	}
	return folder
}

// programOf returns the program that a launcher starts.
func programOf(name string) string {
	if other, ok := renamed[name]; ok {
		return other
	}
	return name
}

// TestLaunchersAreJudgedAsTheirPrograms replaces the programs in the examples of the tables by
// the files that start them.
func TestLaunchersAreJudgedAsTheirPrograms(t *testing.T) {
	t.Parallel()
	env := projectWith(nil)
	examples, judged := readExamples(t), 0
	for _, l := range launchers {
		for name := range strings.FieldsSeq(l.programs) {
			for _, e := range examples {
				program, rest, _ := strings.Cut(e.line, " ")
				if program != programOf(name) || strings.ContainsAny(e.line, "|<>;&") {
					continue
				}
				judged++
				for _, file := range places(l.folder, name) {
					checkLauncherLine(t, env, file+" "+rest, e.safe)
				}
			}
		}
	}
	if judged < 60 {
		t.Errorf("only %d examples", judged)
	}
}

// checkLauncherLine checks that a line runs unasked, as project code, only if it should.
func checkLauncherLine(t *testing.T, env Env, line string, safe bool) {
	t.Helper()
	facts := Parse(line, env)
	if got := asksNothing(facts); got != safe && !strings.Contains(line, "/etc/") {
		t.Errorf("%s: runs unasked: %t, want %t: %+v", line, got, safe, facts)
	}
	if !slices.ContainsFunc(facts, func(a umpire.Access) bool { return a.Code && len(a.CodeFiles) > 0 }) {
		t.Errorf("%s: runs no code of the project", line)
	}
	if slices.ContainsFunc(facts, func(a umpire.Access) bool { return a.Online && a.Asks == "" && a.Code }) {
		t.Errorf("%s: code of the project gets the network", line)
	}
}

// everyLauncher calls f with a harmless line of every launcher, without its arguments.
func everyLauncher(f func(folder, name, arguments string)) {
	for _, l := range launchers {
		for name := range strings.FieldsSeq(l.programs) {
			switch programOf(name) {
			case "gradle", "mvn", "rails", "artisan", "manage.py", "rake", "playwright":
				f(l.folder, name, "test")
			case "phpstan":
				f(l.folder, name, "analyse src")
			case "php-cs-fixer", "biome":
				f(l.folder, name, "check src")
			case "rector":
				f(l.folder, name, "process --dry-run")
			case "ruff":
				f(l.folder, name, "check .")
			case "tsc", "vue-tsc":
				f(l.folder, name, "--noEmit")
			case "pint", "black", "isort":
				f(l.folder, name, "--check --test .")
			case "python", "python3":
				f(l.folder, name, "-c 'print(1)'")
			case "pip", "pip3":
				f(l.folder, name, "list")
			case "console":
				f(l.folder, name, "about")
			case "coverage":
				f(l.folder, name, "report")
			default:
				f(l.folder, name, "")
			}
		}
	}
}

// TestUnknownLaunchersAsk: a file is only a launcher if the project owns it, it exists, and
// neither the agent nor the line changed it.
func TestUnknownLaunchersAsk(t *testing.T) {
	t.Parallel()
	everyLauncher(func(folder, name, arguments string) {
		file := path.Join(folder, name)
		line := "./" + file + " " + arguments
		if folder != "venv/bin" && folder != ".venv/bin" && scan.HasField("pint isort black", name) {
			line = strings.Replace(line, "--check ", "", 1)
		} else {
			line = strings.Replace(line, " --test .", " .", 1)
		}
		if !asksNothing(Parse(line, projectWith(nil))) {
			t.Errorf("asks: %s: %+v", line, Parse(line, projectWith(nil)))
		}
		changed := projectWith(nil)
		changed.Wrote = func(written string) bool { return written == "/p/"+file }
		target := projectWith(map[string]string{"/p/" + file: "/p/real"})
		target.Wrote = func(written string) bool { return written == "/p/real" }
		for why, env := range map[string]Env{
			"it was changed": changed, "its target was changed": target,
			"its folder leads away": projectWith(map[string]string{"/p/" + path.Dir(file): "/opt/" + path.Dir(file)}),
			"no files are known":    emptyProject(),
		} {
			if asksNothing(Parse(line, env)) && (folder != "" || why != "its folder leads away") {
				t.Errorf("%s, and runs unasked: %s", why, line)
			}
		}
		if away := projectWith(map[string]string{"/p/" + file: "/opt/x"}); asksNothing(Parse(line, away)) &&
			!strings.HasPrefix(name, "python") {
			t.Errorf("leads away, and runs unasked: %s", line)
		}
		for _, before := range []string{
			"echo x > " + file, "cp a " + file, "mv a " + file, "ln -sf a " + file, "chmod +x " + file,
			"curl -so " + file + " http://localhost/", "sed -i s/a/b/ " + file, "tee " + file + " < a",
		} {
			if asksNothing(Parse(before+" && "+line, projectWith(nil))) {
				t.Errorf("runs unasked: %s && %s", before, line)
			}
		}
		for _, other := range []string{
			"/opt/" + file, "../other/" + file, "missing/" + file, "~/" + file, "$X/" + file, "/usr/" + file,
			"cd ../other && ./" + file, "cd $X && ./" + file,
		} {
			if known := knownByName(other, name); asksNothing(Parse(other+" "+arguments, projectWith(nil))) && !known {
				t.Errorf("runs unasked: %s %s", other, arguments)
			}
		}
	})
}

// knownByName reports whether a path is that of a program of the system.
func knownByName(file, name string) bool {
	p, _ := builtIn(name)
	return path.Dir(file) == "/usr/bin" && p != nil
}

// TestInterpretersOfLaunchers gives the launchers to interpreters.
func TestInterpretersOfLaunchers(t *testing.T) {
	t.Parallel()
	env := projectWith(nil)
	for _, line := range []string{
		"php artisan test", "php ./artisan route:list", "php bin/console about", "php vendor/bin/phpunit --filter A",
		"python3 manage.py test", "python manage.py check", "sh gradlew test", "bash ./mvnw -q verify",
		"ruby bin/rails test", "node node_modules/.bin/eslint .", "python .venv/bin/pytest -q",
	} {
		checkLauncherLine(t, env, line, true)
	}
	for _, line := range []string{
		"php artisan tinker", "php artisan migrate", "php -d x=y artisan test", "php x.php", "python manage.py shell",
		"python -i manage.py test", "sh -x gradlew publish", "sh gradlew run", "bash ./mvnw deploy", "ruby -r./x bin/rails test",
		"ruby bin/rails runner x", "node -r ./x node_modules/.bin/eslint .", "node node_modules/.bin/x", "php $X test",
		"php artisan$X test", "echo x > artisan; php artisan test", "sh < gradlew", "cd /opt && php artisan test",
	} {
		if asksNothing(Parse(line, env)) {
			t.Errorf("runs unasked: %s: %+v", line, Parse(line, env))
		}
	}
}

// TestRulesSeeLaunchersAsWritten: a rule for a program does not cover a file of its name.
func TestRulesSeeLaunchersAsWritten(t *testing.T) {
	t.Parallel()
	for _, a := range Parse("./bin/rails test a", projectWith(nil)) {
		if a.Kind == umpire.KindExec && (a.Words[0] != "./bin/rails" || a.Program != "rails" || a.Base != 2) {
			t.Errorf("%+v", a)
		}
	}
	for _, a := range Parse("./gradlew test", projectWith(nil)) {
		if a.Kind == umpire.KindExec && (a.Words[0] != "./gradlew" || a.Program != "gradlew") {
			t.Errorf("%+v", a)
		}
	}
}

// TestPackageRunnersAndFilesAgree: npx and the file that it starts are judged alike.
func TestPackageRunnersAndFilesAgree(t *testing.T) {
	t.Parallel()
	env := projectWith(nil)
	for name := range strings.FieldsSeq(ownPrograms) {
		for _, arguments := range []string{"", "--noEmit", "src", "--fix src", "--no-such-option", "-o out", "test"} {
			file := asksNothing(Parse("node_modules/.bin/"+name+" "+arguments, env))
			for _, runner := range []string{"npx ", "pnpm exec ", "pnpm ", "yarn ", "bunx "} {
				if got := asksNothing(Parse(runner+name+" "+arguments, env)); got != file {
					t.Errorf("%s%s %s: runs unasked: %t, but its file: %t", runner, name, arguments, got, file)
				}
			}
		}
	}
}

// TestOwnLaunchersThatOnlyInformAsk: a version asked for does not make a script of the project
// harmless.
func TestOwnLaunchersThatOnlyInformAsk(t *testing.T) {
	t.Parallel()
	everyLauncher(func(folder, name, _ string) {
		installed := folder != "" && folder != "bin"
		for _, start := range []string{"./", "/p/", "timeout 5 ./", "FOO=1 ./", "/p/vendor/q/"} {
			line := start + path.Join(folder, name) + " --version"
			env := projectWith(nil)
			if start == "/p/vendor/q/" {
				env.Dir = "/p/vendor/q"
			}
			if got := asksNothing(Parse(line, env)); got && !installed {
				t.Errorf("runs unasked: %s", line)
			} else if !got && installed && name != "pip3" && !strings.HasPrefix(start, "FOO") {
				t.Errorf("asks: %s: %+v", line, Parse(line, env))
			}
		}
	})
}
