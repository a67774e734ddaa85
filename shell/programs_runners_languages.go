package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

const runsProject = "runs code of the project"

// languageRunners are the tools of languages that build and test a project with one program,
// and runners for tests. As with cargo, building the project and running its tests is allowed;
// publishing, installing or running anything else asks.
var languageRunners = []program{
	// safe: mix --version
	{
		names: "mix", risk: umpire.Medium, consequence: lost, why: buildsOrRuns, style: leading,
		about: "--version --help -h",
		subs: []program{
			// safe: mix test --trace test/a_test.exs:12
			{names: "test", risk: umpire.Safe, why: runsTests, args: "read…", check: checkRunner, opts: []option{
				{flags: "--trace --stale --failed --color --no-color --warnings-as-errors --all-warnings --no-start " +
					"--no-compile --no-deps-check --raise", values: "--only --exclude --include --seed " +
					"--max-failures --max-cases --slowest --timeout --exit-status --partitions", does: plain},
			}},
			{names: "compile", risk: umpire.Safe, why: runsTests, args: "none",
				opts: []option{{flags: "--warnings-as-errors --all-warnings --force --no-deps-check --verbose"}}},
			// safe: mix format --check-formatted
			// asks: mix format
			{names: "format", risk: umpire.Safe, why: "formats code", args: "read…", check: checkFormatter,
				opts: []option{{flags: "--check-formatted", why: "only checks"}, {flags: "--dry-run"}}},
			// asks: mix credo gen.config
			{
				names: "credo", risk: umpire.Safe, why: "checks code by the project's rules", args: "read…",
				check: checkCredo, opts: []option{
					{flags: "--strict -a --all --all-priorities --no-color --verbose",
						values: "--only --ignore --min-priority", does: plain},
				},
			},
			// asks: mix deps.get
			// asks: mix deps.get
			{names: "deps.get deps.update hex.publish archive.install local.hex local.rebar escript.install hex.user",
				each: true, risk: umpire.High, consequence: sent, why: changesPackages, lax: true},
		},
	},
	// asks: stack exec x
	// asks: cabal run
	{
		names: "stack cabal", risk: umpire.Medium, consequence: lost, why: buildsOrRuns, style: leading,
		about: "--version --help -h",
		subs: []program{
			// safe: stack test
			{names: "build test", each: true, risk: umpire.Safe, why: runsTests, check: checkTargets, opts: []option{
				{flags: "--fast --pedantic --no-run-tests --enable-tests --offline --keep-going",
					values: "--test-show-details", attached: "-v", does: plain},
			}},
			{names: "install i upgrade update upload publish", each: true, risk: umpire.High, consequence: sent,
				why: changesPackages, lax: true},
		},
	},
	// asks: dune exec x
	{
		names: "dune", risk: umpire.Medium, consequence: lost, why: buildsOrRuns, style: leading,
		about: "--version --help",
		subs: []program{
			// safe: dune build @check
			// asks: dune build @fmt --auto-promote
			{
				names: "build test runtest", each: true, risk: umpire.Safe, why: runsTests, args: "read…",
				check: checkTargets,
				opts: []option{
					{flags: "--force -f --no-buffer --release", values: "-j --profile --display", does: plain},
				},
			},
		},
	},
	// asks: swift run
	// asks: swift package update
	{
		names: "swift", risk: umpire.Medium, consequence: lost, why: buildsOrRuns, style: leading,
		about: "--version --help",
		subs: []program{
			// safe: swift test --filter Foo
			{
				names: "build test", each: true, risk: umpire.Safe, why: runsTests, args: "none", check: checkRunner,
				opts: []option{
					{flags: "--parallel --no-parallel -v --verbose -q --quiet --list-tests -l --skip-build " +
						"--build-tests --show-bin-path",
						values: "-c --configuration --filter --skip --target --product -j --jobs --num-workers",
						does:   plain},
				},
			},
		},
	},
	// asks: dart run x
	// asks: dart pub publish
	{
		names: "flutter dart", risk: umpire.Medium, consequence: lost, why: buildsOrRuns, style: leading,
		about: "--version --help -h", opts: []option{
			{flags: "--no-color --color --suppress-analytics --disable-analytics -v --verbose"},
		},
		subs: []program{
			// safe: flutter test test/a_test.dart
			{names: "test", risk: umpire.Safe, why: runsTests, args: "read…", check: checkRunner, opts: []option{
				{flags: "--fail-fast --no-color --color --run-skipped --chain-stack-traces --no-pub",
					values: "-n --name -N --plain-name -t --tags -x --exclude-tags -j --concurrency --timeout " +
						"--total-shards --shard-index --test-randomize-ordering-seed", does: plain},
				{values: "-r --reporter", does: plain},
			}},
			{
				names: "analyze", risk: umpire.Safe, why: "checks code by the project's rules", args: "tree…",
				opts: []option{
					{flags: "--fatal-infos --fatal-warnings --no-fatal-infos --no-fatal-warnings --no-pub " +
						"--no-preamble", values: "--format", does: plain},
				},
			},
			// safe: dart format -o none .
			// asks: dart format .
			{
				names: "format", risk: umpire.Safe, why: "formats code", args: "tree…", check: checkDartFormat,
				opts: []option{
					{values: "-o --output", does: plain},
					{flags: "--set-exit-if-changed", values: "-l --line-length --page-width --show --summary --indent",
						does: plain},
				},
			},
			{names: "doctor devices emulators info", each: true, risk: umpire.Safe, why: "tells what is installed",
				args: "none", opts: []option{{flags: "-v --verbose --no-color"}}},
			{names: publishing, each: true, risk: umpire.High, consequence: sent, why: changesPackages, lax: true},
		},
	},
	// asks: zig cc a.c
	{names: "zig", risk: umpire.Medium, consequence: lost, why: buildsOrRuns, style: leading, subs: []program{
		{names: "version env targets zen", each: true, risk: umpire.Safe, why: "prints what it knows", args: "none"},
		// safe: zig build test
		// asks: zig build run
		{names: "build", risk: umpire.Safe, why: runsTests, style: words, check: checkZigSteps,
			opts: []option{
				{flags: "--verbose", values: "-Doptimize --summary", attached: "-Drelease -freference-trace",
					does: plain},
			}},
		// asks: zig fmt src
		{names: "fmt", risk: umpire.Safe, why: "formats code", args: "tree…", check: checkFormatter,
			opts: []option{
				{flags: "--check", why: "only checks"},
				{flags: "--ast-check", values: "--color --exclude", does: plain},
			}},
		{names: "ast-check", risk: umpire.Safe, why: "checks the syntax", args: "read…",
			opts: []option{{flags: "-t", values: "--color", does: plain}}},
	}},
	// safe: rake test
	// asks: rake
	// asks: rake -f x test
	// asks: rake test deploy
	{
		names: "rake", manifests: "rakefile Rakefile rakefile.rb Rakefile.rb", risk: umpire.Medium, consequence: lost,
		why: buildsOrRuns, check: checkRake,
		about: "--version -V --help -h -H",
		opts:  []option{{flags: "--quiet -q --silent -s", attached: "--trace", does: plain}}},
	// asks: rails db:drop
	// asks: rails runner x
	{
		names: "rails", risk: umpire.Medium, consequence: lost, why: runsProject, style: leading, about: "--version -v",
		subs: []program{
			// safe: rails test test/a_test.rb
			{
				names: "test test:all test:system", each: true, risk: umpire.Safe, why: runsTests, args: "read…",
				check: checkRunner, opts: []option{
					{flags: "-v --verbose -b --backtrace -f --fail-fast -d --defer-output -c --color --no-color",
						values: "-n --name -s --seed", attached: "--profile", does: plain},
				},
			},
			// safe: rails routes -g users
			{names: "routes", risk: umpire.Safe, why: runsProject,
				opts: []option{{flags: "--expanded -E", values: "-c -g --controller --grep", does: plain}}},
			{names: "about stats notes initializers middleware zeitwerk:check db:migrate:status db:version", each: true,
				risk: umpire.Safe, why: runsProject, args: "none"},
		},
	},
	// asks: artisan tinker
	{
		names: "artisan", risk: umpire.Medium, consequence: lost, why: runsProject, style: leading,
		about: "--version -V --help -h",
		subs: []program{
			// safe: artisan test --filter UserTest
			// asks: artisan test -c x.xml
			{names: "test", risk: umpire.Safe, why: runsTests, args: "read…", check: checkRunner, opts: []option{
				{flags: "--parallel --stop-on-failure --compact -v", values: "--filter --testsuite --group",
					does: plain},
			}},
			{names: "about list route:list migrate:status", each: true, risk: umpire.Safe, why: runsProject,
				opts: []option{{flags: "-v", values: "--env", does: plain}}},
		},
	},
	// asks: console cache:clear
	{
		names: "console", risk: umpire.Medium, consequence: lost, why: runsProject, style: leading,
		about: "--version -V --help -h",
		subs: []program{
			// safe: console debug:router --env=test
			{names: "about list debug:router debug:container debug:autowiring debug:event-dispatcher router:match " +
				"lint:yaml lint:twig lint:container doctrine:schema:validate doctrine:migrations:status", each: true,
				risk: umpire.Safe, why: runsProject,
				opts: []option{{flags: "--no-debug -v", values: "--env", does: plain}}},
		},
	},
	// asks: manage.py shell
	{
		names: "manage.py", risk: umpire.Medium, consequence: lost, why: runsProject, style: leading,
		about: "--version --help -h",
		subs: []program{
			// safe: manage.py test --keepdb app.tests
			{names: "test", risk: umpire.Safe, why: runsTests, check: checkRunner, opts: []option{
				{flags: "--keepdb --failfast --noinput", values: "-v --verbosity -k --tag --exclude-tag",
					attached: "--parallel", does: plain},
			}},
			{names: "check showmigrations", each: true, risk: umpire.Safe, why: runsProject,
				opts: []option{{values: "-v --verbosity", does: plain}}},
		},
	},
	// asks: playwright codegen
	{
		names: "playwright", risk: umpire.Medium, consequence: lost, why: "drives browsers", style: leading,
		about: "--version -V --help -h",
		subs: []program{
			// safe: playwright test --grep a
			// asks: playwright test --reporter ./x.js
			{names: "test", risk: umpire.Safe, why: runsTests, args: "read…", check: checkRunner, opts: []option{
				{flags: "--list -x --forbid-only --fully-parallel --pass-with-no-tests --quiet --last-failed --no-deps",
					values: "-g --grep --grep-invert --project --workers -j --retries --repeat-each --timeout " +
						"--global-timeout --max-failures --shard --trace", does: plain},
				{values: "--reporter", does: obeys, why: "loads the reporter that it names",
					limits: &limits{except: "list line dot json junit github null"}},
			}},
			{names: "install install-deps uninstall", each: true, risk: umpire.High, consequence: sent,
				why: changesPackages, lax: true},
		},
	},
	// safe: ctest --output-on-failure
	// asks: ctest -S x.cmake
	// asks: ctest --build-and-test a b
	{names: "ctest", risk: umpire.Safe, why: runsTests, style: words, args: "none", check: checkRunner, opts: []option{
		{flags: "-N --show-only -V --verbose -VV --extra-verbose -Q --quiet --output-on-failure --stop-on-failure " +
			"--progress --rerun-failed --schedule-random", values: "--no-tests -R --tests-regex -E --exclude-regex " +
			"-L --label-regex -LE --label-exclude -C --build-config -j --parallel --timeout --repeat", does: plain},
		{values: "--test-dir", does: reads},
	}, about: "--version --help"},
	// safe: tox -e py311
	// asks: tox -e release
	// asks: tox -c other.ini
	{
		names: "tox", manifests: "tox.ini", risk: umpire.Safe, why: runsTests, style: leading, args: "none",
		check: checkRunner, about: "--version --help -h", opts: []option{
			{flags: "-q -v -l --listenvs -a --listenvs-all --recreate -r --notest --quiet --verbose",
				attached: "-p --parallel --skip-missing-interpreters --no-provision", does: plain},
			{values: "-e", does: asks, consequence: lost, why: "runs the environment that it names",
				limits: &limits{except: "py py3 py38 py39 py310 py311 py312 py313 py314 lint test tests unit type " +
					"types typing typecheck mypy ruff flake8 pylint format-check check"}},
		},
	},
}

