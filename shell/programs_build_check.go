package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// The kinds of files that formatters change. Prettier and biome also format settings in JSON
// and YAML, including those of editors and agents, without changing their meaning.
const (
	pythonFiles = ".py .pyi .ipynb"
	scriptFiles = ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte .astro"
	styleFiles  = ".css .scss .sass .less"
	webFiles    = scriptFiles + " " + styleFiles + " .json .json5 .jsonc .html .md .mdx .yaml .yml .graphql .gql .hbs"
)

const (
	changesSources = "changes source files"
	otherRules     = "obeys another configuration, which can hold code"
)

// packageChecks report what they find in a package, and change nothing.
const packageChecks = "publint dpdm jscpd svelte-check markdownlint-cli2 tsd type-coverage"

// codeChecks are the programs that format, check and test code. Those that read the project's
// own configuration obey the project: that is treated like its tests, as with `npm test`;
// another configuration asks.
var codeChecks = []program{
	// safe: tsc --noEmit
	// asks: tsc
	{names: "tsc vue-tsc", risk: umpire.Safe, why: "checks types", args: "read…", check: checkTsc, opts: []option{
		{flags: "--noEmit --showConfig --listFilesOnly"},
		{flags: "--pretty --strict --skipLibCheck --listFiles --allowJs --checkJs --esModuleInterop " +
			"--resolveJsonModule --noUnusedLocals --noUnusedParameters --noImplicitAny --strictNullChecks " +
			"--diagnostics --extendedDiagnostics --explainFiles --traceResolution --isolatedModules " +
			"--allowImportingTsExtensions --noErrorTruncation --preserveWatchOutput --downlevelIteration " +
			"--ignoreConfig", values: "--jsx --target --module --moduleResolution --lib --types", does: plain},
		{values: "-t -m", does: plain}, {values: "-p --project", does: reads, why: "obeys it"},
		{values: "--outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace --generateCpuProfile",
			does: writes | asks, consequence: reversible, why: "writes files"},
		{flags: "-b --build --init -w --watch --incremental --composite -d --declaration", does: asks,
			consequence: reversible, why: "writes files"},
	}, about: "-v --version -h --help --all"},
	// safe: eslint src
	// asks: eslint --fix src
	{
		names: "eslint", formats: scriptFiles + " .json .md", risk: umpire.Safe,
		why: "checks code by the project's rules", args: "tree…",
		about: "--version -v --help -h --env-info", opts: []option{
			{flags: "--quiet --no-color --color --cache --no-inline-config --report-unused-disable-directives " +
				"--no-error-on-unmatched-pattern --no-warn-ignored --pass-on-no-patterns --exit-on-fatal-error " +
				"--no-ignore --no-cache --debug --stdin --stats --no-eslintrc --no-config-lookup " +
				"--pass-on-unpruned-suppressions", values: "--ext --max-warnings " +
				"--report-unused-disable-directives-severity --ignore-pattern --env --global --rule --concurrency",
				does: plain},
			{values: "--ignore-path --stdin-filename", does: reads},
			{values: "-o --output-file --cache-location --cache-file --suppressions-location", does: writes | asks,
				consequence: reversible, why: "writes a report"},
			{flags: "--fix", does: edits | asks, consequence: reversible, why: changesSources},
			{flags: "--fix-dry-run --init --suppress-all --prune-suppressions", values: "--fix-type", does: asks,
				consequence: reversible, why: changesSources},
			{values: "-c --config --rulesdir --resolve-plugins-relative-to --plugin --parser --parser-options --flag",
				does: obeys, why: "loads code that it names"},
			{values: "-f --format", does: obeys, why: "loads the formatter that it names",
				limits: &limits{except: "stylish json json-with-metadata html compact unix"}},
			{flags: "--print-config"},
		},
	},
	// safe: prettier --check .
	// asks: prettier --write .
	{
		names: "prettier", formats: webFiles, risk: umpire.Safe, why: "prints formatted code", args: "tree…",
		about: "--version -v --help -h", opts: []option{
			{flags: "-c -l -u --check --list-different --ignore-unknown --no-config --no-editorconfig --no-color " +
				"--color --single-quote --no-semi --use-tabs --no-error-on-unmatched-pattern --with-node-modules " +
				"--support-info",
				values: "--tab-width --print-width --trailing-comma --loglevel --log-level --end-of-line --prose-wrap",
				does:   plain},
			{values: "--stdin-filepath --file-info --find-config-path", does: reads},
			{values: "--ignore-path", does: reads},
			{flags: "-w --write", does: edits | asks, consequence: reversible, why: changesSources},
			{values: "--parser", does: obeys, why: "loads a parser",
				limits: &limits{except: "acorn angular babel babel-flow babel-ts css espree flow glimmer graphql " +
					"html json json-stringify json5 jsonc less lwc markdown mdx mdx2 meriyah scss typescript vue " +
					"yaml"}},
			{values: "--config --plugin --config-precedence --plugin-search-dir", does: obeys, why: otherRules},
			{flags: "--cache", values: "--cache-location", does: asks, consequence: reversible, why: "writes a cache"},
		},
	},
	// safe: knip --production --dependencies
	// asks: knip --fix
	{names: "knip", risk: umpire.Safe, why: checksByRules, args: "none", opts: []option{
		{flags: "--production --strict --no-progress -n --dependencies --exports --files --include-entry-exports " +
			"--no-exit-code --no-gitignore", values: "--include --exclude --max-issues", does: plain},
	}, about: "--version -V --help -h"},
	// safe: madge --circular --extensions ts src
	// asks: madge --image x.svg src
	{names: "madge", risk: umpire.Safe, why: checksByRules, args: "tree…", opts: []option{
		{flags: "-c --circular --orphans --leaves -s --summary -j --json --no-color --no-spinner --no-count --warning",
			values: "--extensions -x --exclude --depends -d", does: plain},
	}, about: "--version -V --help -h"},
	// safe: depcheck --ignores=jest
	// asks: depcheck --parsers=./x
	{names: "depcheck", risk: umpire.Safe, why: checksByRules, args: "tree…", about: "--version --help", opts: []option{
		{flags: "--json --oneline --quiet", values: "--ignores --ignore-dirs --ignore-patterns",
			attached: "--skip-missing", does: plain},
	}},
	// safe: publint
	// asks: jscpd -o out src
	{names: packageChecks, risk: umpire.Safe, why: checksByRules, args: "tree…", about: "--version --help"},
	{names: "dprint standard xo tslint", risk: umpire.Medium, consequence: reversible,
		why: "checks or changes code", style: leading, about: "--version --help"},
	{
		names: "ruff", risk: umpire.Medium, consequence: reversible, why: "checks or changes code", style: leading,
		about: "--version -V --help -h", opts: []option{{flags: "-q --quiet -v --verbose --isolated --no-cache"}},
		subs: []program{
			// safe: ruff check .
			// asks: ruff check --fix .
			{
				names: "check", formats: pythonFiles, risk: umpire.Safe, why: "analyses code without running it",
				args: "tree…", about: aboutItself, opts: []option{
					{flags: "--statistics --show-files --show-settings --no-fix --diff --preview --no-preview " +
						"--force-exclude --respect-gitignore --no-respect-gitignore --isolated --no-cache --quiet " +
						"--verbose --silent --exit-zero --exit-non-zero-on-fix --unsafe-fixes --no-unsafe-fixes " +
						"--show-fixes --ignore-noqa", values: "--select --ignore --extend-select --extend-ignore " +
						"--output-format --target-version --line-length --exclude --extend-exclude --per-file-ignores",
						does: plain},
					{values: "--stdin-filename", does: reads},
					{flags: "-q -v -s -n -e"},
					{flags: "--fix --fix-only --add-noqa", does: edits | asks, consequence: reversible,
						why: changesSources},
					{values: "--config", does: obeys, why: otherRules},
					{values: "-o --output-file --cache-dir", does: writes | asks, consequence: reversible,
						why: "writes a report"},
					{flags: "--watch -w", does: 0},
				},
			},
			{
				names: "format", formats: pythonFiles, risk: umpire.Safe, why: "formats code", args: "tree…",
				check: checkFormatter, about: aboutItself, opts: []option{
					{flags: "--check --diff"},
					{flags: "--preview --force-exclude --isolated --no-cache --quiet --verbose",
						values: "--line-length --target-version --exclude --range", does: plain},
					{values: "--stdin-filename", does: reads},
					{flags: "-q -v -s -n"}, {values: "--config", does: obeys, why: otherRules},
				},
			},
			{names: "rule linter config version help", each: true, risk: umpire.Safe, why: "prints what it knows",
				opts: []option{{flags: "--all", values: "--output-format", does: plain}}},
			{names: "clean server analyze", each: true, risk: umpire.Medium, consequence: reversible,
				why: "works on its cache", lax: true},
		},
	},
	// safe: black --check .
	// asks: black .
	{
		names: "black isort yapf autopep8", formats: pythonFiles, risk: umpire.Safe, why: "formats code", args: "tree…",
		check: checkFormatter, about: "--version --help -h", opts: []option{
			{flags: "--check --check-only --diff"},
			{flags: "--color --no-color --quiet --verbose -q -v --fast --safe --preview --skip-string-normalization -S",
				values: "--line-length -l --target-version -t --include --exclude --extend-exclude --force-exclude " +
					"--profile --workers -W", does: plain},
			{values: "--config --settings-path --settings-file", does: obeys, why: otherRules},
		},
	},
	// safe: pyright
	// asks: pyright --createstub x
	{
		names: "pyright basedpyright", risk: umpire.Safe, why: "checks types by the project's configuration",
		args: "tree…", about: "--version --help -h", opts: []option{
			{flags: "--outputjson --stats --verbose --warnings --dependencies --skipunannotated",
				values: "--level --pythonversion --pythonplatform", does: plain},
			{values: "-p --project -v --venvpath --pythonpath --typeshedpath -t", does: obeys, why: otherRules},
			{flags: "--writebaseline -w --watch", values: "--createstub", does: asks, consequence: reversible,
				why: "writes files"},
		},
	},
	// safe: mypy src
	// asks: mypy --install-types src
	{
		names: "mypy", risk: umpire.Safe, why: "checks types by the project's configuration", args: "tree…",
		check: checkResponseFile, about: "-V --version -h --help", opts: []option{
			{flags: "--strict --ignore-missing-imports --no-error-summary --show-error-codes --hide-error-codes " +
				"--pretty --no-pretty --show-column-numbers --show-error-context --show-absolute-path " +
				"--no-color-output --no-incremental --namespace-packages --explicit-package-bases " +
				"--check-untyped-defs --disallow-untyped-defs --warn-unused-ignores --warn-return-any " +
				"--warn-unreachable --no-implicit-optional --implicit-optional --strict-optional " +
				"--no-strict-optional --allow-untyped-defs --sqlite-cache --skip-cache-mtime-checks --verbose",
				values: "--follow-imports --python-version --platform --exclude --disable-error-code " +
					"--enable-error-code", does: plain},
			{values: "-m -p --module --package", does: plain}, {flags: "-v -i", does: 0},
			{flags: "--install-types --non-interactive",
				values: "--config-file --python-executable --custom-typing-module --custom-typeshed-dir --shadow-file",
				does:   obeys, why: otherRules},
			{values: "-c --command", does: plain},
			{values: "--junit-xml --cache-dir --html-report --xml-report --txt-report --any-exprs-report " +
				"--cobertura-xml-report --linecount-report --linecoverage-report --lineprecision-report " +
				"--xslt-html-report --xslt-txt-report --timing-stats", does: writes | asks, consequence: reversible,
				why: "writes a report"},
		},
	},
	// safe: flake8 src
	// asks: flake8 --config=../x src
	{
		names: "flake8 pycodestyle pydocstyle pyflakes vulture bandit", risk: umpire.Safe,
		why: "analyses code without running it", args: "tree…", about: "--version --help -h", opts: []option{
			{flags: "--count --statistics --show-source --quiet --verbose --isolated --exit-zero --recursive --first " +
				"--benchmark --disable-noqa", values: "--max-line-length --ignore --select --extend-ignore " +
				"--extend-select --exclude --extend-exclude --max-complexity --per-file-ignores --filename " +
				"--min-confidence --severity-level --color --stdin-display-name", does: plain},
			{flags: "-q -v -r -l"}, {values: "-j --jobs", does: plain},
			{values: "--config --append-config --format -f --enable-extensions --require-plugins", does: obeys,
				why: otherRules},
			{flags: "--tee", values: "--output-file -o", does: writes | asks, consequence: reversible,
				why: "writes a report"},
		},
	},
	// safe: shellcheck a.sh
	// asks: shellcheck --rcfile=/etc/shadow a.sh
	{names: "shellcheck", risk: umpire.Safe, why: "checks shell code without running it", args: "read…", opts: []option{
		{flags: "-x -a --external-sources --check-sourced --norc",
			values: "--shell --severity --exclude --include --format --enable --wiki-link-count", attached: "--color",
			does: plain},
		{values: "-s -S -e -i -f -W -o", attached: "-C", does: plain}, {values: "-P --source-path", does: reads},
	}, about: "--version -V --help --list-optional"},
	{names: "taplo", risk: umpire.Medium, consequence: reversible, why: "checks or changes files", lax: true,
		about: aboutItself},
	// safe: pylint src
	// asks: pylint --init-hook=x src
	{
		names: "pylint", risk: umpire.Safe, why: "checks code by the project's configuration", args: "tree…",
		check: checkResponseFile, about: "--version --help -h --long-help", opts: []option{
			{flags: "--errors-only --exit-zero --verbose --disable-all --list-msgs --list-msgs-enabled --list-groups",
				values: "--disable --enable --score --reports --recursive --jobs --msg-template --max-line-length " +
					"--ignore --ignore-patterns --ignore-paths --fail-under --fail-on --persistent --py-version " +
					"--confidence --good-names", does: plain},
			{flags: "-E -v", values: "-d -e -j -r -s", does: plain},
			{values: "-f --output-format", does: obeys, why: "loads the reporter that it names",
				limits: &limits{except: "text parseable colorized json json2 msvs github"}},
			{values: "--rcfile --load-plugins --init-hook --evaluation --source-roots", does: obeys, why: otherRules},
			{values: "--output", does: writes | asks, consequence: reversible, why: "writes a report"},
		},
	},
	// asks: coverage run x.py
	// asks: coverage html
	{
		names: "coverage", risk: umpire.Medium, consequence: reversible, why: runsTests, lax: true, about: "--version",
		subs: []program{
			// The plugins of its settings are code of the project, as its tests are.
			// safe: coverage report
			// safe: coverage report -m --skip-covered
			// asks: coverage report --rcfile=x
			{names: "report", risk: umpire.Safe, why: "prints what tests covered", args: "read…", opts: []option{
				{flags: "-m -i -q --show-missing --ignore-errors --quiet --skip-covered --skip-empty " +
					"--no-skip-covered"},
				{values: "--precision --sort --fail-under --format --include --omit --contexts", does: plain},
				{values: "--data-file", does: reads},
				{values: "--rcfile", does: obeys, why: otherRules},
			}, about: "--help -h"},
		},
	},
	{names: "ava tap jasmine karma cypress nose2 minitest busted bats nox hatch-test c8 nyc", risk: umpire.Medium,
		consequence: reversible, why: runsTests, lax: true, about: "--version"},
	{
		names: "pre-commit husky lint-staged lefthook vite webpack rollup esbuild parcel swc babel tsx ts-node next " +
			"nuxt astro storybook",
		risk: umpire.Medium, consequence: lost, why: "runs programs that the project names", lax: true,
		about: "--version",
	},
	{names: "turbo nx lerna rush moon gulp grunt", risk: umpire.Medium, consequence: lost,
		why: "runs programs that the project names, also to print its version", lax: true},
	{
		names: "nodemon pm2 forever concurrently dotenv cross-env dotenvx", risk: umpire.Medium, consequence: lost,
		why: "runs another command", style: leading, check: checkWrapped, about: "--version --help",
	},
}

