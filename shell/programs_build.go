package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// buildTools are the programs that build a project. Files of the project determine their
// effects, even for a dry run.
var buildTools = []program{
	// safe: make --version
	// asks: make
	{
		names: "make gmake", manifests: "GNUmakefile makefile Makefile", risk: umpire.Medium, consequence: lost,
		why: "runs the rules of a makefile", lax: true, check: checkMake,
		about: "--version -v --help -h", opts: []option{
			{values: "-f --file --makefile", does: reads | obeys, why: "runs another makefile"},
			{values: "-C --directory", does: enters, why: worksInOther}, {values: "-I --include-dir", does: reads},
			{values: "-E --eval", does: asks, consequence: lost, why: "runs rules given on the line"},
			{values: "-o -W", attached: "-l -O", does: plain},
		},
	},
	{
		names: "bmake", manifests: "GNUmakefile makefile Makefile", risk: umpire.Medium, consequence: lost,
		why: "runs the rules of a makefile", lax: true, check: checkMake,
		opts: []option{{values: "-f", does: reads | obeys}, {values: "-C", does: enters, why: worksInOther}},
	},
	{
		names:     "ninja samu mage invoke tup earthly dagger",
		manifests: "build.ninja magefile.go tasks.py dodo.py SConstruct wscript Earthfile", risk: umpire.Medium,
		consequence: lost, why: "runs the build rules of the project", lax: true, about: "--version", opts: []option{
			{values: "-C", does: enters, why: worksInOther}, {values: "-f", does: reads},
		},
	},
	{
		names: "just", manifests: "justfile Justfile .justfile", risk: umpire.Medium, consequence: lost,
		why: "runs a recipe of the project", lax: true,
		check: func(u *use) { followTargets(u, "just", "-q --quiet -v --verbose") },
		about: "--version -V --help -h", opts: []option{
			{values: "-d --working-directory", does: asks, consequence: lost, why: worksInOther},
			{values: "-f --justfile", does: reads},
		},
	},
	{
		names: "task go-task", each: true, manifests: "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml",
		risk: umpire.Medium, consequence: lost, why: "runs a task of the project", lax: true, check: checkTask,
		about: "--version --help -h", opts: []option{
			{values: "-d --dir", does: asks, consequence: lost, why: worksInOther},
			{values: "-t --taskfile", does: reads},
		},
	},
	{
		names: "doit scons waf please redo",
		manifests: "build.ninja justfile Justfile .justfile Taskfile.yml Taskfile.yaml taskfile.yml magefile.go " +
			"tasks.py dodo.py SConstruct wscript Earthfile",
		risk: umpire.Medium, consequence: lost, why: "runs the build rules of the project, also to print help",
		lax: true, opts: []option{{values: "-C", does: enters, why: worksInOther}, {values: "-f", does: reads}},
	},
	// safe: cmake --version
	// asks: cmake .
	{
		names: "cmake", risk: umpire.Medium, consequence: reversible, why: "runs the build rules of the project",
		style: words, lax: true, about: "--version -version --help -help -h", opts: []option{
			{values: "-B", does: writes},
			{values: "-S --build --install -P -C", does: reads},
			{values: "-D -G -U -A -T -j --target --config", does: plain},
		},
	},
	{
		names: "meson ant msbuild nuget xcodebuild mono nim crystal dmd ghc elm purs idris coqc agda",
		risk:  umpire.Medium, consequence: lost, why: buildsOrRuns, style: words, about: "--version -version --help",
		subs: []program{
			{names: publishing, each: true, risk: umpire.High, consequence: sent, why: changesPackages, lax: true},
		},
	},
	{names: "bazel bazelisk buck2 gradlew mvnw thor pod fastlane lake", risk: umpire.Medium, consequence: lost,
		why: "builds or runs the project's code, by a program that the project chooses", lax: true},
	// asks: cargo +evil test
	{
		names: "cargo", risk: umpire.Medium, consequence: lost, why: "runs a subcommand of cargo that is not known",
		style: leading, about: "--version -V --help -h --list", opts: []option{
			{flags: "--locked --offline --frozen -q --quiet -v --verbose", values: "--color", does: plain},
			{values: "-C", does: enters, why: worksInOther},
			{values: "--config -Z", does: obeys, why: "obeys settings given on the line"},
		},
		more: []*[]program{&cargoCommands},
		subs: []program{
			// rustup runs the cargo of that version.
			{
				names: "+stable +beta +nightly", each: true, risk: umpire.Medium, consequence: lost,
				why: "runs a subcommand of cargo that is not known", style: leading, more: []*[]program{&cargoCommands},
				about: "--version -V --help -h --list",
			},
		},
	},
	// asks: rustup update
	{
		names: "rustup", risk: umpire.High, consequence: lost, why: "installs versions of Rust", style: leading,
		about: "--version -V --help -h",
		subs: []program{
			// safe: rustup show
			{names: "show which", each: true, risk: umpire.Safe, why: "lists versions of Rust", args: "data…"},
			{
				names: "toolchain target component", each: true, risk: umpire.High, consequence: lost,
				why: "installs versions of Rust", style: leading,
				subs: []program{
					{names: "list", risk: umpire.Safe, why: "lists versions of Rust", args: "none",
						opts: []option{{flags: "-v -q --verbose --quiet --installed"}}},
				},
			},
		},
	},
	// safe: rustfmt --check a.rs
	// asks: rustfmt a.rs
	{
		names: "rustfmt", formats: ".rs", risk: umpire.Safe, why: "formats code", args: "read…", check: checkFormatter,
		about: "--version -V --help -h", opts: []option{
			{flags: "--check"}, {flags: "-q --quiet -v --verbose -l", values: "--edition --color", does: plain},
			{values: "--config-path --config", does: obeys, why: otherRules},
		},
	},
	// safe: clang-format a.c
	// asks: clang-format -i a.c
	{
		names: "clang-format", formats: ".c .cc .cpp .cxx .h .hh .hpp .m .mm .java .js .ts .proto .cs",
		risk: umpire.Safe, why: "prints formatted code", style: words, args: "read…", check: checkResponseFile,
		about: "--version --help", opts: []option{
			{values: "--style -style", does: obeys, why: "obeys a file of settings", limits: &limits{when: "file:"}},
			{flags: "-n --dry-run -Werror --Werror --verbose", values: "--assume-filename", does: plain},
			{flags: "-i --i", does: edits | asks, consequence: reversible, why: changesSources},
		},
	},
	// safe: gcc --version
	// safe: gcc -v
	// safe: gcc -fsyntax-only a.c
	// safe: clang -fsyntax-only -Wall -Wextra -std=c11 -Iinclude -I src -DX=1 a.c
	// asks: gcc -fsyntax-only -fplugin=./x.so a.c
	// asks: gcc -fsyntax-only @args
	// asks: gcc -fsyntax-only -wrapper ./x a.c
	// asks: gcc -fsyntax-only -B. a.c
	// asks: gcc -fsyntax-only -Wp,-MD,x a.c
	// asks: gcc -fsyntax-only -save-temps a.c
	// asks: gcc -v a.c
	// asks: gcc a.c
	{
		names: "gcc g++ cc c++ clang clang++ gfortran", risk: umpire.Medium, consequence: reversible,
		why: "compiles, and writes what it builds", style: words, args: "read…", check: checkSyntaxOnly, lax: true,
		about: "--version -version --help -help -dumpversion -dumpmachine -v", opts: []option{
			{values: "-o", does: writes}, {values: "-include -imacros -T", does: reads},
			{values: "-x -arch -target", does: plain},
		},
	},
	{
		names: "tcc javac kotlinc nasm yasm as ld gold lld objcopy gccgo ldc2 swiftc protoc buf thrift flatc bison " +
			"yacc flex lex",
		risk: umpire.Medium, consequence: reversible, why: "compiles, and writes what it builds", style: words,
		args: "read…", check: checkCompiler, lax: true,
		about: "--version -version --help -help -dumpversion -dumpmachine", opts: []option{
			{values: "-o -d", does: writes}, {values: "-include -imacros -T", does: reads},
			{values: "-x -C --edition --crate-type --crate-name -arch", does: plain},
			{values: "-cp -classpath -target"},
		},
	},
	// safe: rustc --version
	// safe: rustc --version --verbose
	// safe: rustc -vV
	// asks: rustc -v a.rs
	// asks: rustc a.rs
	{
		names: "rustc", risk: umpire.Medium, consequence: reversible, why: "compiles, and writes what it builds",
		args: "read…", check: checkCompiler, lax: true, about: "--version -V --help -h -v --verbose", opts: []option{
			{values: "-o --out-dir", does: writes},
			{values: "-C --edition --crate-type --crate-name --target --emit", does: plain},
		},
	},
}