// checkCredo judges `mix credo VERB`; without a verb it checks.
func checkCredo(u *use) {
	switch u.firstOperand() {
	case "list", "suggest", "explain", "categories", "version":
		u.operands = u.operands[1:]
	case "":
		if len(u.operands) > 0 {
			u.raise(umpire.Medium, "runs something known only at run time")
		}
	default:
		if !strings.Contains(u.firstOperand(), "/") {
			u.raise(umpire.Medium, umpire.Say("%s %s is not known", "mix credo", u.firstOperand()))
		}
	}
}

// checkTargets makes targets ask unless they name parts of the project.
func checkTargets(u *use) {
	for _, operand := range u.operands {
		if operand.maybeOption() || operand.open ||
			strings.HasPrefix(operand.text, "@") && !scan.HasField("@all @check @default @runtest @doc", operand.text) {
			u.raise(umpire.Medium, buildsOrRuns)
		}
	}
}

// checkDartFormat makes dart format ask unless it writes nothing.
func checkDartFormat(u *use) {
	if out := u.got("--output"); out == nil || !out.value.known() || !scan.HasField("none show json", out.value.text) {
		checkFormatter(u)
	}
}

// checkZigSteps allows zig build to run its default steps and the tests.
func checkZigSteps(u *use) {
	for _, step := range u.operands {
		if !step.known() || !scan.HasField("test check install", step.text) {
			u.raise(umpire.Medium, umpire.Say("runs the step %s of the build", step.display()))
		}
	}
	u.operands = nil
}

// checkRake allows the tasks that projects usually name their tests.
func checkRake(u *use) {
	tests := len(u.operands) > 0 && len(u.unknown) == 0 && !u.doubtful
	for _, task := range u.operands {
		tests = tests && task.known() && scan.HasField("test spec", task.text)
	}
	if tests {
		u.become(umpire.Safe, runsTests)
	}
	u.operands = nil
}