// checkTsc makes tsc ask unless it writes nothing.
func checkTsc(u *use) {
	for _, g := range u.given {
		if g.has && g.name == "--noEmit" {
			u.raiseTo(umpire.Medium, reversible, "writes compiled files")
		}
	}
	pretty := u.standsBehind("--pretty", "true", "false")
	for _, operand := range u.operands {
		switch {
		case pretty && operand.known() && scan.HasField("true false", operand.text):
			pretty = false // it is the value of --pretty
		case operand.open || strings.HasPrefix(operand.text, "@") ||
			scan.HasField("true false null undefined", operand.text):
			u.raise(umpire.Medium, "takes options from elsewhere")
		}
	}
	u.operands = slices.DeleteFunc(u.operands, func(wd word) bool { return scan.HasField("true false", wd.text) })
	if u.got("--noEmit", "--showConfig", "--listFilesOnly") == nil {
		u.raiseTo(umpire.Medium, reversible, "writes compiled files")
	}
}

// standsBehind reports whether one of the words directly follows an option, and occurs nowhere
// else.
func (p *parsed) standsBehind(option string, words ...string) bool {
	behind, all := 0, 0
	for i, wd := range p.words {
		if !slices.Contains(words, wd.text) {
			continue
		}
		all++
		if i > 0 && p.words[i-1].text == option {
			behind++
		}
	}
	return all == 1 && behind == 1
}

// checkResponseFile makes @file ask, which contains more options.
func checkResponseFile(u *use) {
	for _, operand := range u.operands {
		if strings.HasPrefix(operand.text, "@") {
			u.raise(umpire.Medium, umpire.Say("takes options from %s", operand.display()))
		}
	}
}

// checkFormatter makes a formatter ask unless it only reports differences.
func checkFormatter(u *use) {
	formatsUnless(u, "--check", "--diff", "--check-only", "--check-formatted")
}

// checkPHPFormatter is checkFormatter for programs whose --diff also changes files.
func checkPHPFormatter(u *use) {
	if u.path != "check" {
		formatsUnless(u, "--dry-run", "--test")
	}
}

func formatsUnless(u *use, reports ...string) {
	if u.gave(reports...) {
		return
	}
	u.raiseTo(umpire.Medium, reversible, changesSources)
	u.touchAll(umpire.KindWrite, u.operands, accessOf{tree: true, why: changesSources})
	u.operands = nil
}
