package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// runsTests is the only default that lets project code run unasked: the project's own tests and
// type checks, started by a well-known runner with accepted options only. A rule that wants to
// ask can match this text.
const runsTests = "runs the project's own tests"

// testRunners are the programs that run a project's tests. They accept only options that select
// tests or format the report. An option that names a configuration, a plugin, a custom reporter
// or a file to write asks.
var testRunners = []program{
	// safe: pytest -q
	// asks: pytest --pdb
	{names: "pytest py.test", risk: umpire.Safe, why: runsTests, check: checkPytest, opts: []option{
		{flags: "-v -q -x -s -l"}, {flags: "-V", values: "-k -m -r -n", does: plain},
		{flags: "--verbose --quiet --exitfirst --lf --last-failed --ff --failed-first --nf --new-first --sw " +
			"--stepwise --sw-skip --stepwise-skip --collect-only --co --runxfail --showlocals --no-showlocals " +
			"--full-trace --no-header --no-summary --no-fold-skipped --disable-warnings --disable-pytest-warnings " +
			"--strict --strict-markers --strict-config --setup-only --setup-show --setup-plan --fixtures --funcargs " +
			"--fixtures-per-test --markers --keep-duplicates --noconftest --doctest-modules " +
			"--doctest-continue-on-failure --doctest-ignore-import-errors --no-cov --cov-branch --no-cov-on-fail " +
			"--forked --benchmark-skip --benchmark-disable --xfail-tb --force-short-summary", values: "--verbosity " +
			"--maxfail --tb --durations --durations-min --color --code-highlight --show-capture --capture --deselect " +
			"--cov-fail-under --timeout --numprocesses --dist --reruns --reruns-delay --asyncio-mode --import-mode " +
			"--log-level --log-cli-level --randomly-seed --random-order-seed --last-failed-no-failures", does: plain},
		{values: "--ignore --ignore-glob", attached: "--cov", does: reads},
		{values: "-p", does: obeys, why: "loads a plugin",
			limits: &limits{except: "no:cacheprovider no:warnings no:randomly no:xdist no:cov no:logging no:sugar " +
				"no:asyncio no:terminalreporter"}},
		{values: "-o --override-ini", does: obeys, why: "obeys another configuration, which can hold code",
			limits: &limits{except: "log_cli= log_cli_level= console_output_style= xfail_strict="}},
		{values: "-W --pythonwarnings", does: asks, consequence: lost, why: "loads the category that it names",
			limits: &limits{except: "ignore default error always once ignore::DeprecationWarning ignore::UserWarning " +
				"ignore::FutureWarning error::DeprecationWarning default::DeprecationWarning"}},
		{values: "--cov-report", does: asks, consequence: reversible, why: "writes a report",
			limits: &limits{except: "term term-missing term:skip-covered term-missing:skip-covered"}},
		{values: "--junitxml --junit-xml", does: writes | asks, consequence: reversible, why: "writes a report"},
		{values: "--basetemp", does: deletes | asks, consequence: lost, why: "empties the folder first"},
	}, about: "--version --help -h"},
	// safe: jest
	// asks: jest --config=x
	{names: "jest", risk: umpire.Safe, why: runsTests, args: "read…", check: checkRunner, opts: []option{
		{flags: "-b -i -f -e", values: "-t -w", does: plain, why: "chooses tests"},
		{flags: "--ci --coverage --no-coverage --verbose --silent --runInBand --passWithNoTests --detectOpenHandles " +
			"--forceExit --json --listTests --no-cache --onlyFailures --colors --color --no-color --no-colors " +
			"--noStackTrace --expand --errorOnDeprecated --logHeapUsage --showConfig --randomize --showSeed " +
			"--findRelatedTests --runTestsByPath --waitForUnhandledRejections", values: "--testNamePattern " +
			"--testPathPattern --testPathPatterns --testPathIgnorePatterns --maxWorkers --maxConcurrency " +
			"--testTimeout --seed --shard --workerIdleMemoryLimit --collectCoverageFrom --openHandlesTimeout",
			attached: "--bail", does: plain},
		{values: "--coverageReporters", does: obeys, why: "loads the reporter that it names",
			limits: &limits{except: "text text-summary lcov lcovonly html html-spa json json-summary clover " +
				"cobertura teamcity none"}},
		{attached: "--watch --watchAll --watchman", does: asks, consequence: reversible,
			why: "stays and waits for changes", limits: &limits{except: "false"}},
		{flags: "-o -u --onlyChanged --updateSnapshot", values: "--changedSince", does: asks, consequence: lost,
			why: "runs the version control or changes snapshots"},
	}, about: "--version --help -h"},
	// safe: vitest run
	// asks: vitest --ui
	{names: "vitest", risk: umpire.Safe, why: runsTests, args: "read…", check: checkVitest, opts: []option{
		{values: "-t", does: plain},
		{flags: "--run --coverage --no-color --color --passWithNoTests --no-file-parallelism --isolate --no-isolate " +
			"--hideSkippedTests --logHeapUsage --allowOnly --typecheck --no-watch --disableConsoleIntercept " +
			"--disable-console-intercept --globals --json --filesOnly --no-typecheck --no-coverage " +
			"--expandSnapshotDiff --sequence.shuffle --printConsoleTrace", values: "--testNamePattern --bail --shard " +
			"--retry --testTimeout --hookTimeout --teardownTimeout --maxWorkers --minWorkers --maxConcurrency " +
			"--project --exclude --sequence.seed", attached: "--silent", does: plain},
		{values: "--reporter", does: obeys, why: "loads the reporter that it names",
			limits: &limits{except: "default verbose basic dot json tap tap-flat junit hanging-process " +
				"github-actions tree minimal agent"}},
		{values: "--environment", does: obeys, why: "loads the environment that it names",
			limits: &limits{except: "node jsdom happy-dom edge-runtime"}},
		{values: "--pool", does: obeys, why: "loads the pool that it names",
			limits: &limits{except: "forks threads vmThreads vmForks"}},
		{flags: "-u", attached: "--watch -w --update", does: asks, consequence: reversible,
			why: "stays and waits for changes, or changes snapshots", limits: &limits{except: "false"}},
	}, about: "--version -v --help -h"},
	// safe: mocha
	// asks: mocha -r ./x
	{names: "mocha", risk: umpire.Safe, why: runsTests, args: "read…", check: checkRunner, opts: []option{
		{flags: "-i -b -c -p -S -A", values: "-g -f -t -s -j", does: plain},
		{flags: "--invert --bail --exit --no-exit --recursive --forbid-only --forbid-pending --full-trace --color " +
			"--no-color --no-colors --dry-run --parallel --no-parallel --sort --check-leaks --diff --no-diff " +
			"--inline-diffs --list-reporters --list-interfaces --async-only --allow-uncaught --fail-zero " +
			"--no-timeout --no-timeouts", values: "--grep --fgrep --timeout --retries --slow --jobs", does: plain},
		{values: "-R --reporter", does: obeys, why: "loads the reporter that it names",
			limits: &limits{except: "spec dot min json list tap nyan progress landing doc markdown xunit json-stream"}},
		{values: "-u --ui", does: obeys, why: "loads the interface that it names",
			limits: &limits{except: "bdd tdd qunit exports"}},
		{values: "--ignore --exclude", does: reads},
	}, about: "--version -V --help -h"},
	// safe: phpunit
	// asks: phpunit --bootstrap=x
	// safe: pest --filter a
	{names: "phpunit pest", risk: umpire.Safe, why: runsTests, args: "read…", check: checkRunner, opts: []option{
		{flags: "--testdox --no-coverage --no-logging --no-progress --no-results --no-output --stop-on-failure " +
			"--stop-on-error --stop-on-defect --stop-on-warning --stop-on-risky --stop-on-skipped " +
			"--stop-on-incomplete --fail-on-warning --fail-on-risky --fail-on-empty-test-suite --fail-on-deprecation " +
			"--fail-on-notice --fail-on-incomplete --fail-on-skipped --display-incomplete --display-skipped " +
			"--display-deprecations --display-errors --display-notices --display-warnings --display-all-issues " +
			"--list-tests --list-groups --list-suites --list-test-files --random-order --reverse-list --verbose " +
			"--debug --strict-coverage --disallow-test-output --enforce-time-limit --do-not-cache-result " +
			"--no-configuration --no-extensions --reverse-order --process-isolation", values: "--filter " +
			"--exclude-filter --group --exclude-group --testsuite --exclude-testsuite --covers --uses --columns " +
			"--order-by --random-order-seed --repeat --default-time-limit", attached: "--colors", does: plain},
		{flags: "-v"},
	}, about: "--version --help -h --check-version"},
	// safe: rspec
	// asks: rspec -r ./x
	{names: "rspec", risk: umpire.Safe, why: runsTests, args: "read…", check: checkRunner, opts: []option{
		{flags: "-c -n -b -w", values: "-e -E -t", attached: "-p", does: plain},
		{flags: "--no-fail-fast --next-failure --only-failures --no-profile --color --colour --no-color --no-colour " +
			"--force-color --dry-run --backtrace --warnings",
			values:   "--example --example-matches --tag --order --seed --failure-exit-code",
			attached: "--fail-fast --profile --bisect", does: plain},
		{values: "-P --pattern --exclude-pattern", does: reads},
		{values: "-f --format", does: obeys, why: "loads the formatter that it names",
			limits: &limits{except: "p progress d doc documentation j json h html f failures"}},
	}, about: "--version -v --help -h"},
	// safe: gotestsum --format dots -- -run TestX ./...
	// asks: gotestsum -- -exec ./x
	// asks: gotestsum --post-run-command ./x
	{names: "gotestsum", risk: umpire.Safe, why: runsTests, style: leading, about: "--version --help -h",
		check: func(u *use) { walkInFreshShell(u, append([]word{lit("go"), lit("test")}, u.takeOperands()...)) },
		opts: []option{
			{flags: "--no-color",
				values:   "-f --format --format-icons --hide-summary --max-fails --rerun-fails-max-failures",
				attached: "--rerun-fails", does: plain},
		}},
	// asks: dotnet run
	{
		names: "dotnet", risk: umpire.Medium, consequence: lost, why: buildsOrRuns, style: leading,
		about: "--version --info --list-sdks --list-runtimes --help -h",
		subs: []program{
			// safe: dotnet test
			{names: "test", risk: umpire.Safe, why: runsTests, args: "read…", check: checkDotnetTest, opts: []option{
				{flags: "-t", values: "-c -f -v -a", does: plain},
				{flags: "--no-build --no-restore --nologo --list-tests",
					values: "--filter --configuration --framework --verbosity --arch --os", does: plain},
				{values: "-l --logger", does: obeys, why: "loads a logger, which can write",
					limits: &limits{except: "console console;verbosity=quiet console;verbosity=minimal " +
						"console;verbosity=normal console;verbosity=detailed"}},
			}, about: "-h --help"},
			// safe: dotnet build --no-restore
			// asks: dotnet build -p:X=y
			{names: "build", risk: umpire.Safe, why: runsTests, args: "read…", check: checkDotnetTest, opts: []option{
				{values: "-c -f -v -a", does: plain},
				{flags: "--no-restore --nologo --no-incremental --no-dependencies",
					values: "--configuration --framework --verbosity --arch --os", attached: "--tl", does: plain},
			}, about: "-h --help"},
			// safe: dotnet format --verify-no-changes
			// asks: dotnet format
			{
				names: "format", risk: umpire.Safe, why: "formats code", args: "tree…", check: checkDotnetFormat,
				opts: []option{
					{flags: "--verify-no-changes", why: "only checks"},
					{flags: "--no-restore --include-generated", values: "--severity --diagnostics -v --verbosity",
						does: plain},
				},
			},
			{names: publishing, each: true, risk: umpire.High, consequence: sent, why: changesPackages, lax: true},
		},
	},
	// safe: mvn dependency:tree
	// asks: mvn dependency:get
	// safe: mvn test
	// asks: mvn deploy
	// asks: mvn install
	{
		names: "mvn", manifests: "pom.xml", risk: umpire.Safe, why: runsTests, style: words, check: checkMavenGoals,
		about: "--version -version -v --help -h", opts: []option{
			{flags: "-q --quiet -o --offline -B --batch-mode -e --errors -X --debug -ntp --no-transfer-progress -am " +
				"--also-make -amd --also-make-dependents -fae --fail-at-end -ff --fail-fast -N --non-recursive -V " +
				"--show-version", values: "-T --threads -pl --projects -Dtest -DfailIfNoTests " +
				"-Dsurefire.failIfNoSpecifiedTests -Dstyle.color", attached: "-DskipITs -DskipTests", does: plain},
		},
	},
	// safe: gradle check
	// safe: gradle tasks --all
	// asks: gradle publish
	// safe: gradle clean build
	// asks: gradle run
	{
		names: "gradle", manifests: "build.gradle build.gradle.kts settings.gradle settings.gradle.kts",
		risk: umpire.Safe, why: runsTests, check: checkGradleTasks, about: "--version -v --help -h", opts: []option{
			{flags: "-q -i -w -s", values: "-x --exclude-task", does: plain},
			{flags: "--quiet --info --warn --stacktrace --full-stacktrace --no-daemon --daemon --parallel " +
				"--no-parallel --continue --offline --rerun-tasks --build-cache --no-build-cache --all --dry-run " +
				"--configuration-cache --no-configuration-cache",
				values: "--console --warning-mode --max-workers --tests --configuration --dependency", does: plain},
		},
	},
}

