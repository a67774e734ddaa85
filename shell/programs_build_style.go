package shell

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// checksByRules is the reason for style checkers. Their rules are in the project's own
// configuration, which is treated like eslint's.
const checksByRules = "checks code by the project's rules"

// styleChecks are programs that check code and text, and change files only with an option.
var styleChecks = []program{
	// safe: rubocop app
	// asks: rubocop -a
	// asks: rubocop --require ./x
	{
		names: "rubocop standardrb", formats: ".rb .rake .gemspec .ru", risk: umpire.Safe, why: checksByRules,
		args: "tree…", check: checkRunner, about: "--version -v -V --help -h", opts: []option{
			{flags: "--lint -l --layout -x --fail-fast -F --display-cop-names -D --no-display-cop-names " +
				"--extra-details -E --display-style-guide -S --parallel -P --no-parallel --force-exclusion --color " +
				"--no-color --debug -d --list-target-files -L --display-only-fail-level-offenses --no-server " +
				"--ignore-parent-exclusion --only-recognized-file-types --disable-pending-cops --enable-pending-cops " +
				"--no-fix", values: "--only --except --fail-level --cache", attached: "--show-cops", does: plain},
			{values: "-f --format", does: obeys, why: "loads the formatter that it names",
				limits: &limits{except: "progress p simple s quiet q clang c emacs e json j files fi worst w " +
					"offenses o tap t fuubar fu html h github pacman"}},
			{flags: "-a -A --autocorrect --autocorrect-all --auto-correct --auto-correct-all --safe-auto-correct " +
				"--fix-layout --fix --fix-unsafely --auto-gen-config --regenerate-todo --init", does: edits | asks,
				consequence: reversible, why: changesSources},
			{values: "-o --out", does: writes | asks, consequence: reversible, why: "writes a report"},
			{values: "-c --config -r --require --plugin", does: obeys, why: otherRules},
		},
	},
	// asks: biome migrate
	{
		names: "biome", risk: umpire.Medium, consequence: reversible, why: "checks or changes code", style: leading,
		about: "--version -V --help",
		subs: []program{
			// safe: biome check src
			// asks: biome check --write src
			{
				names: "check lint format ci", each: true, formats: webFiles, risk: umpire.Safe, why: checksByRules,
				args: "tree…", about: aboutItself, opts: []option{
					{flags: "--verbose --no-errors-on-unmatched --error-on-warnings --changed --staged",
						values: "--colors --diagnostic-level --max-diagnostics --skip --only --since " +
							"--files-ignore-unknown --formatter-enabled --linter-enabled --assist-enabled " +
							"--organize-imports-enabled --reporter", does: plain},
					{flags: "--write --fix --apply --apply-unsafe --unsafe --suppress", does: edits | asks,
						consequence: reversible, why: changesSources},
					{flags: "--use-server", values: "--config-path --stdin-file-path", does: obeys, why: otherRules},
				},
			},
			{names: "version rage explain", each: true, risk: umpire.Safe, why: "prints what it knows", args: "data…"},
		},
	},
	// safe: ast-grep -p 'foo($A)' -r 'bar($A)' -l js src
	// safe: ast-grep scan --json
	// asks: ast-grep run -p a -r b -U
	// asks: ast-grep new
	{
		names: "ast-grep", formats: webFiles + " .py .go .rs .java .rb .c .cpp .kt", risk: umpire.Safe,
		why: checksByRules, args: "tree…", check: checkSearchVerb, about: "--version -V --help -h", opts: []option{
			{flags: "--follow", values: "-p --pattern -r --rewrite -l --lang --selector --strictness --color " +
				"--heading -A -B -C --after --before --context --globs -j --threads --inline-rules --report-style " +
				"--filter", attached: "--debug-query --json", does: plain},
			{flags: "-U --update-all -i --interactive", does: edits | asks, consequence: reversible,
				why: changesSources},
			{values: "-c --config", does: obeys, why: otherRules},
		},
	},
	// safe: oxlint src
	// asks: oxlint --fix
	// asks: oxlint -c x.json
	{names: "oxlint", formats: scriptFiles, risk: umpire.Safe, why: checksByRules, args: "tree…", opts: []option{
		{flags: "--quiet --deny-warnings --silent --rules --react-plugin --jest-plugin --vitest-plugin " +
			"--import-plugin --nextjs-plugin --type-aware --print-config --no-ignore",
			values: "-A --allow -W --warn -D --deny --max-warnings -f --format --threads --ignore-pattern",
			does:   plain},
		{flags: "--fix --fix-suggestions --fix-dangerously --init", does: edits | asks, consequence: reversible,
			why: changesSources},
		{values: "-c --config --tsconfig --ignore-path", does: obeys, why: otherRules},
	}, about: "--version -V --help -h"},
	// safe: stylelint src/*.css
	// asks: stylelint --fix src
	// asks: stylelint -f ./x.js src
	{
		names: "stylelint", formats: styleFiles + " .vue .html", risk: umpire.Safe, why: checksByRules, args: "tree…",
		about: "--version -v --help -h --print-config", opts: []option{
			{flags: "--quiet -q --color --no-color --allow-empty-input --report-needless-disables " +
				"--report-invalid-scope-disables --report-descriptionless-disables --disable-default-ignores",
				values: "--max-warnings --mw --ignore-pattern", does: plain},
			{values: "-f --formatter", does: obeys, why: "loads the formatter that it names",
				limits: &limits{except: "compact github json string tap unix verbose"}},
			{flags: "--fix", does: edits | asks, consequence: reversible, why: changesSources},
			{flags: "--cache", values: "--cache-location -o --output-file", does: writes | asks,
				consequence: reversible, why: "writes files"},
			{values: "-c --config --config-basedir --custom-syntax --custom-formatter --stdin-filename", does: obeys,
				why: otherRules},
		},
	},
	// asks: phpstan clear-result-cache
	{
		names: "phpstan", risk: umpire.Medium, consequence: reversible, why: "checks or changes code", style: leading,
		about: "--version -V --help -h", opts: []option{{flags: "--ansi --no-ansi -q -v -n"}},
		subs: []program{
			// safe: phpstan analyse -l 6 src
			// asks: phpstan analyse -c x.neon src
			{
				names: "analyse analyze", risk: umpire.Safe, why: checksByRules, args: "tree…", opts: []option{
					{flags: "--no-progress --ansi --no-ansi -q -v -n --debug", values: "-l --level --memory-limit",
						does: plain},
					{values: "--error-format", does: obeys, why: "loads the formatter that it names",
						limits: &limits{except: "table raw json prettyJson junit github gitlab checkstyle teamcity"}},
					{values: "-c --configuration -a --autoload-file", does: obeys, why: otherRules},
				},
			},
		},
	},
	// safe: psalm --no-cache src
	// asks: psalm --alter
	{names: "psalm", risk: umpire.Safe, why: checksByRules, args: "tree…", opts: []option{
		{flags: "--no-cache --no-diff --no-progress --long-progress --stats -m --monochrome --taint-analysis",
			values: "--show-info --threads --php-version --show-snippet", does: plain},
		{values: "-c --config --plugin -r --root --output-format", does: obeys, why: otherRules},
	}, about: "--version -v --help -h"},
	// safe: phpcs --standard=PSR12 src
	// asks: phpcs --standard=./x src
	{names: "phpcs", risk: umpire.Safe, why: checksByRules, args: "tree…", about: "--version --help -h", opts: []option{
		{flags: "-s -p -n -q -v -l --colors --no-colors",
			values: "--extensions --ignore --sniffs --severity --parallel", does: plain},
		{values: "--standard", does: obeys, why: otherRules,
			limits: &limits{except: "PSR1 PSR2 PSR12 PEAR Squiz Zend Generic"}},
	}},
	// safe: pint --test
	// asks: pint
	{names: "pint", formats: ".php", risk: umpire.Safe, why: "formats code", args: "tree…", check: checkPHPFormatter,
		about: "--version -V --help -h", opts: []option{
			{flags: "--test --dirty --bail -v -q --parallel", values: "--preset", does: plain},
			{values: "--config", does: obeys, why: otherRules},
		}},
	// asks: php-cs-fixer worker
	{
		names: "php-cs-fixer", risk: umpire.Medium, consequence: reversible, why: "checks or changes code",
		style: leading, about: "--version -V --help -h",
		subs: []program{
			// safe: php-cs-fixer fix --dry-run --diff src
			// safe: php-cs-fixer check src
			// asks: php-cs-fixer fix --diff src
			{names: "fix check", each: true, formats: ".php", risk: umpire.Safe, why: "formats code", args: "tree…",
				check: checkPHPFormatter, opts: []option{
					{flags: "--dry-run -n --no-interaction --ansi --no-ansi -q -v --stop-on-violation --diff",
						values: "--show-progress --allow-risky --using-cache --path-mode", does: plain},
					{values: "--config --rules", does: obeys, why: otherRules},
				}},
		},
	},
}

// checkSearchVerb judges the word before the folders, which may be a subcommand.
func checkSearchVerb(u *use) {
	switch first := u.firstOperand(); {
	case scan.HasField("run scan", first) && first != "":
		u.operands = u.operands[1:]
	case scan.HasField("test new lsp completions docs help", first) && first != "":
		u.raise(umpire.Medium, umpire.Say("%s %s is not known", u.table, first))
	}
}