// cargoCommands are the subcommands of cargo.
var cargoCommands = []program{
	{
		names: "metadata tree", each: true, risk: umpire.Safe, why: "looks at the dependencies", args: "none",
		also: []*[]option{&cargoLooks}, opts: []option{
			{flags: "-q -v -d"}, {values: "-i -p -e -f", does: plain},
			{flags: "--duplicates --no-dedupe --workspace --no-deps", values: "--package --edges --depth --prefix " +
				"--charset --format --target --prune --exclude --format-version --filter-platform",
				attached: "--invert", does: plain},
			{values: "--manifest-path", does: reads},
		},
	},
	{names: "search info owner-list", each: true, risk: umpire.Low, why: asksRegistry, check: registryNames,
		opts: []option{{flags: "-q --quiet", values: "--limit", does: plain}}},
	{
		names: "help version locate-project pkgid read-manifest", each: true, risk: umpire.Safe,
		why: "prints what it knows", also: []*[]option{&cargoLooks}, opts: []option{
			{flags: "--workspace", values: "--message-format", does: plain},
			{values: "--manifest-path", does: reads},
		},
	},
	// safe: cargo check
	{
		names: "check c build b", each: true, risk: umpire.Safe, why: runsTests, args: "none", check: checkRunner,
		also: []*[]option{&cargoLooks, &cargoBuilding},
		opts: []option{{values: "--out-dir --artifact-dir", does: writes}},
	},
	{names: "test t", each: true, risk: umpire.Safe, why: runsTests, check: checkCargoTest,
		also: []*[]option{&cargoLooks, &cargoBuilding}, opts: []option{{flags: "--doc --no-run --no-fail-fast"}}},
	{names: "clippy", risk: umpire.Safe, why: runsTests, check: checkClippy,
		also: []*[]option{&cargoLooks, &cargoBuilding}, opts: []option{
			{flags: "--no-deps"},
			{flags: "--fix --allow-dirty --allow-staged", does: asks, consequence: reversible, why: changesSources},
		}},
	{names: "doc d", each: true, risk: umpire.Safe, why: runsTests, args: "none", check: checkRunner,
		also: []*[]option{&cargoLooks, &cargoBuilding}, opts: []option{
			{flags: "--no-deps --document-private-items"},
			{flags: "--open", does: asks, consequence: sent, why: "opens a browser"},
		}},
	{names: "bench", risk: umpire.Safe, why: runsTests, check: checkCargoTest,
		also: []*[]option{&cargoLooks, &cargoBuilding}, opts: []option{{flags: "--no-run --no-fail-fast"}}},
	{
		names: "nextest", risk: umpire.Medium, consequence: reversible, why: "runs or archives the project's tests",
		style: leading,
		subs: []program{
			{names: "run list", each: true, risk: umpire.Safe, why: runsTests, check: checkCargoTest,
				also: []*[]option{&cargoLooks, &cargoBuilding}, opts: []option{
					{flags: "--no-run --no-fail-fast --fail-fast --no-capture --nocapture --hide-progress-bar " +
						"--no-output-indent", values: "--retries --test-threads --partition --filter-expr " +
						"--filterset --status-level --final-status-level --success-output --failure-output " +
						"--run-ignored --no-tests --max-fail -E -P -T", does: plain},
				}},
		},
	},
	// asks: cargo run
	// asks: cargo +nightly run
	{
		names: "run r rustc rustdoc expand", each: true, risk: umpire.Medium, consequence: lost,
		why: "builds the project, whose build scripts run", lax: true, opts: []option{
			{values: "--manifest-path", does: reads}, {values: "--target-dir --out-dir --artifact-dir", does: writes},
			{values: "--config -Z", does: obeys, why: "obeys settings given on the line"},
		},
	},
	// safe: cargo +nightly fmt --check
	{names: "fmt", risk: umpire.Safe, why: "formats code", check: checkCargoFmt, opts: []option{
		{flags: "--check"},
		{flags: "--all -q --quiet -v --verbose", values: "-p --package --message-format", does: plain},
		{values: "--manifest-path", does: reads},
	}},
	{names: "fix add remove rm update init new generate-lockfile vendor fetch clean package", each: true,
		risk: umpire.Medium, consequence: reversible, why: "changes the project", lax: true},
	{names: "install uninstall publish yank owner login logout", each: true, risk: umpire.High, consequence: sent,
		why: changesPackages, lax: true},
}