const (
	buildsOrRuns = "builds or runs the project"
	publishing   = "deploy publish install upload release nuget workload push global"
)

// checkRunner makes a use ask if a word could be either a value or an option, depending on the
// parser.
func checkRunner(u *use) {
	for _, g := range u.given {
		if g.has && g.value.maybeOption() {
			u.raise(umpire.Medium,
				umpire.Say("gives %s the value %s, which may be an option", g.name, g.value.display()))
		}
	}
	for i, operand := range u.operands {
		switch {
		case operand.maybeOption():
			u.raise(umpire.Medium, umpire.Say("gives the tests the option %s", operand.display()))
		case strings.HasPrefix(operand.text, "@"):
			u.raise(umpire.Medium, umpire.Say("takes options from %s", operand.display()))
		default:
			// tests/test_a.py::test_b is one test of a file.
			u.operands[i].text, _, _ = strings.Cut(operand.text, "::")
		}
	}
}

// checkPytest records the files given to pytest, each with the name of a test.
func checkPytest(u *use) {
	checkRunner(u)
	u.touchAll(umpire.KindRead, u.operands, accessOf{})
	u.operands = nil
}

// checkVitest judges the word before the filters, which may be a subcommand.
func checkVitest(u *use) {
	checkRunner(u)
	if len(u.operands) == 0 {
		return
	}
	first := u.operands[0]
	switch {
	case !first.known():
		u.raise(umpire.Medium, "runs a command that is not known before it runs")
	case first.text == "init":
		u.raiseTo(umpire.High, sent, changesPackages)
	case scan.HasField("run related list", first.text):
		u.operands = u.operands[1:]
	case scan.HasField("watch dev bench typecheck", first.text):
		u.raiseTo(umpire.Medium, reversible, "stays and waits for changes, or measures")
	}
}

