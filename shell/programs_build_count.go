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
		{names: "-fCvl -s= -r= -e= -t= -o= -n= -c= --files --compact --verbose --languages --hidden --no-ignore " +
			"--no-ignore-parent --no-ignore-dot --no-ignore-vcs --sort= --rsort= --exclude= --types= --type= " +
			"--output= --num-format= --columns= --streaming=", does: plain},
		{names: "-i= --input=", does: reads},
	}},
	// safe: scc --by-file -i go
	// asks: scc -o out
	// asks: scc --format-multi csv:/etc/x
	{names: "scc", risk: umpire.Safe, why: "counts lines of code", args: "tree…", about: aboutItself, opts: []option{
		{names: "-awcduplmtz -i= -x= -s= -f= -M= -n= --by-file --wide --uloc --dryness --percent --character --ci " +
			"--no-complexity --no-cocomo --cocomo-project-type= --avg-wage= --no-duplicates --no-gen --no-large " +
			"--no-min --no-min-gen --min --gen --include-ext= --exclude-ext= --exclude-dir= --exclude-file= " +
			"--not-match= --sort= --format= --languages --debug --verbose --include-symlinks --count-as= " +
			"--count-ignore --no-ignore --no-gitignore --no-scc-ignore --large-line-count= --large-byte-count= " +
			"--size-unit= --no-size --no-hborder", does: plain},
		{names: "-o= --output=", does: writes, why: "writes a report"},
	}},
	// safe: cloc --vcs=git --by-file
	// asks: cloc --vcs ./x
	// asks: cloc a.tar.gz
	// asks: cloc --out x .
	// asks: cloc --extract-with x .
	{names: "cloc", risk: umpire.Safe, why: "counts lines of code", args: "tree…", check: checkCloc, opts: []option{
		{names: "--by-file --by-file-by-lang --by-percent= --json --yaml --csv --md --xml --csv-delimiter= --quiet " +
			"--hide-rate --progress-rate= --include-lang= --exclude-lang= --include-ext= --exclude-ext= " +
			"--exclude-dir= --match-f= --not-match-f= --match-d= --not-match-d= --fullpath --max-file-size= " +
			"--skip-uniqueness --sum-one --processes= --unicode --no-autogen --no-recurse --show-lang? --show-ext?",
			does: plain},
		{names: "--vcs=", does: asks, consequence: lost, why: "runs the program that it names", except: "git"},
		{names: "--exclude-list-file= --list-file= --fullpath-x=", does: reads | asks, consequence: harmless,
			why: "reads what a file names"},
		{names: "--out= --report-file= --counted= --found= --ignored= --categorized= --skipped= --unmatched=",
			does: writes | asks, consequence: reversible, why: "writes a report"},
	}, about: "--help --version"},
	// safe: hadolint Dockerfile
	// asks: hadolint -c /etc/shadow Dockerfile
	// safe: hadolint --ignore DL3008 Dockerfile
	// asks: hadolint --zzz
	{names: "hadolint", risk: umpire.Safe, why: "checks container files", args: "read…", opts: []option{
		{names: "--ignore= --trusted-registry= --require-label= --failure-threshold= -t= -f= --format= --no-fail " +
			"--no-color --strict-labels --disable-ignore-pragma -V --verbose --error= --warning= --info= --style= " +
			"--file-path-in-report=", does: plain},
		{names: "-c= --config=", does: reads},
	}, about: "--help -h --version -v"},
	// safe: yamllint -d relaxed .
	// asks: yamllint -c /etc/x .
	{names: "yamllint", risk: umpire.Safe, why: "checks YAML", args: "tree…", opts: []option{
		{names: "-d= --config-data=", does: obeys, why: otherRules, when: "/ .. ~"},
		{names: "-f= --format= -s --strict --no-warnings --list-files", does: plain},
		{names: "-c= --config-file=", does: reads},
	}, about: "--help -h --version -v"},
	// safe: markdownlint --ignore node_modules .
	// asks: markdownlint --fix .
	// asks: markdownlint -r ./x.js .
	{names: "markdownlint", risk: umpire.Safe, why: checksByRules, args: "tree…", opts: []option{
		{names: "-qdj -i= --ignore= --disable= --enable= --dot --json --quiet --stdin", does: plain},
		{names: "-f --fix", does: edits | asks, consequence: reversible, why: changesSources},
		{names: "-o= --output=", does: writes, why: "writes a report"}, {names: "-p= --ignore-path=", does: reads},
		{names: "-r= --rules= -c= --config= --configPointer=", does: obeys, why: otherRules},
	}, about: "--help -h --version -V"},
	// safe: codespell -L ist src
	// asks: codespell -w
	// asks: codespell --config x
	{names: "codespell", risk: umpire.Safe, why: "checks spelling", args: "tree…", opts: []option{
		{names: "-cfH -q= -L= -S= --ignore-words-list= --uri-ignore-words-list= --skip= --quiet-level= --count " +
			"--check-filenames --check-hidden --builtin= --ignore-regex= --regex= --disable-colors --enable-colors " +
			"--summary -s", does: plain},
		{names: "-I= -x= -D= --ignore-words= --exclude-file= --dictionary=", does: reads},
		{names: "-w --write-changes -i= --interactive=", does: edits | asks, consequence: reversible,
			why: changesSources},
		{names: "--config= --toml=", does: obeys, why: otherRules},
	}, about: "--help -h --version"},
	// safe: typos --diff src
	// asks: typos -w
	{names: "typos", risk: umpire.Safe, why: "checks spelling", args: "tree…", opts: []option{
		{names: "-qv --diff --files --words --identifiers --highlight-words --exclude= --hidden --no-ignore " +
			"--no-ignore-dot --no-ignore-global --no-ignore-parent --no-ignore-vcs --no-check-filenames " +
			"--no-check-files --locale= --type= --format= --color= --quiet --verbose --sort --isolated -j= " +
			"--threads= --force-exclude", does: plain},
		{names: "-w --write-changes", does: edits | asks, consequence: reversible, why: changesSources},
		{names: "--config=", does: obeys, why: otherRules},
	}, about: "--help -h --version -V --type-list"},
	// safe: jsonlint -q a.json
	// asks: jsonlint -i a.json
	{names: "jsonlint", risk: umpire.Safe, why: "checks JSON", args: "tree…", opts: []option{
		{names: "-q --quiet -c --compact -s --sort-keys"},
	}, about: "--help -h --version -v"},
	// It starts shellcheck and pyflakes on the scripts of workflows if they are installed.
	// safe: actionlint --version
	// asks: actionlint -shellcheck=./x
	// safe: actionlint -color
	// asks: actionlint -shellcheck=./x
	{names: "actionlint", risk: umpire.Low, why: "checks workflows", style: words, args: "read…", opts: []option{
		{names: "-color -no-color -oneline -verbose -debug -ignore= -format= -stdin-filename=", does: plain},
		{names: "-shellcheck= -pyflakes=", does: obeys, why: "runs the program that it names"},
		{names: "-config-file=", does: reads},
	}, about: "-version --version -help --help -h"},
	// safe: cppcheck src
	// safe: cppcheck --enable=all --std=c11 -j 4 -Iinclude src
	// asks: cppcheck --addon=./x.py src
	// asks: cppcheck --output-file=x src
	// asks: cppcheck --clang=./x src
	{names: "cppcheck", risk: umpire.Safe, why: "checks code", args: "tree…", opts: []option{
		{names: "-q --quiet -v --verbose --force -f --inline-suppr --inconclusive --xml --check-level= --enable= " +
			"--disable= --std= --language= -x= --suppress= --template= --error-exitcode= --max-configs= -j= " +
			"--xml-version= --file-filter= --max-ctu-depth= --fsigned-char --funsigned-char -D= -U= -i=", does: plain},
		{names: "-I= --file-list= --suppressions-list= --includes-file= --include=", does: reads},
		{names: "--addon= --addon-python= --clang? --project= --rule= --rule-file= --library= --platform=", does: obeys,
			why: otherRules},
		{names: "--cppcheck-build-dir= --output-file= --dump --plist-output= --checkers-report=", does: asks,
			consequence: reversible, why: "writes a report"},
	}, about: "--version --help -h --doc --errorlist"},
	// safe: pkg-config --cflags --libs openssl
	// safe: pkg-config --modversion 'gtk+-3.0 >= 3.2'
	// asks: pkg-config --nosuch x
	{
		names: "pkg-config", risk: umpire.Safe, why: "prints how to compile with a library", args: "data…",
		check: checkPkgConfig, about: "--version --help -h", opts: []option{
			{names: "--cflags --cflags-only-I --cflags-only-other --libs --libs-only-l --libs-only-L " +
				"--libs-only-other --modversion --exists --static --shared --list-all --list-package-names " +
				"--print-errors --short-errors --silence-errors --errors-to-stdout --print-provides --print-requires " +
				"--print-requires-private --print-variables --validate --uninstalled --keep-system-cflags " +
				"--keep-system-libs"},
			{names: "--variable= --define-variable= --atleast-version= --exact-version= --max-version= " +
				"--atleast-pkgconfig-version=", does: plain},
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
