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
				{names: "--trace --stale --failed --only= --exclude= --include= --seed= --max-failures= --max-cases= " +
					"--slowest= --color --no-color --warnings-as-errors --all-warnings --no-start --no-compile " +
					"--no-deps-check --timeout= --raise --exit-status= --partitions=", does: plain},
			}},
			{names: "compile", risk: umpire.Safe, why: runsTests, args: "none",
				opts: []option{{names: "--warnings-as-errors --all-warnings --force --no-deps-check --verbose"}}},
			// safe: mix format --check-formatted
			// asks: mix format
			{names: "format", risk: umpire.Safe, why: "formats code", args: "read…", check: checkFormatter,
				opts: []option{{names: "--check-formatted", why: "only checks"}, {names: "--dry-run"}}},
			// asks: mix credo gen.config
			{
				names: "credo", risk: umpire.Safe, why: "checks code by the project's rules", args: "read…",
				check: checkCredo, opts: []option{
					{names: "--strict -a --all --only= --ignore= --min-priority= --all-priorities --no-color " +
						"--verbose", does: plain},
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
				{names: "--fast --pedantic --no-run-tests --enable-tests --offline --keep-going -v? " +
					"--test-show-details=", does: plain},
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
				opts:  []option{{names: "--force -f -j= --profile= --display= --no-buffer --release", does: plain}},
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
					{names: "-c= --configuration= --filter= --skip= --parallel --no-parallel -v --verbose -q --quiet " +
						"--list-tests -l --skip-build --target= --product= -j= --jobs= --build-tests --show-bin-path " +
						"--num-workers=", does: plain},
				},
			},
		},
	},
	// asks: dart run x
	// asks: dart pub publish
	{
		names: "flutter dart", risk: umpire.Medium, consequence: lost, why: buildsOrRuns, style: leading,
		about: "--version --help -h", opts: []option{
			{names: "--no-color --color --suppress-analytics --disable-analytics -v --verbose"},
		},
		subs: []program{
			// safe: flutter test test/a_test.dart
			{names: "test", risk: umpire.Safe, why: runsTests, args: "read…", check: checkRunner, opts: []option{
				{names: "-n= --name= -N= --plain-name= -t= --tags= -x= --exclude-tags= -j= --concurrency= " +
					"--fail-fast --no-color --color --run-skipped --chain-stack-traces --timeout= --total-shards= " +
					"--shard-index= --test-randomize-ordering-seed= --no-pub", does: plain},
				{names: "-r= --reporter=", does: plain},
			}},
			{
				names: "analyze", risk: umpire.Safe, why: "checks code by the project's rules", args: "tree…",
				opts: []option{
					{names: "--fatal-infos --fatal-warnings --no-fatal-infos --no-fatal-warnings --no-pub --format= " +
						"--no-preamble", does: plain},
				},
			},
			// safe: dart format -o none .
			// asks: dart format .
			{
				names: "format", risk: umpire.Safe, why: "formats code", args: "tree…", check: checkDartFormat,
				opts: []option{
					{names: "-o= --output=", does: plain},
					{names: "-l= --line-length= --page-width= --set-exit-if-changed --show= --summary= --indent=",
						does: plain},
				},
			},
			{names: "doctor devices emulators info", each: true, risk: umpire.Safe, why: "tells what is installed",
				args: "none", opts: []option{{names: "-v --verbose --no-color"}}},
			{names: publishing, each: true, risk: umpire.High, consequence: sent, why: changesPackages, lax: true},
		},
	},
	// asks: zig cc a.c
	{names: "zig", risk: umpire.Medium, consequence: lost, why: buildsOrRuns, style: leading, subs: []program{
		{names: "version env targets zen", each: true, risk: umpire.Safe, why: "prints what it knows", args: "none"},
		// safe: zig build test
		// asks: zig build run
		{names: "build", risk: umpire.Safe, why: runsTests, style: words, check: checkZigSteps,
			opts: []option{{names: "-Doptimize= -Drelease? --summary= -freference-trace? --verbose", does: plain}}},
		// asks: zig fmt src
		{names: "fmt", risk: umpire.Safe, why: "formats code", args: "tree…", check: checkFormatter,
			opts: []option{{names: "--check", why: "only checks"},
				{names: "--ast-check --color= --exclude=", does: plain}}},
		{names: "ast-check", risk: umpire.Safe, why: "checks the syntax", args: "read…",
			opts: []option{{names: "-t --color=", does: plain}}},
	}},
	// safe: rake test
	// asks: rake
	// asks: rake -f x test
	// asks: rake test deploy
	{
		names: "rake", manifests: "rakefile Rakefile rakefile.rb Rakefile.rb", risk: umpire.Medium, consequence: lost,
		why: buildsOrRuns, check: checkRake,
		about: "--version -V --help -h -H", opts: []option{{names: "--quiet -q --silent -s --trace?", does: plain}}},
	// asks: rails db:drop
	// asks: rails runner x
	{
		names: "rails", risk: umpire.Medium, consequence: lost, why: runsProject, style: leading, about: "--version -v",
		subs: []program{
			// safe: rails test test/a_test.rb
			{
				names: "test test:all test:system", each: true, risk: umpire.Safe, why: runsTests, args: "read…",
				check: checkRunner, opts: []option{
					{names: "-n= --name= -s= --seed= -v --verbose -b --backtrace -f --fail-fast -d --defer-output -c " +
						"--color --no-color --profile?", does: plain},
				},
			},
			// safe: rails routes -g users
			{names: "routes", risk: umpire.Safe, why: runsProject,
				opts: []option{{names: "-c= -g= --controller= --grep= --expanded -E", does: plain}}},
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
				{names: "--filter= --parallel --testsuite= --group= --stop-on-failure --compact -v", does: plain},
			}},
			{names: "about list route:list migrate:status", each: true, risk: umpire.Safe, why: runsProject,
				opts: []option{{names: "--env= -v", does: plain}}},
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
				risk: umpire.Safe, why: runsProject, opts: []option{{names: "--env= --no-debug -v", does: plain}}},
		},
	},
	// asks: manage.py shell
	{
		names: "manage.py", risk: umpire.Medium, consequence: lost, why: runsProject, style: leading,
		about: "--version --help -h",
		subs: []program{
			// safe: manage.py test --keepdb app.tests
			{names: "test", risk: umpire.Safe, why: runsTests, check: checkRunner, opts: []option{
				{names: "-v= --verbosity= --keepdb --failfast --noinput --parallel? -k= --tag= --exclude-tag=",
					does: plain},
			}},
			{names: "check showmigrations", each: true, risk: umpire.Safe, why: runsProject,
				opts: []option{{names: "-v= --verbosity=", does: plain}}},
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
				{names: "-g= --grep= --grep-invert= --list --project= --workers= -j= --retries= --repeat-each= " +
					"--timeout= --global-timeout= --max-failures= -x --forbid-only --fully-parallel " +
					"--pass-with-no-tests --quiet --shard= --last-failed --no-deps --trace=", does: plain},
				{names: "--reporter=", does: obeys, why: "loads the reporter that it names",
					except: "list line dot json junit github null"},
			}},
			{names: "install install-deps uninstall", each: true, risk: umpire.High, consequence: sent,
				why: changesPackages, lax: true},
		},
	},
	// safe: ctest --output-on-failure
	// asks: ctest -S x.cmake
	// asks: ctest --build-and-test a b
	{names: "ctest", risk: umpire.Safe, why: runsTests, style: words, args: "none", check: checkRunner, opts: []option{
		{names: "-N --show-only -V --verbose -VV --extra-verbose -Q --quiet --output-on-failure --stop-on-failure " +
			"--progress --no-tests= --rerun-failed -R= --tests-regex= -E= --exclude-regex= -L= --label-regex= -LE= " +
			"--label-exclude= -C= --build-config= -j= --parallel= --timeout= --repeat= --schedule-random", does: plain},
		{names: "--test-dir=", does: reads},
	}, about: "--version --help"},
	// safe: tox -e py311
	// asks: tox -e release
	// asks: tox -c other.ini
	{
		names: "tox", manifests: "tox.ini", risk: umpire.Safe, why: runsTests, style: leading, args: "none",
		check: checkRunner, about: "--version --help -h", opts: []option{
			{names: "-q -v -l --listenvs -a --listenvs-all -p? --parallel? --recreate -r --notest " +
				"--skip-missing-interpreters? --quiet --verbose --no-provision?", does: plain},
			{names: "-e=", does: asks, consequence: lost, why: "runs the environment that it names", except: "py py3 " +
				"py38 py39 py310 py311 py312 py313 py314 lint test tests unit type types typing typecheck mypy ruff " +
				"flake8 pylint format-check check"},
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
			u.raise(umpire.Medium, "runs what is not known before it runs")
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