// cargoLooks are the options that most of cargo's subcommands accept.
var cargoLooks = []option{
	{flags: "--all-features --no-default-features --locked --offline --frozen --quiet --verbose",
		values: "--features --color", does: plain},
}

// cargoBuilding are the options that all of cargo's builds accept, besides cargoLooks. It leaves
// out --target, because its file can name a linker.
var cargoBuilding = []option{
	{flags: "--workspace --all --lib --bins --examples --tests --benches --all-targets --release --keep-going " +
		"--ignore-rust-version --future-incompat-report -q -v -r",
		values: "--bin --example --test --bench --package --exclude --profile --jobs --message-format -p -j -F",
		does:   plain},
	{values: "--manifest-path", does: reads},
	{values: "--target-dir", does: writes}, {flags: "-h --help", does: shows},
}

// plainMakeOptions are options of make that do not select other rules.
const plainMakeOptions = "-s -j -k --silent --quiet --jobs --keep-going -w --no-print-directory --print-directory -C " +
	"--directory --"

// checkMake follows the targets of a makefile that contains only command lines.
func checkMake(u *use) {
	guessRules(u)
	if u.program0() != "bmake" {
		followTargets(u, "make", plainMakeOptions)
	}
}

// guessRules guesses the command lines of rules on the line or in its input.
func guessRules(u *use) {
	var given strings.Builder
	for _, g := range u.given {
		switch {
		case scan.HasField("-E --eval", g.name):
			given.WriteString(g.value.text + "\n")
		case scan.HasField("-f --file --makefile", g.name) && scan.HasField("- /dev/stdin /dev/fd/0", g.value.text) &&
			u.in.kind == flowText:
			given.WriteString(u.in.text + "\n")
		}
	}
	rules := given.String()
	for line := range strings.Lines(rules) {
		recipe, ok := strings.CutPrefix(line, "\t")
		if target, after, found := strings.Cut(line, ";"); !ok && found && strings.Contains(target, ":") {
			recipe, ok = after, true
		}
		if ok {
			guessCommand(u, strings.TrimLeft(recipe, "@-+ \t"))
		}
	}
	for _, arg := range append(u.rawArguments(), lit(rules)) {
		for _, opening := range [...]string{"$(shell ", "${shell "} {
			if _, code, found := strings.Cut(arg.text, opening); found {
				guessCommand(u, strings.TrimRight(code, ")} \n"))
			}
		}
	}
}

