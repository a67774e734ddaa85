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
			{names: "--only= --except= --lint -l --layout -x --fail-level= --fail-fast -F --display-cop-names -D " +
				"--no-display-cop-names --extra-details -E --display-style-guide -S --parallel -P --no-parallel " +
				"--force-exclusion --color --no-color --cache= --debug -d --list-target-files -L --show-cops? " +
				"--display-only-fail-level-offenses --no-server --ignore-parent-exclusion " +
				"--only-recognized-file-types --disable-pending-cops --enable-pending-cops --no-fix", does: plain},
			{names: "-f= --format=", does: obeys, why: "loads the formatter that it names", except: "progress p " +
				"simple s quiet q clang c emacs e json j files fi worst w offenses o tap t fuubar fu html h github " +
				"pacman"},
			{names: "-a -A --autocorrect --autocorrect-all --auto-correct --auto-correct-all --safe-auto-correct " +
				"--fix-layout --fix --fix-unsafely --auto-gen-config --regenerate-todo --init", does: edits | asks,
				consequence: reversible, why: changesSources},
			{names: "-o= --out=", does: writes | asks, consequence: reversible, why: "writes a report"},
			{names: "-c= --config= -r= --require= --plugin=", does: obeys, why: otherRules},
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
					{names: "--colors= --verbose --diagnostic-level= --max-diagnostics= --no-errors-on-unmatched " +
						"--error-on-warnings --skip= --only= --changed --staged --since= --files-ignore-unknown= " +
						"--formatter-enabled= --linter-enabled= --assist-enabled= --organize-imports-enabled= " +
						"--reporter=", does: plain},
					{names: "--write --fix --apply --apply-unsafe --unsafe --suppress", does: edits | asks,
						consequence: reversible, why: changesSources},
					{names: "--config-path= --stdin-file-path= --use-server", does: obeys, why: otherRules},
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
			{names: "-p= --pattern= -r= --rewrite= -l= --lang= --selector= --strictness= --debug-query? --json? " +
				"--color= --heading= -A= -B= -C= --after= --before= --context= --globs= -j= --threads= " +
				"--inline-rules= --report-style= --filter= --follow", does: plain},
			{names: "-U --update-all -i --interactive", does: edits | asks, consequence: reversible,
				why: changesSources},
			{names: "-c= --config=", does: obeys, why: otherRules},
		},
	},
	// safe: oxlint src
	// asks: oxlint --fix
	// asks: oxlint -c x.json
	{names: "oxlint", formats: scriptFiles, risk: umpire.Safe, why: checksByRules, args: "tree…", opts: []option{
		{names: "-A= --allow= -W= --warn= -D= --deny= --quiet --deny-warnings --max-warnings= -f= --format= " +
			"--threads= --silent --rules --react-plugin --jest-plugin --vitest-plugin --import-plugin " +
			"--nextjs-plugin --type-aware --print-config --no-ignore --ignore-pattern=", does: plain},
		{names: "--fix --fix-suggestions --fix-dangerously --init", does: edits | asks, consequence: reversible,
			why: changesSources},
		{names: "-c= --config= --tsconfig= --ignore-path=", does: obeys, why: otherRules},
	}, about: "--version -V --help -h"},
	// safe: stylelint src/*.css
	// asks: stylelint --fix src
	// asks: stylelint -f ./x.js src
	{
		names: "stylelint", formats: styleFiles + " .vue .html", risk: umpire.Safe, why: checksByRules, args: "tree…",
		about: "--version -v --help -h --print-config", opts: []option{
			{names: "--quiet -q --color --no-color --max-warnings= --mw= --allow-empty-input --ignore-pattern= " +
				"--report-needless-disables --report-invalid-scope-disables --report-descriptionless-disables " +
				"--disable-default-ignores", does: plain},
			{names: "-f= --formatter=", does: obeys, why: "loads the formatter that it names",
				except: "compact github json string tap unix verbose"},
			{names: "--fix", does: edits | asks, consequence: reversible, why: changesSources},
			{names: "--cache --cache-location= -o= --output-file=", does: writes | asks, consequence: reversible,
				why: "writes files"},
			{names: "-c= --config= --config-basedir= --custom-syntax= --custom-formatter= --stdin-filename=",
				does: obeys, why: otherRules},
		},
	},
	// asks: phpstan clear-result-cache
	{
		names: "phpstan", risk: umpire.Medium, consequence: reversible, why: "checks or changes code", style: leading,
		about: "--version -V --help -h", opts: []option{{names: "--ansi --no-ansi -q -v -n"}},
		subs: []program{
			// safe: phpstan analyse -l 6 src
			// asks: phpstan analyse -c x.neon src
			{
				names: "analyse analyze", risk: umpire.Safe, why: checksByRules, args: "tree…", opts: []option{
					{names: "-l= --level= --no-progress --memory-limit= --ansi --no-ansi -q -v -n --debug",
						does: plain},
					{names: "--error-format=", does: obeys, why: "loads the formatter that it names",
						except: "table raw json prettyJson junit github gitlab checkstyle teamcity"},
					{names: "-c= --configuration= -a= --autoload-file=", does: obeys, why: otherRules},
				},
			},
		},
	},
	// safe: psalm --no-cache src
	// asks: psalm --alter
	{names: "psalm", risk: umpire.Safe, why: checksByRules, args: "tree…", opts: []option{
		{names: "--no-cache --no-diff --show-info= --threads= --no-progress --long-progress --stats --php-version= " +
			"-m --monochrome --show-snippet= --taint-analysis", does: plain},
		{names: "-c= --config= --plugin= -r= --root= --output-format=", does: obeys, why: otherRules},
	}, about: "--version -v --help -h"},
	// safe: phpcs --standard=PSR12 src
	// asks: phpcs --standard=./x src
	{names: "phpcs", risk: umpire.Safe, why: checksByRules, args: "tree…", about: "--version --help -h", opts: []option{
		{names: "-spnqvl --colors --no-colors --extensions= --ignore= --sniffs= --severity= --parallel=", does: plain},
		{names: "--standard=", does: obeys, why: otherRules, except: "PSR1 PSR2 PSR12 PEAR Squiz Zend Generic"},
	}},
	// safe: pint --test
	// asks: pint
	{names: "pint", formats: ".php", risk: umpire.Safe, why: "formats code", args: "tree…", check: checkPHPFormatter,
		about: "--version -V --help -h", opts: []option{
			{names: "--test --dirty --preset= --bail -v -q --parallel", does: plain},
			{names: "--config=", does: obeys, why: otherRules},
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
					{names: "--dry-run -n --no-interaction --show-progress= --allow-risky= --ansi --no-ansi -q -v " +
						"--stop-on-violation --using-cache= --diff --path-mode=", does: plain},
					{names: "--config= --rules=", does: obeys, why: otherRules},
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
