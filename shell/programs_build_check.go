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
		{names: "--noEmit --showConfig --listFilesOnly"},
		{names: "--pretty --strict --skipLibCheck --listFiles --allowJs --checkJs --esModuleInterop --jsx= --target= " +
			"--module= --moduleResolution= --lib= --types= --resolveJsonModule --noUnusedLocals --noUnusedParameters " +
			"--noImplicitAny --strictNullChecks --diagnostics --extendedDiagnostics --explainFiles --traceResolution " +
			"--isolatedModules --allowImportingTsExtensions --noErrorTruncation --preserveWatchOutput " +
			"--downlevelIteration --ignoreConfig", does: plain},
		{names: "-t= -m=", does: plain}, {names: "-p= --project=", does: reads, why: "obeys it"},
		{names: "--outDir= --outFile= --declarationDir= --tsBuildInfoFile= --generateTrace= --generateCpuProfile=",
			does: writes | asks, consequence: reversible, why: "writes files"},
		{names: "-b --build --init -w --watch --incremental --composite -d --declaration", does: asks,
			consequence: reversible, why: "writes files"},
	}, about: "-v --version -h --help --all"},
	// safe: eslint src
	// asks: eslint --fix src
	{
		names: "eslint", formats: scriptFiles + " .json .md", risk: umpire.Safe,
		why: "checks code by the project's rules", args: "tree…",
		about: "--version -v --help -h --env-info", opts: []option{
			{names: "--ext= --quiet --max-warnings= --no-color --color --cache --no-inline-config " +
				"--report-unused-disable-directives --report-unused-disable-directives-severity= " +
				"--no-error-on-unmatched-pattern --no-warn-ignored --pass-on-no-patterns --exit-on-fatal-error " +
				"--no-ignore --no-cache --ignore-pattern= --env= --global= --rule= --debug --stdin " +
				"--stats --concurrency= --no-eslintrc --no-config-lookup --pass-on-unpruned-suppressions", does: plain},
			{names: "--ignore-path= --stdin-filename=", does: reads},
			{names: "-o= --output-file= --cache-location= --cache-file= --suppressions-location=", does: writes | asks,
				consequence: reversible, why: "writes a report"},
			{names: "--fix", does: edits | asks, consequence: reversible, why: changesSources},
			{names: "--fix-dry-run --fix-type= --init --suppress-all --prune-suppressions", does: asks,
				consequence: reversible, why: changesSources},
			{names: "-c= --config= --rulesdir= --resolve-plugins-relative-to= --plugin= --parser= --parser-options= " +
				"--flag=", does: obeys, why: "loads code that it names"},
			{names: "-f= --format=", does: obeys, why: "loads the formatter that it names",
				except: "stylish json json-with-metadata html compact unix"},
			{names: "--print-config"},
		},
	},
	// safe: prettier --check .
	// asks: prettier --write .
	{
		names: "prettier", formats: webFiles, risk: umpire.Safe, why: "prints formatted code", args: "tree…",
		about: "--version -v --help -h", opts: []option{
			{names: "-clu --check --list-different --ignore-unknown --no-config --no-editorconfig --no-color --color " +
				"--single-quote --no-semi --tab-width= --print-width= --use-tabs --trailing-comma= " +
				"--loglevel= --log-level= --no-error-on-unmatched-pattern --with-node-modules --end-of-line= " +
				"--prose-wrap= --support-info", does: plain},
			{names: "--stdin-filepath= --file-info= --find-config-path=", does: reads},
			{names: "--ignore-path=", does: reads},
			{names: "-w --write", does: edits | asks, consequence: reversible, why: changesSources},
			{names: "--parser=", does: obeys, why: "loads a parser", except: "acorn angular babel babel-flow " +
				"babel-ts css espree flow glimmer graphql html json json-stringify json5 jsonc less lwc markdown mdx " +
				"mdx2 meriyah scss typescript vue yaml"},
			{names: "--config= --plugin= --config-precedence= --plugin-search-dir=", does: obeys, why: otherRules},
			{names: "--cache --cache-location=", does: asks, consequence: reversible, why: "writes a cache"},
		},
	},
	// safe: knip --production --dependencies
	// asks: knip --fix
	{names: "knip", risk: umpire.Safe, why: checksByRules, args: "none", opts: []option{
		{names: "--production --strict --no-progress -n --include= --exclude= --dependencies --exports --files " +
			"--include-entry-exports --no-exit-code --max-issues= --no-gitignore", does: plain},
	}, about: "--version -V --help -h"},
	// safe: madge --circular --extensions ts src
	// asks: madge --image x.svg src
	{names: "madge", risk: umpire.Safe, why: checksByRules, args: "tree…", opts: []option{
		{names: "-c --circular --orphans --leaves -s --summary -j --json --extensions= -x= --exclude= --no-color " +
			"--no-spinner --no-count --warning --depends= -d=", does: plain},
	}, about: "--version -V --help -h"},
	// safe: depcheck --ignores=jest
	// asks: depcheck --parsers=./x
	{names: "depcheck", risk: umpire.Safe, why: checksByRules, args: "tree…", about: "--version --help", opts: []option{
		{names: "--json --ignores= --ignore-dirs= --ignore-patterns= --skip-missing? --oneline --quiet", does: plain},
	}},
	// safe: publint
	// asks: jscpd -o out src
	{names: packageChecks, risk: umpire.Safe, why: checksByRules, args: "tree…", about: "--version --help"},
	{names: "dprint standard xo tslint", risk: umpire.Medium, consequence: reversible,
		why: "checks or changes code", style: leading, about: "--version --help"},
	{
		names: "ruff", risk: umpire.Medium, consequence: reversible, why: "checks or changes code", style: leading,
		about: "--version -V --help -h", opts: []option{{names: "-q --quiet -v --verbose --isolated --no-cache"}},
		subs: []program{
			// safe: ruff check .
			// asks: ruff check --fix .
			{
				names: "check", formats: pythonFiles, risk: umpire.Safe, why: "analyses code without running it",
				args: "tree…", about: aboutItself, opts: []option{
					{names: "--select= --ignore= --extend-select= --extend-ignore= --output-format= --statistics " +
						"--show-files --show-settings --no-fix --diff --preview --no-preview --target-version= " +
						"--line-length= --exclude= --extend-exclude= --force-exclude --respect-gitignore " +
						"--no-respect-gitignore --isolated --no-cache --quiet --verbose --silent --exit-zero " +
						"--exit-non-zero-on-fix --per-file-ignores= --unsafe-fixes " +
						"--no-unsafe-fixes --show-fixes --ignore-noqa", does: plain},
					{names: "--stdin-filename=", does: reads},
					{names: "-qvsne"},
					{names: "--fix --fix-only --add-noqa", does: edits | asks, consequence: reversible,
						why: changesSources},
					{names: "--config=", does: obeys, why: otherRules},
					{names: "-o= --output-file= --cache-dir=", does: writes | asks, consequence: reversible,
						why: "writes a report"},
					{names: "--watch -w", does: 0},
				},
			},
			{
				names: "format", formats: pythonFiles, risk: umpire.Safe, why: "formats code", args: "tree…",
				check: checkFormatter, about: aboutItself, opts: []option{
					{names: "--check --diff"},
					{names: "--preview --line-length= --target-version= --exclude= --force-exclude --isolated " +
						"--no-cache --quiet --verbose --range=", does: plain},
					{names: "--stdin-filename=", does: reads},
					{names: "-qvsn"}, {names: "--config=", does: obeys, why: otherRules},
				},
			},
			{names: "rule linter config version help", each: true, risk: umpire.Safe, why: "prints what it knows",
				opts: []option{{names: "--all --output-format=", does: plain}}},
			{names: "clean server analyze", each: true, risk: umpire.Medium, consequence: reversible,
				why: "works on its cache", lax: true},
		},
	},
	// safe: black --check .
	// asks: black .
	{
		names: "black isort yapf autopep8", formats: pythonFiles, risk: umpire.Safe, why: "formats code", args: "tree…",
		check: checkFormatter, about: "--version --help -h", opts: []option{
			{names: "--check --check-only --diff"},
			{names: "--color --no-color --quiet --verbose -q -v --fast --safe --line-length= -l= --target-version= " +
				"-t= --include= --exclude= --extend-exclude= --force-exclude= --profile= --preview " +
				"--skip-string-normalization -S --workers= -W=", does: plain},
			{names: "--config= --settings-path= --settings-file=", does: obeys, why: otherRules},
		},
	},
	// safe: pyright
	// asks: pyright --createstub x
	{
		names: "pyright basedpyright", risk: umpire.Safe, why: "checks types by the project's configuration",
		args: "tree…", about: "--version --help -h", opts: []option{
			{names: "--outputjson --level= --stats --verbose --warnings --dependencies --skipunannotated " +
				"--pythonversion= --pythonplatform=", does: plain},
			{names: "-p= --project= -v= --venvpath= --pythonpath= --typeshedpath= -t=", does: obeys, why: otherRules},
			{names: "--writebaseline --createstub= -w --watch", does: asks, consequence: reversible,
				why: "writes files"},
		},
	},
	// safe: mypy src
	// asks: mypy --install-types src
	{
		names: "mypy", risk: umpire.Safe, why: "checks types by the project's configuration", args: "tree…",
		check: checkResponseFile, about: "-V --version -h --help", opts: []option{
			{names: "--strict --ignore-missing-imports --no-error-summary --show-error-codes --hide-error-codes " +
				"--pretty --no-pretty --show-column-numbers --show-error-context --show-absolute-path " +
				"--no-color-output --no-incremental --follow-imports= --python-version= --platform= --exclude= " +
				"--disable-error-code= --enable-error-code= --namespace-packages --explicit-package-bases " +
				"--check-untyped-defs --disallow-untyped-defs --warn-unused-ignores --warn-return-any " +
				"--warn-unreachable --no-implicit-optional --implicit-optional --strict-optional " +
				"--no-strict-optional --allow-untyped-defs --sqlite-cache --skip-cache-mtime-checks --verbose",
				does: plain},
			{names: "-m= -p= --module= --package=", does: plain}, {names: "-vi", does: 0},
			{names: "--config-file= --python-executable= --custom-typing-module= --custom-typeshed-dir= " +
				"--shadow-file= --install-types --non-interactive", does: obeys, why: otherRules},
			{names: "-c= --command=", does: plain},
			{names: "--junit-xml= --cache-dir= --html-report= --xml-report= --txt-report= --any-exprs-report= " +
				"--cobertura-xml-report= --linecount-report= --linecoverage-report= --lineprecision-report= " +
				"--xslt-html-report= --xslt-txt-report= --timing-stats=", does: writes | asks, consequence: reversible,
				why: "writes a report"},
		},
	},
	// safe: flake8 src
	// asks: flake8 --config=../x src
	{
		names: "flake8 pycodestyle pydocstyle pyflakes vulture bandit", risk: umpire.Safe,
		why: "analyses code without running it", args: "tree…", about: "--version --help -h", opts: []option{
			{names: "--max-line-length= --ignore= --select= --extend-ignore= --extend-select= --exclude= " +
				"--extend-exclude= --count --statistics --show-source --quiet --verbose --max-complexity= --isolated " +
				"--exit-zero --per-file-ignores= --filename= --recursive --min-confidence= --severity-level= --first " +
				"--benchmark --color= --disable-noqa --stdin-display-name=", does: plain},
			{names: "-qvrl"}, {names: "-j= --jobs=", does: plain},
			{names: "--config= --append-config= --format= -f= --enable-extensions= --require-plugins=", does: obeys,
				why: otherRules},
			{names: "--output-file= -o= --tee", does: writes | asks, consequence: reversible, why: "writes a report"},
		},
	},
	// safe: shellcheck a.sh
	// asks: shellcheck --rcfile=/etc/shadow a.sh
	{names: "shellcheck", risk: umpire.Safe, why: "checks shell code without running it", args: "read…", opts: []option{
		{names: "-xa --shell= --severity= --exclude= --include= --format= --color? --external-sources " +
			"--check-sourced --norc --enable= --wiki-link-count=", does: plain},
		{names: "-s= -S= -e= -i= -f= -C? -W= -o=", does: plain}, {names: "-P= --source-path=", does: reads},
	}, about: "--version -V --help --list-optional"},
	{names: "taplo", risk: umpire.Medium, consequence: reversible, why: "checks or changes files", lax: true,
		about: aboutItself},
	// safe: pylint src
	// asks: pylint --init-hook=x src
	{
		names: "pylint", risk: umpire.Safe, why: "checks code by the project's configuration", args: "tree…",
		check: checkResponseFile, about: "--version --help -h --long-help", opts: []option{
			{names: "--disable= --enable= --errors-only --score= --reports= --recursive= --jobs= --msg-template= " +
				"--max-line-length= --ignore= --ignore-patterns= --ignore-paths= --fail-under= --fail-on= " +
				"--exit-zero --persistent= --verbose --py-version= --disable-all --confidence= --good-names= " +
				"--list-msgs --list-msgs-enabled --list-groups", does: plain},
			{names: "-Ev -d= -e= -j= -r= -s=", does: plain},
			{names: "-f= --output-format=", does: obeys, why: "loads the reporter that it names",
				except: "text parseable colorized json json2 msvs github"},
			{names: "--rcfile= --load-plugins= --init-hook= --evaluation= --source-roots=", does: obeys,
				why: otherRules},
			{names: "--output=", does: writes | asks, consequence: reversible, why: "writes a report"},
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
				{names: "-miq --show-missing --ignore-errors --quiet --skip-covered --skip-empty --no-skip-covered"},
				{names: "--precision= --sort= --fail-under= --format= --include= --omit= --contexts=", does: plain},
				{names: "--data-file=", does: reads},
				{names: "--rcfile=", does: obeys, why: otherRules},
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
	pretty := standsBehind(u, "--pretty", "true", "false")
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
func standsBehind(u *use, option string, words ...string) bool {
	behind, all := 0, 0
	for i, wd := range u.words {
		if !slices.Contains(words, wd.text) {
			continue
		}
		all++
		if i > 0 && u.words[i-1].text == option {
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