// checkTask follows the tasks of a Taskfile, or the single task of a Python project.
func checkTask(u *use) {
	program := u.program0()
	if len(u.operands) > 1 {
		program = "go-task"
	}
	followTargets(u, program, "-s --silent -v --verbose")
}

// checkCargoTest judges the arguments after --, which go to the test programs.
func checkCargoTest(u *use) {
	u.removeDashed("--nocapture --no-capture --show-output --exact --ignored --include-ignored --list --quiet -q " +
		"--test-threads --test-threads=1 --skip")
	checkRunner(u)
}

// checkClippy judges the arguments after --, which go to the compiler.
func checkClippy(u *use) {
	u.removeDashed("-D -W -A -F -Dwarnings -Dclippy::all -Dclippy::pedantic -Wclippy::all -Wclippy::pedantic --no-deps")
	checkRunner(u)
}

// removeDashed removes the operands that are accepted options.
func (a *arguments) removeDashed(accepted string) {
	var rest []word
	for _, operand := range a.operands {
		if !operand.known() || operand.text == "" || !scan.HasField(accepted, operand.text) {
			rest = append(rest, operand)
		}
	}
	a.operands = rest
}

// checkCargoFmt makes cargo fmt ask unless it only reports differences. The arguments after --
// go to rustfmt.
func checkCargoFmt(u *use) {
	rest := removeWord(u.operands, "--check")
	checks := u.got("--check") != nil || len(rest) < len(u.operands)
	u.operands = rest
	if checks && len(rest) == 0 {
		return
	}
	u.raiseTo(umpire.Medium, reversible, changesSources)
}

// removeWord returns the words other than text.
func removeWord(words []word, text string) []word {
	var out []word
	for _, wd := range words {
		if !wd.known() || wd.text != text {
			out = append(out, wd)
		}
	}
	return out
}

// checkCompiler reads the file of @file, which contains more options.
func checkCompiler(u *use) {
	for i, operand := range u.operands {
		if len(operand.text) > 1 && operand.text[0] == '@' {
			u.operands[i] = operand.cut(1)
		}
	}
}