// checkDotnetTest makes settings after -- ask, because they can name adapters.
func checkDotnetTest(u *use) {
	checkRunner(u)
	for _, wd := range u.words {
		if wd.text == "--" {
			u.raise(umpire.Medium, "obeys settings given on the line")
		}
	}
}

// checkDotnetFormat makes dotnet format ask unless it only reports differences.
func checkDotnetFormat(u *use) {
	if scan.HasField("whitespace style analyzers", u.firstOperand()) {
		u.operands = u.operands[1:]
	}
	if u.got("--verify-no-changes") == nil {
		u.raiseTo(umpire.Medium, reversible, changesSources)
	}
}

// checkMavenGoals allows the goals that end before an installation.
func checkMavenGoals(u *use) {
	for i, goal := range u.operands {
		if goal.known() && goal.text == "install" {
			u.operands[i].text = "other" // for the other projects of this machine
		}
	}
	judgeGoals(u, func(goal string) bool {
		return scan.HasField("clean validate compile test-compile test package verify dependency:tree dependency:list "+
			"dependency:analyze checkstyle:check spotless:check spotbugs:check pmd:check", goal)
	})
}

// checkGradleTasks allows the tasks that build and test, in any of the projects.
func checkGradleTasks(u *use) {
	if slices.ContainsFunc(u.operands, func(task word) bool {
		return scan.HasField("properties", task.text[strings.LastIndexByte(task.text, ':')+1:])
	}) {
		u.askSecret("prints credentials")
	}
	judgeGoals(u, func(task string) bool {
		return scan.HasField("clean build assemble jar test check compileJava compileTestJava compileKotlin "+
			"compileTestKotlin testClasses classes lint ktlintCheck detekt spotlessCheck checkstyleMain "+
			"checkstyleTest tasks projects dependencies dependencyInsight", task[strings.LastIndexByte(task, ':')+1:])
	})
}

// judgeGoals judges a builder by the worst of its goals. With only harmless ones it counts as
// running the project's tests.
func judgeGoals(u *use, harmless func(string) bool) {
	checkRunner(u)
	goals := u.takeOperands()
	if len(goals) == 0 {
		u.raise(umpire.Medium, buildsOrRuns)
	}
	for _, goal := range goals {
		switch {
		case goal.known() && harmless(goal.text):
		case goal.known() && scan.HasField(publishing, goal.text[strings.LastIndexByte(goal.text, ':')+1:]):
			u.raiseTo(umpire.High, sent, changesPackages)
		default:
			u.raise(umpire.Medium, buildsOrRuns)
		}
	}
}
