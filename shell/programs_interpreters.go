package shell

import (
	"cmp"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

const runsUnjudged = "runs code that umpire can't judge"

// UnjudgedCode is the reason of code that only running it would explain. Its argument is the language.
const UnjudgedCode umpire.Phrase = "runs %s code that umpire can't judge"

// runsFile is the reason of a file that runs. Its argument is the file.
const runsFile = "runs %s, which umpire can't judge"

func unjudged(language string) umpire.Phrase { return umpire.Say(string(UnjudgedCode), language) }

// shellOptions are the options that all shells read alike. Any other letter takes a value in
// some shells but not in others, which changes the position of the script.
var shellOptions = []option{
	{flags: "-e -u -v -x -n -f -h -a -m -B -C -E -H -P -k -p -t -l -i -s"},
	{flags: "-c", why: "runs its first operand"}, {values: "-o", does: plain},
	{flags: aboutItself, does: shows},
}

// interpreters run code. Shell code is walked; code of other languages is unknown, and asks.
var interpreters = []program{
	// safe: sh -c ls
	// asks: sh ./evil.sh
	{names: "sh", risk: umpire.Safe, why: "runs shell code", style: leading, args: "script data…", check: checkShell,
		also: []*[]option{&shellOptions}},
	// safe: bash -n x.sh
	// asks: bash x.sh
	// safe: bash -O extglob -c ls
	// asks: bash --rcfile ./evil
	{
		names: "bash rbash", risk: umpire.Safe, why: "runs shell code", style: leading, args: "script data…",
		check: checkShell, also: []*[]option{&shellOptions}, opts: []option{
			{values: "-O", does: asks, consequence: lost, why: "changes what names and syntax mean",
				limits: &limits{except: harmlessShopts}},
			{values: "--rcfile --init-file", does: obeys, why: "obeys a start-up file that it names"},
			{flags: "--login --norc --noprofile --posix --restricted --verbose --noediting"},
		},
	},
	// safe: dash -c ls
	// asks: dash -O ./evil.sh
	{names: "dash ash", risk: umpire.Safe, why: "runs shell code", style: leading, args: "script data…",
		check: checkShell, also: []*[]option{&shellOptions}},
	// safe: zsh -f -c ls
	// asks: zsh -O ./evil.sh
	{
		names: "zsh", risk: umpire.Safe, why: "runs shell code", style: leading, args: "script data…",
		check: checkShell, also: []*[]option{&shellOptions}, opts: []option{
			{values: "--emulate", does: obeys, why: "reads code as another shell"},
			{flags: "--login --restricted --verbose --no-rcs --no-globalrcs"},
		},
	},
	// safe: ksh -c ls
	// asks: ksh -R out x.sh
	{names: "ksh mksh", risk: umpire.Safe, why: "runs shell code", style: leading, args: "script data…",
		check: checkShell, also: []*[]option{&shellOptions}},
	{names: "fish nu pwsh", every: guessCode, risk: umpire.Medium, consequence: lost, why: "runs code of another shell",
		style: leading, args: "code…", check: runsCode, about: "--version -v"},
	{names: "csh tcsh powershell elvish xonsh cmd", every: guessCode, risk: umpire.Medium, consequence: lost,
		why: "runs code of another shell", style: leading, args: "code…", check: runsCode},
	// safe: python3 --version
	// asks: python3 x.py
	// safe: python -m unittest discover -s tests
	// asks: python -m unittest --evil
	// safe: python3 -m py_compile a.py
	// asks: python3 -m py_compile -
	// asks: python3 -m ast
	// safe: python3 -m zipfile -l a.zip
	// asks: python3 -m zipfile -e a.zip x
	{
		names: "python python3 python2 pypy pypy3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 " +
			"python3.14",
		every: guessCode, risk: umpire.Safe, why: unjudged("Python"), style: leading,
		args: "script data…", check: checkPython,
		about: "--version -V --help -h --help-env --help-xoptions --help-all", opts: []option{
			{flags: "-u -B -E -I -s -S -q -O -b -d -v -P"}, {values: "-W --check-hash-based-pycs", does: plain},
			{flags: "-i -x", values: "-X", does: asks, consequence: lost, why: "runs more Python code"},
			{values: "-m", does: plain | ends}, {values: "-c", does: plain | ends},
		},
	},
	// safe: node --check a.js
	// asks: node a.js
	// safe: node --test
	// safe: node --test test/a.test.js
	// asks: node --test --require ./x
	// asks: node --test --test-reporter=./x.js
	// asks: node --test -e x
	{
		names: "node nodejs iojs", every: guessCode, risk: umpire.Safe,
		why: unjudged("JavaScript"), style: leading, args: "script data…", check: checkSyntax,
		about: "--version -v --help -h --v8-options", opts: []option{
			{flags: "--check -c", why: "checks the syntax"},
			{flags: "--trace-warnings --no-warnings --enable-source-maps --experimental-strip-types",
				values: "--max-old-space-size", does: plain},
			{flags: "--watch -i --interactive", values: "-e --eval -p --print --run",
				attached: "--inspect --inspect-brk", does: asks, consequence: lost, why: unjudged("JavaScript")},
			{flags: "--test", why: runsTests},
			{flags: "--test-only --test-force-exit --experimental-test-coverage",
				values: "--test-name-pattern --test-skip-pattern --test-timeout --test-concurrency", does: plain},
			{values: "--test-reporter", does: obeys, why: "loads the reporter that it names",
				limits: &limits{except: "spec tap dot junit lcov"}},
			{values: "-r --require --import --loader --experimental-loader --env-file --input-type -C", does: obeys,
				why: "loads more JavaScript code"},
		},
	},
	// safe: deno --version
	// asks: deno run a.ts
	{
		names: "deno", every: guessCode, risk: umpire.Medium, consequence: lost,
		why: unjudged("JavaScript"), style: leading, check: runsCode,
		about: "--version -V --help -h", opts: []option{{flags: "-q --quiet"}},
		subs: []program{
			{
				names: "check lint info doc", each: true, risk: umpire.Low, why: "checks code without running it",
				args: "data…", check: checkDenoTargets, opts: []option{
					{flags: "--json --quiet -q --no-remote --no-lock --all --private", values: "--filter", does: plain},
					{values: "--output", attached: "--html", does: asks, consequence: reversible,
						why: "writes its pages"},
					{flags: "--fix", does: asks, consequence: reversible, why: changesSources},
					{values: "--config -c --import-map", does: obeys, why: otherRules},
				},
			},
			// safe: deno test -A
			// asks: deno test https://evil.example/x.ts
			{names: "test", risk: umpire.Safe, why: runsTests, args: "data…", check: checkDenoTargets, opts: []option{
				{flags: "-A --allow-all --no-prompt --parallel --quiet -q --trace-leaks --doc --no-run " +
					"--permit-no-files --hide-stacktraces --no-remote --no-lock --frozen", values: "--filter --ignore",
					attached: "--allow-read --allow-env --allow-net --allow-write --allow-run --allow-sys --no-check " +
						"--fail-fast --shuffle", does: plain},
				{values: "--reporter", does: asks, consequence: lost, why: "is not known",
					limits: &limits{except: "pretty dot junit tap"}},
			}},
			// safe: deno fmt --check
			// asks: deno fmt
			{names: "fmt", risk: umpire.Safe, why: "formats code", args: "tree…", check: checkFormatter, opts: []option{
				{flags: "--check", why: "only checks"},
				{flags: "--quiet -q --permit-no-files", values: "--ignore --line-width --indent-width --prose-wrap",
					attached: "--no-semicolons --single-quote --use-tabs", does: plain},
			}},
			{names: "install add remove uninstall publish upgrade update outdated deploy jupyter init", each: true,
				risk: umpire.High, consequence: sent, why: changesPackages, lax: true},
			{names: "help types completions", each: true, risk: umpire.Safe, why: "prints help"},
		},
	},
	// safe: ruby -c a.rb
	// asks: ruby a.rb
	{
		names: "ruby", every: guessCode, risk: umpire.Safe, why: unjudged("Ruby"), style: leading,
		args: "script data…", check: checkSyntax, about: "--version -v --help -h --copyright", opts: []option{
			{flags: "-w -W"},
			{flags: "-c --check", why: "checks the syntax"},
			{flags: "-n -p -a -l -s -S -d", values: "-e -r -I -C -E", attached: "-x -i", does: asks, consequence: lost,
				why: unjudged("Ruby")},
		},
	},
	{names: "irb", risk: umpire.Medium, consequence: reversible, why: unjudged("Ruby"),
		style: leading, args: "code…", check: runsCode, about: "--version -v --help -h"},
	{names: "jruby", risk: umpire.Medium, consequence: reversible,
		why: "runs Ruby code, and obeys the options of a file in the folder", style: leading, args: "code…",
		check: runsCode},
	// safe: perl -v
	// asks: perl -e 1
	{
		names: "perl", every: guessCode, risk: umpire.Medium, consequence: lost,
		why: unjudged("Perl"), style: leading, args: "code read…", check: checkPerl,
		about: "--version -v --help -h", opts: []option{
			{flags: "-w -W -n -p -l -a -s -S -T -t -u -U -X -c -f -0 -1 -2 -3 -4 -5 -6 -7 -8 -9"},
			{values: "-e -E", does: plain | lead}, {values: "-F", does: plain},
			{values: "-I -M -m -D", attached: "-C -x -V -d"},
			{attached: "-i", does: edits | asks, consequence: lost, why: "runs Perl code and changes files in place"},
		},
	},
	// safe: php -l a.php
	// asks: php a.php
	{
		names: "php", every: guessCode, risk: umpire.Safe, why: unjudged("PHP"), style: leading,
		args: "script data…", check: checkSyntax, about: "--version -v --help -h --ini -m --modules", opts: []option{
			{flags: "-i --info", does: asks, consequence: harmless, why: printsEnvironment},
			{flags: "-l --syntax-check", why: "checks the syntax"}, {flags: "-n --no-php-ini -q -C -H"},
			{values: "-c --php-ini", does: obeys},
			{flags: "-a", values: "-r -B -R -F -E -f -d -z -t", does: asks, consequence: lost, why: unjudged("PHP")},
			{values: "-S --server", does: harms, consequence: sent, why: "serves files to the network"},
		},
	},
	{names: "lua luajit luac", every: guessCode, risk: umpire.Medium, consequence: lost, why: runsUnjudged,
		style: leading, args: "code…", check: runsCode, about: "-v"},
	{
		names: "julia R Rscript guile racket clisp sbcl gnuplot m4 octave elixir raku swipl ghci jshell ocaml",
		every: guessCode, risk: umpire.Medium, consequence: lost, why: runsUnjudged, style: leading, args: "code…",
		check: runsCode, about: "--version",
	},
	{names: "tclsh wish expect osascript scala groovy iex erl escript awk-csv bc-run jrunscript jjs kotlin clojure " +
		"clj janet", every: guessCode, risk: umpire.Medium, consequence: lost, why: runsUnjudged, style: leading,
		args: "code…", check: runsCode},
	// safe: jps -l
	// asks: jps host
	{names: "jps", risk: umpire.Safe, why: "lists Java programs that run", args: "none",
		about: "--help", opts: []option{{flags: "-q -m -l -v -V"}}},
	// safe: javap -c -p Foo.class
	// asks: javap -J-Dx Foo
	// asks: javap -cp /etc Foo
	{
		names: "javap", risk: umpire.Safe, why: "prints classes", style: words, args: "read…", check: checkResponseFile,
		about: "-version --version -help --help", opts: []option{
			{flags: "-c -l -p -private -protected -public -package -s -v -verbose -constants -sysinfo"},
			{values: "-cp -classpath --class-path", does: reads},
		},
	},
	// safe: java -version
	// asks: java A
	{
		names: "java", risk: umpire.Medium, consequence: lost, why: unjudged("Java"),
		style: words, args: "code…", check: runsCode,
		about: "-version --version -help --help --list-modules -showversion",
	},
}

// checkShell judges a shell: it walks the code of -c. A script file is unknown, and without
// either the standard input is the code. Start-up files of -l and -i belong to the user and
// count as known.
func checkShell(u *use) {
	if len(u.operands) > 0 && strings.HasPrefix(u.operands[0].text, "+") {
		u.raise(umpire.Medium, "takes an option back")
		return
	}
	switch {
	case startsLauncher(u):
	case u.gave("-n") && !u.gave("-c", "-s", "-i") && len(u.operands) > 0:
		u.onlyReads("checks the syntax of shell code")
	case u.got("-c") != nil:
		walkInlineCode(u)
	case u.gave("-s") || len(u.operands) == 0:
		u.operands = nil
		walkStdinCode(u)
	}
}

// onlyReads treats the first operand as a file that is read, and the others as data.
func (u *use) onlyReads(why umpire.Phrase) {
	u.touch(umpire.KindRead, u.operands[0], accessOf{})
	u.operands, u.why = nil, why
}

func walkInlineCode(u *use) {
	if len(u.operands) == 0 {
		return
	}
	code, args := u.operands[0], u.operands[1:]
	u.operands = nil
	s, in := u.outsideState(), u.in
	s.shells = scan.ShellsOf(u.program0())
	s.args = append([]word{}, args[min(1, len(args)):]...)
	u.then(func() {
		defer beginShell(u.w)()
		u.w.walkCode(s, code, in)
	})
}

// walkStdinCode walks piped input as code.
func walkStdinCode(u *use) {
	switch u.in.kind {
	case flowText:
		s, text := u.outsideState(), u.in.text
		s.shells = scan.ShellsOf(u.program0())
		u.then(func() {
			defer beginShell(u.w)()
			u.w.walkCode(s, lit(text), flow{})
		})
	case flowRemote:
		judgeRemoteCode(u)
	case flowNone:
		u.raise(umpire.Medium, "starts an interactive shell")
	case flowForeign, flowPaths:
		u.raise(umpire.Medium, umpire.Say("runs what %s prints", cmp.Or(u.in.from, "the pipe")))
		u.doubt = "the code is not known before it runs"
	}
}

// judgeRemoteCode judges an interpreter that runs code from the network.
func judgeRemoteCode(u *use) {
	u.raise(umpire.High, "runs what was downloaded from the network")
	u.doubt = "the code is not known before it runs"
}

// runsCode judges an interpreter of another language: its code asks, and if that may be the
// standard input, its origin matters.
func runsCode(u *use) {
	u.raise(umpire.Medium, u.program.why)
	if len(u.operands) > 0 {
		u.runsFile(u.operands[0])
	}
	fromInput := len(u.operands) == 0 && !u.has(asks|ends|lead) || len(u.operands) > 0 && u.operands[0].text == "-"
	if fromInput && u.in.kind == flowRemote {
		judgeRemoteCode(u)
	}
	if len(u.operands) > 0 && u.operands[0].text == "-" {
		u.operands = nil
	}
}

// checkSyntax judges node, ruby and php: checking the syntax only reads.
func checkSyntax(u *use) {
	if startsLauncher(u) {
		return
	}
	if u.got("--check", "-l", "--syntax-check") != nil && len(u.operands) > 0 {
		u.onlyReads("checks the syntax")
		return
	}
	if u.program.name() == "node" && u.got("--test") != nil && u.in.kind == flowNone {
		judgeNodeTests(u)
		return
	}
	runsCode(u)
}

// judgeNodeTests judges `node --test`, which runs the project's tests: all of them, or those in
// the named files.
func judgeNodeTests(u *use) {
	u.why = runsTests
	checkRunner(u)
	u.touchAll(umpire.KindRead, u.operands, accessOf{})
	u.operands = nil
}

// checkPerl records the files that code on the line works on.
func checkPerl(u *use) {
	if !u.has(lead) {
		runsCode(u)
		return
	}
	for _, operand := range u.operands {
		if u.has(edits) {
			u.touch(umpire.KindWrite, operand, accessOf{})
		}
		u.touch(umpire.KindRead, operand, accessOf{})
	}
	u.operands = nil
}

// checkDenoTargets makes commands on remote code ask.
func checkDenoTargets(u *use) {
	u.code = u.code || u.path == "lint" // deno.json names its plugins
	for _, operand := range u.operands {
		if operand.open || strings.Contains(operand.text, ":") {
			u.raiseTo(umpire.Medium, sent, umpire.Say("downloads %s", operand.display()))
			continue
		}
		u.touch(umpire.KindRead, operand, accessOf{})
	}
	u.operands = nil
}

// checkPython judges python: one of its own modules may be known by its name.
func checkPython(u *use) {
	module := u.got("-m")
	if module == nil || !module.has {
		if !startsLauncher(u) && (!isPython3(u.program0()) || !judgePythonCode(u)) {
			runsCode(u)
		}
		return
	}
	args := u.takeOperands()
	if !module.value.known() {
		u.raise(umpire.Medium, u.program.why)
		return
	}
	judgePythonModule(u, module.value.text, args)
}

// judgePythonModule judges Python's own modules that are programs: some only read, some serve,
// and some are known as programs.
func judgePythonModule(u *use, name string, args []word) {
	defer markShadowed(u)
	switch {
	case name == "json.tool":
		judgeJSONTool(u, args)
	case scan.HasField("http.server SimpleHTTPServer pydoc smtpd xmlrpc.server", name):
		u.raiseTo(umpire.High, sent, "serves files or documentation to the network")
	case scan.HasField("ensurepip", name):
		u.raiseTo(umpire.High, sent, changesPackages)
	case scan.HasField("pip pip3 pytest mypy black isort flake8 ruff pylint tox nox coverage poetry pipx uv "+
		"pycodestyle bandit vulture yapf pyflakes pre_commit", name):
		u.why, u.code = umpire.Say("runs %s", name), u.w.codeProgram(strings.ReplaceAll(name, "_", "-"))
		walkInFreshShell(u, append([]word{lit(strings.ReplaceAll(name, "_", "-"))}, args...))
	case name == "unittest":
		judgeUnittest(u, args)
	case scan.HasField("py_compile ast tokenize dis tabnanny", name):
		u.pythonFiles("compiles Python code without running it", args)
	case scan.HasField("zipfile tarfile", name) && len(args) == 2 && args[0].known() &&
		scan.HasField("-l --list -t --test", args[0].text):
		u.pythonFiles("lists an archive", args[1:])
	case scan.HasField("site sysconfig platform this", name) && len(args) == 0:
		u.why = "prints something about Python"
	case scan.HasField("venv virtualenv compileall zipapp", name):
		u.raiseTo(umpire.Medium, reversible, "writes files")
		for _, arg := range args {
			if !arg.maybeOption() {
				u.touch(umpire.KindWrite, arg, accessOf{tree: true})
			}
		}
	default:
		u.code = true
		u.raise(umpire.Medium, umpire.Say("runs the Python module %s", name))
	}
}

// judgeUnittest judges `python -m unittest`, which runs the project's tests.
func judgeUnittest(u *use, args []word) {
	u.why = runsTests
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg.known() && scan.HasField("-v --verbose -q --quiet -f --failfast -b --buffer -c --catch --locals "+
			"discover",
			arg.text):
		case arg.known() && scan.HasField("-k -p --pattern --durations", arg.text):
			i++
		case arg.known() && scan.HasField("-s --start-directory -t --top-level-directory", arg.text) && i+1 < len(args):
			i++
			u.touch(umpire.KindRead, args[i], accessOf{})
		case arg.maybeOption():
			u.raise(umpire.Medium, unjudgedOption(arg.display(), "unittest"))
		case strings.ContainsAny(arg.text, "/"):
			u.touch(umpire.KindRead, arg, accessOf{})
		}
	}
}

