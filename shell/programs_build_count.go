package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// fileChecks are programs that check or count the lines of files. Each has a separate entry: a
// letter that takes a value in one would hide an option that writes in another.
var fileChecks = []program{
	// safe: tokei -o json src
	// asks: tokei --zzz
	{names: "tokei", risk: umpire.Safe, why: "counts lines of code", args: "tree…", about: aboutItself, opts: []option{
		{flags: "-f -C -v -l --files --compact --verbose --languages --hidden --no-ignore --no-ignore-parent " +
			"--no-ignore-dot --no-ignore-vcs", values: "-s -r -e -t -o -n -c --sort --rsort --exclude --types --type " +
			"--output --num-format --columns --streaming", does: plain},
		{values: "-i --input", does: reads},
	}},
	// safe: scc --by-file -i go
	// asks: scc -o out
	// asks: scc --format-multi csv:/etc/x
	{names: "scc", risk: umpire.Safe, why: "counts lines of code", args: "tree…", about: aboutItself, opts: []option{
		{flags: "-a -w -c -d -u -p -l -m -t -z --by-file --wide --uloc --dryness --percent --character --ci " +
			"--no-complexity --no-cocomo --no-duplicates --no-gen --no-large --no-min --no-min-gen --min --gen " +
			"--languages --debug --verbose --include-symlinks --count-ignore --no-ignore --no-gitignore " +
			"--no-scc-ignore --no-size --no-hborder", values: "-i -x -s -f -M -n --cocomo-project-type --avg-wage " +
			"--include-ext --exclude-ext --exclude-dir --exclude-file --not-match --sort --format --count-as " +
			"--large-line-count --large-byte-count --size-unit", does: plain},
		{values: "-o --output", does: writes, why: "writes a report"},
	}},
	// safe: cloc --vcs=git --by-file
	// asks: cloc --vcs ./x
	// asks: cloc a.tar.gz
	// asks: cloc --out x .
	// asks: cloc --extract-with x .
	{names: "cloc", risk: umpire.Safe, why: "counts lines of code", args: "tree…", check: checkCloc, opts: []option{
		{flags: "--by-file --by-file-by-lang --json --yaml --csv --md --xml --quiet --hide-rate --fullpath " +
			"--skip-uniqueness --sum-one --unicode --no-autogen --no-recurse", values: "--by-percent --csv-delimiter " +
			"--progress-rate --include-lang --exclude-lang --include-ext --exclude-ext --exclude-dir --match-f " +
			"--not-match-f --match-d --not-match-d --max-file-size --processes", attached: "--show-lang --show-ext",
			does: plain},
		{values: "--vcs", does: asks, consequence: lost, why: "runs the program that it names",
			limits: &limits{except: "git"}},
		{values: "--exclude-list-file --list-file --fullpath-x", does: reads | asks, consequence: harmless,
			why: "reads what a file names"},
		{values: "--out --report-file --counted --found --ignored --categorized --skipped --unmatched",
			does: writes | asks, consequence: reversible, why: "writes a report"},
	}, about: "--help --version"},
	// safe: hadolint Dockerfile
	// asks: hadolint -c /etc/shadow Dockerfile
	// safe: hadolint --ignore DL3008 Dockerfile
	// asks: hadolint --zzz
	{names: "hadolint", risk: umpire.Safe, why: "checks container files", args: "read…", opts: []option{
		{flags: "--no-fail --no-color --strict-labels --disable-ignore-pragma -V --verbose", values: "--ignore " +
			"--trusted-registry --require-label --failure-threshold -t -f --format --error --warning --info --style " +
			"--file-path-in-report", does: plain},
		{values: "-c --config", does: reads},
	}, about: "--help -h --version -v"},
	// safe: yamllint -d relaxed .
	// asks: yamllint -c /etc/x .
	{names: "yamllint", risk: umpire.Safe, why: "checks YAML", args: "tree…", opts: []option{
		{values: "-d --config-data", does: obeys, why: otherRules, limits: &limits{when: "/ .. ~"}},
		{flags: "-s --strict --no-warnings --list-files", values: "-f --format", does: plain},
		{values: "-c --config-file", does: reads},
	}, about: "--help -h --version -v"},
	// safe: markdownlint --ignore node_modules .
	// asks: markdownlint --fix .
	// asks: markdownlint -r ./x.js .
	{names: "markdownlint", risk: umpire.Safe, why: checksByRules, args: "tree…", opts: []option{
		{flags: "-q -d -j --dot --json --quiet --stdin", values: "-i --ignore --disable --enable", does: plain},
		{flags: "-f --fix", does: edits | asks, consequence: reversible, why: changesSources},
		{values: "-o --output", does: writes, why: "writes a report"}, {values: "-p --ignore-path", does: reads},
		{values: "-r --rules -c --config --configPointer", does: obeys, why: otherRules},
	}, about: "--help -h --version -V"},
	// safe: codespell -L ist src
	// asks: codespell -w
	// asks: codespell --config x
	{names: "codespell", risk: umpire.Safe, why: "checks spelling", args: "tree…", opts: []option{
		{flags: "-c -f -H --count --check-filenames --check-hidden --disable-colors --enable-colors --summary -s",
			values: "-q -L -S --ignore-words-list --uri-ignore-words-list --skip --quiet-level --builtin " +
				"--ignore-regex --regex", does: plain},
		{values: "-I -x -D --ignore-words --exclude-file --dictionary", does: reads},
		{flags: "-w --write-changes", values: "-i --interactive", does: edits | asks, consequence: reversible,
			why: changesSources},
		{values: "--config --toml", does: obeys, why: otherRules},
	}, about: "--help -h --version"},
	// safe: typos --diff src
	// asks: typos -w
	{names: "typos", risk: umpire.Safe, why: "checks spelling", args: "tree…", opts: []option{
		{flags: "-q -v --diff --files --words --identifiers --highlight-words --hidden --no-ignore --no-ignore-dot " +
			"--no-ignore-global --no-ignore-parent --no-ignore-vcs --no-check-filenames --no-check-files --quiet " +
			"--verbose --sort --isolated --force-exclude",
			values: "--exclude --locale --type --format --color -j --threads", does: plain},
		{flags: "-w --write-changes", does: edits | asks, consequence: reversible, why: changesSources},
		{values: "--config", does: obeys, why: otherRules},
	}, about: "--help -h --version -V --type-list"},
	// safe: jsonlint -q a.json
	// asks: jsonlint -i a.json
	{names: "jsonlint", risk: umpire.Safe, why: "checks JSON", args: "tree…", opts: []option{
		{flags: "-q --quiet -c --compact -s --sort-keys"},
	}, about: "--help -h --version -v"},
	// It starts shellcheck and pyflakes on the scripts of workflows if they are installed.
	// safe: actionlint --version
	// asks: actionlint -shellcheck=./x
	// safe: actionlint -color
	// asks: actionlint -shellcheck=./x
	{names: "actionlint", risk: umpire.Low, why: "checks workflows", style: words, args: "read…", opts: []option{
		{flags: "-color -no-color -oneline -verbose -debug", values: "-ignore -format -stdin-filename", does: plain},
		{values: "-shellcheck -pyflakes", does: obeys, why: "runs the program that it names"},
		{values: "-config-file", does: reads},
	}, about: "-version --version -help --help -h"},
	// safe: cppcheck src
	// safe: cppcheck --enable=all --std=c11 -j 4 -Iinclude src
	// asks: cppcheck --addon=./x.py src
	// asks: cppcheck --output-file=x src
	// asks: cppcheck --clang=./x src
	{names: "cppcheck", risk: umpire.Safe, why: "checks code", args: "tree…", opts: []option{
		{flags: "-q --quiet -v --verbose --force -f --inline-suppr --inconclusive --xml --fsigned-char " +
			"--funsigned-char", values: "--check-level --enable --disable --std --language -x --suppress --template " +
			"--error-exitcode --max-configs -j --xml-version --file-filter --max-ctu-depth -D -U -i", does: plain},
		{values: "-I --file-list --suppressions-list --includes-file --include", does: reads},
		{values: "--addon --addon-python --project --rule --rule-file --library --platform", attached: "--clang",
			does: obeys, why: otherRules},
		{flags: "--dump", values: "--cppcheck-build-dir --output-file --plist-output --checkers-report", does: asks,
			consequence: reversible, why: "writes a report"},
	}, about: "--version --help -h --doc --errorlist"},
	// safe: pkg-config --cflags --libs openssl
	// safe: pkg-config --modversion 'gtk+-3.0 >= 3.2'
	// asks: pkg-config --nosuch x
	{
		names: "pkg-config", risk: umpire.Safe, why: "prints how to compile with a library", args: "data…",
		check: checkPkgConfig, about: "--version --help -h", opts: []option{
			{flags: "--cflags --cflags-only-I --cflags-only-other --libs --libs-only-l --libs-only-L " +
				"--libs-only-other --modversion --exists --static --shared --list-all --list-package-names " +
				"--print-errors --short-errors --silence-errors --errors-to-stdout --print-provides --print-requires " +
				"--print-requires-private --print-variables --validate --uninstalled --keep-system-cflags " +
				"--keep-system-libs"},
			{values: "--variable --define-variable --atleast-version --exact-version --max-version " +
				"--atleast-pkgconfig-version", does: plain},
		},
	},
	// asks: swiftlint --fix
	// asks: swiftlint --fix
	{
		names: "swiftlint hlint cpplint brakeman reek semgrep gosec trufflehog gitleaks sqlfluff " +
			"vale cspell",
		risk: umpire.Medium, consequence: reversible, why: "checks code, by rules that can name files to write",
		lax: true, about: "--version",
	},
	// safe: gopls --version
	// asks: gopls serve
	// asks: mkdocs serve --version
	{
		names: "gopls dlv mkdocs sphinx-build alembic celery jupyter ipython django-admin flask uvicorn gunicorn " +
			"hypercorn streamlit goreleaser conan vcpkg xmake swig doxygen autoconf automake libtool wasm-pack trunk " +
			"wasmtime ngrok-agent",
		risk: umpire.Medium, consequence: lost, why: buildsOrRuns, lax: true, about: "--version",
	},
}

// checkCloc makes archives ask, because cloc starts other programs to unpack them.
func checkCloc(u *use) {
	checkUnpacked(u)
	for _, operand := range u.operands {
		if strings.HasPrefix(operand.text, "-") {
			u.raise(umpire.Medium, umpire.Say("may take an option from %s", operand.display()))
		}
	}
}