// pythonFiles judges a module that only reads the given files.
func (u *use) pythonFiles(why umpire.Phrase, files []word) {
	u.why = why
	if len(files) == 0 {
		u.raise(umpire.Medium, "runs code that it reads")
	}
	for _, file := range files {
		if file.maybeOption() || file.text == "-" {
			u.raise(umpire.Medium, umpire.Say("the option %s is not known", file.display()))
			continue
		}
		u.touch(umpire.KindRead, file, accessOf{})
	}
}

// judgeJSONTool judges `python -m json.tool [options] [infile [outfile]]`.
func judgeJSONTool(u *use, args []word) {
	u.why = "prints JSON"
	files := 0
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg.text == "--indent":
			i++
		case arg.known() && scan.HasField("--sort-keys --json-lines --tab --no-indent --compact --no-ensure-ascii -v "+
			"-e",
			arg.text):
		case arg.maybeOption():
			u.raise(umpire.Medium, unjudgedOption(arg.display(), "json.tool"))
		case files == 1:
			u.raiseTo(umpire.Medium, reversible, "writes a file")
			u.touch(umpire.KindWrite, arg, accessOf{})
		default:
			u.touch(umpire.KindRead, arg, accessOf{})
			files++
		}
	}
}

// walkInFreshShell walks a command that another program starts, which does not have the
// functions and aliases of this shell.
func walkInFreshShell(u *use, words []word) {
	s, in := u.outsideState(), u.in
	u.then(func() {
		defer u.w.openPart()()
		u.w.runWords(s, words, in)
	})
}
