package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// goBuild are the options that go build, test and run share. Options that name a program or a file
// for the build to obey are in goRuns.
var goBuild = []option{
	{flags: "-a -n -race -msan -asan -cover -v -work -x -json -linkshared -modcacherw -trimpath",
		values: "-covermode -coverpkg -buildmode -installsuffix -p -tags", attached: "-buildvcs", does: plain},
}

const (
	buildsProject = "compiles the project, and runs none of its code"
	fetchesCode   = "downloads code"
)

// goTools are go and the programs that work on Go code.
var goTools = []program{
	{
		names: "go", risk: umpire.Medium, consequence: lost, why: "works on Go code", style: words,
		about: "-h --help -help", opts: []option{{values: "-C", does: enters, why: worksInOther}},
		subs: []program{
			{names: "version", risk: umpire.Safe, why: "prints the version", style: words, args: "read…",
				opts: []option{{flags: "-m -v -json"}}},
			{names: "env", risk: umpire.Safe, why: "prints Go's settings", style: words, opts: []option{
				{flags: "-json -changed"},
				{flags: "-w -u", does: harms, consequence: lost, why: "changes Go's settings for good"},
			}},
			{names: "help", risk: umpire.Safe, why: "prints help", style: words},
			{names: "doc", risk: umpire.Safe, why: "prints documentation", style: words,
				opts: []option{{flags: "-all -c -cmd -short -src -u -ex"}}, args: "data…"},
			{names: "list", risk: umpire.Safe, why: "lists packages", style: words, check: checkGoList, opts: []option{
				{flags: "-json -m -e -u -retracted -versions -deps -test -find -compiled -export -race -v -n -x " +
					"-trimpath", values: "-f -tags -reuse -buildvcs -p", does: plain},
				{values: "-mod", does: asks, consequence: reversible, why: changesModules,
					limits: &limits{except: "readonly vendor"}},
				{values: goRuns, does: obeys, why: obeysBuild},
			}},
			// safe: go vet ./...
			{
				names: "vet", risk: umpire.Safe, why: "analyses code without running it", style: words, args: "read…",
				opts: []option{
					{flags: "-json -n -x -v -race -all -atomic -bool -assign -copylocks -printf -nilness -shadow " +
						"-unusedresult -composites -structtag -lostcancel -loopclosure -unreachable -tests -diff",
						values: "-c -tags -p", does: plain},
					{values: "-mod", does: asks, consequence: reversible, why: changesModules,
						limits: &limits{except: "readonly vendor"}},
					{values: goRuns + " -vettool", does: obeys, why: obeysBuild},
					{flags: "-fix", does: asks, consequence: reversible, why: "changes source files"},
				},
			},
			{names: "build", risk: umpire.Low, why: buildsProject, style: words, check: checkGoBuild,
				also: []*[]option{&goBuild}, opts: []option{
					{values: "-pgo", does: reads, limits: &limits{except: "auto off"}},
					{values: goFlags, does: plain},
					{values: "-o", does: plain},
					{values: "-mod", does: asks, consequence: reversible, why: changesModules,
						limits: &limits{except: "readonly vendor"}},
					{values: goRuns + goCompilers, does: obeys, why: obeysBuild},
				}},
			{names: "test", risk: umpire.Safe, why: runsTests, style: words, check: checkGoTest,
				also: []*[]option{&goBuild}, opts: []option{
					{flags: "-benchmem -failfast -fullpath -short -test.v", values: "-run -bench -benchtime -count " +
						"-cpu -fuzztime -list -parallel -shuffle -skip -timeout -vet -test.run", does: plain},
					{values: "-pgo", does: reads, limits: &limits{except: "auto off"}}, {values: goFlags, does: plain},
					{values: "-o -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir " +
						"-test.gocoverdir -test.testlogfile", does: writes, why: "writes a profile"},
					{flags: "-c -i -artifacts", does: asks, consequence: reversible, why: "writes what was built"},
					{values: "-fuzz", does: asks, consequence: lost,
						why: "runs until it is stopped, and writes what it finds"},
					{flags: "-args", does: ends | asks, consequence: lost, why: "passes options to the tests"},
					{values: "-mod", does: asks, consequence: reversible, why: changesModules,
						limits: &limits{except: "readonly vendor"}},
					{values: goRuns + goCompilers, does: obeys, why: obeysBuild},
				}},
			// asks: go run .
			{
				names: "run", risk: umpire.Medium, consequence: lost, why: "builds and runs Go code", style: words,
				check: checkGoRun, also: []*[]option{&goBuild}, opts: []option{
					{values: "-mod", does: plain},
					{values: "-pgo", does: reads, limits: &limits{except: "auto off"}}, {values: goFlags, does: plain},
					{values: goRuns + goCompilers, does: obeys, why: obeysBuild},
				},
			},
			{names: "fmt fix generate telemetry", each: true, risk: umpire.Medium, consequence: lost,
				why: "changes source files or runs the programs that they name", style: words, lax: true},
			{
				names: "tool", risk: umpire.Medium, consequence: lost,
				why: "runs one of Go's tools, or of the project's", style: words, opts: []option{{flags: "-n"}},
				subs: []program{
					{
						names: "dist", risk: umpire.Medium, consequence: lost, why: "builds Go itself", style: words,
						subs: []program{
							{names: "list version env", each: true, risk: umpire.Safe, why: "prints what it knows",
								style: words, args: "none", opts: []option{{flags: "-json -v -broken"}}},
						},
					},
					{
						names: "cover", risk: umpire.Safe, why: "prints how much the tests cover", style: words,
						args: "read…", opts: []option{
							{values: "-func", does: reads},
							{values: "-html -o -mode -var -pkgcfg -outfilelist", does: asks, consequence: reversible,
								why: "writes pages or source files"},
							{flags: "-V"},
						},
					},
					{
						names: "nm objdump buildid addr2line", each: true, risk: umpire.Safe, why: "reads object files",
						style: words, args: "read…", opts: []option{
							{flags: "-n -size -type -S -gnu", values: "-sort -s", does: plain},
							{flags: "-w", does: asks, consequence: reversible, why: "changes the file"},
						},
					},
					// safe: go tool pprof -top cpu.out
					// asks: go tool pprof cpu.out
					// asks: go tool pprof -top http://evil.example
					// asks: go tool pprof -list . cpu.out
					// asks: go tool pprof -http=:1 cpu.out
					{
						names: "pprof", risk: umpire.Safe, why: "reads profiles", style: words, args: "read…",
						check: checkPprof, opts: []option{
							{flags: "-top -text -tree -traces -raw -cum -flat -lines -functions -files " +
								"-filefunctions -inuse_space -inuse_objects -alloc_space -alloc_objects -contentions " +
								"-mean_delay", values: "-peek -nodecount -nodefraction -edgefraction -focus -ignore " +
								"-show -hide -show_from -sample_index -unit", does: plain},
							{values: "-base -diff_base", does: reads},
						},
					},
					{
						names: "compile link asm vet", each: true, risk: umpire.Medium, consequence: reversible,
						why: "compiles, and writes what it builds", style: words, lax: true, about: "-V",
					},
				},
			},
			{names: "install get", each: true, risk: umpire.High, consequence: reversible,
				why: "downloads code and installs it", style: words, lax: true},
			{
				names: "clean", risk: umpire.Medium, consequence: reversible, why: "deletes what was built",
				style: words, opts: []option{
					{flags: "-i -n -r -x -cache -testcache"},
					{flags: "-modcache -fuzzcache", does: harms, consequence: lost,
						why: "deletes what was downloaded or found"},
				},
			},
			{
				names: "mod", risk: umpire.Medium, consequence: reversible, why: "works on go.mod", style: words,
				subs: []program{
					{names: "graph why verify", each: true, risk: umpire.Safe, why: "looks at the modules",
						style: words, opts: []option{{flags: "-m -vendor -x", values: "-go", does: plain}}},
					// safe: go mod tidy -diff
					// asks: go mod tidy
					// asks: go mod tidy -diff=false
					{
						names: "tidy", risk: umpire.Medium, consequence: reversible, why: "changes go.mod",
						style: words, lax: true, check: checkGoTidy,
						opts: []option{
							{flags: "-diff", why: "only prints"},
							{flags: "-v -x -e", values: "-go -compat", does: plain},
						},
					},
					// safe: go mod edit -json
					// asks: go mod edit -json -replace=a=b
					// asks: go mod edit -json=false
					{names: "edit", risk: umpire.Medium, consequence: reversible, why: "changes go.mod", style: words,
						lax: true, check: checkGoEdit, opts: []option{{flags: "-json -print", why: "only prints"}}},
					{names: "vendor init", each: true, risk: umpire.Medium, consequence: reversible,
						why: "changes go.mod", style: words, lax: true},
					{names: "download", risk: umpire.Medium, consequence: reversible, why: fetchesCode, style: words,
						check: checkGoDownload, opts: []option{{flags: "-x -json", values: "-reuse", does: plain}}},
				},
			},
			{names: "work", risk: umpire.Medium, consequence: reversible, why: "changes go.work", style: words,
				lax: true},
		},
	},
	// safe: gofmt -l .
	// asks: gofmt -w .
	{
		names: "gofmt gofumpt", formats: ".go", risk: umpire.Safe, why: "prints formatted code", style: words,
		args: "tree…", about: "-version --version -h -help --help", opts: []option{
			{flags: "-d -e -l -s -extra", values: "-r -lang -modpath", does: plain},
			{flags: "-w", does: edits | asks, consequence: reversible, why: "changes source files"},
			{values: "-cpuprofile", does: writes},
		},
	},
	// safe: goimports -l .
	// asks: goimports -w .
	{
		names: "goimports golines gofumports", formats: ".go", risk: umpire.Safe, why: "prints formatted code",
		style: words, args: "tree…", about: "-h -help --help", opts: []option{
			{flags: "-d -e -l -v -format-only -dry-run", values: "-local -m", does: plain},
			{flags: "-w", does: edits | asks, consequence: reversible, why: "changes source files"},
			{values: "-cpuprofile -memprofile -trace", does: writes},
		},
	},
	// safe: staticcheck ./...
	// asks: staticcheck --surprise
	{
		names: "staticcheck errcheck ineffassign deadcode govulncheck unparam gocyclo nilaway revive",
		risk:  umpire.Safe, why: "analyses code without running it", style: words, args: "read…",
		about: "-version --version -h -help --help", opts: []option{
			{flags: "-tests -show-ignored -matrix -merge -blank -asserts -ignoretests -test -json -avg -v",
				values: "-checks -f -format -fail -go -tags -explain -exclude -scan -mode -show -over -top",
				does:   plain},
		},
	},
	{
		names: "golangci-lint", risk: umpire.Medium, consequence: reversible, why: "works on Go code", style: leading,
		about: "--version --help -h", opts: []option{{flags: "-v --verbose", values: "--color", does: plain}},
		subs: []program{
			// safe: golangci-lint run
			// asks: golangci-lint run --fix
			{names: "run", risk: umpire.Safe, why: "analyses code without running it", args: "read…", opts: []option{
				{flags: "-v --verbose --disable-all --enable-all --fast --fast-only --new --show-stats " +
					"--allow-parallel-runners --allow-serial-runners --no-config --print-issued-lines " +
					"--print-linter-name --whole-files --uniq-by-line --output.text.print-issued-lines",
					values: "--color -E -D -p --enable --disable --enable-only --default --presets --timeout " +
						"--new-from-rev --new-from-merge-base --build-tags --max-issues-per-linter --max-same-issues " +
						"--concurrency -j --issues-exit-code --exclude --exclude-dirs --exclude-files",
					attached: "--tests", does: plain},
				{values: "-c --config", does: obeys | reads, why: "obeys another configuration, which can load code"},
				{flags: "--fix", does: asks, consequence: reversible, why: "changes source files"},
				{values: "--modules-download-mode", does: plain},
				{values: "--output.text.path --output.tab.path --output.code-climate.path --output.junit-xml.path " +
					"--output.checkstyle.path --cpu-profile-path --mem-profile-path --trace-path --output.json.path " +
					"--output.sarif.path --output.html.path", does: writes, limits: &limits{except: "stdout stderr"}},
				{values: "--out-format", does: asks, consequence: reversible, why: "can write a report",
					limits: &limits{except: "json tab line-number colored-line-number colored-tab checkstyle " +
						"code-climate html junit-xml github-actions teamcity sarif"}},
				{values: "--new-from-patch", does: reads},
			}, about: "-h --help"},
			{names: "linters help version formatters", each: true, risk: umpire.Safe, why: "prints what it knows",
				lax: true, opts: []option{{values: "-c --config", does: reads | obeys, why: otherRules}}},
			{
				names: "config", risk: umpire.Medium, consequence: reversible, why: "works on its configuration",
				lax: true, style: leading,
				subs: []program{
					{names: "path verify", each: true, risk: umpire.Safe, why: "looks at its configuration"},
				},
			},
		},
	},
}

const (
	goFlags        = "-gcflags -ldflags -asmflags"
	goCompilers    = " -compiler -gccgoflags"
	goRuns         = "-exec -toolexec -overlay -modfile -pkgdir -C"
	changesModules = "changes go.mod and downloads code"
	obeysBuild     = "runs another program or builds other files"
)

// checkGoTidy and checkGoEdit allow commands that only print.
func checkGoTidy(u *use) {
	if u.gave("-diff") && !u.givesOther("-diff -v -x -e") {
		u.onlyShows("prints what it would change")
	}
}

func checkGoEdit(u *use) {
	if len(u.given) > 0 && !u.givesOther("-json -print") {
		u.onlyShows("prints go.mod")
	}
}

// givesOther reports whether an argument is not on a list.
func (p *parsed) givesOther(accepted string) bool {
	for _, wd := range p.words[len(strings.Fields(p.table)):] {
		if !wd.known() || !scan.HasField(accepted, wd.text) {
			return true
		}
	}
	return false
}

// checkPprof makes pprof ask unless it prints a report on a file: without a report it opens a
// prompt, and it fetches a URL. Subcommands that list sources are left out, because a profile
// can name any file.
func checkPprof(u *use) {
	if !u.gave("-top", "-text", "-tree", "-traces", "-raw", "-peek") || len(u.operands) == 0 {
		u.raise(umpire.Medium, "opens a prompt")
	}
	if u.operandContains(":") {
		u.raiseTo(umpire.Medium, sent, "downloads a profile")
	}
}

// checkGoList makes go list ask if it contacts the network or if an operand is not a package
// name.
func checkGoList(u *use) {
	if !u.gave("-m") {
		notePathOperands(u)
		return
	}
	if !u.gave("-u", "-versions", "-retracted") && !u.operandContains("@") {
		return
	}
	if !u.risk.AtLeast(umpire.Medium) && u.asksPublicModules() {
		u.why = asksRegistry
		return
	}
	for _, operand := range u.operands {
		u.visit(operand, umpire.Medium, "asks the module proxy about it")
	}
	if len(u.operands) == 0 {
		u.raiseTo(umpire.Medium, sent, "asks the module proxy")
	}
}

// operandContains reports whether an operand contains text or is unknown.
func (a *arguments) operandContains(text string) bool {
	for _, operand := range a.operands {
		if operand.open || strings.Contains(operand.text, text) {
			return true
		}
	}
	return false
}

// notePathOperands records reads of the package patterns that are paths.
func notePathOperands(u *use) {
	for _, operand := range u.operands {
		if operand.open || pathLike(operand.text) {
			u.touch(umpire.KindRead, operand, accessOf{})
		}
	}
	u.operands = nil
}

// pathLike reports whether a package is given as a folder or a file.
func pathLike(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") || strings.HasSuffix(name, ".go")
}

// checkGoBuild records the packages given as paths, and judges the compiler's flags.
func checkGoBuild(u *use) {
	for _, g := range u.given {
		if scan.HasField(goFlags, g.name) && !plainFlags(g.value) {
			u.raise(umpire.Medium, umpire.Say("tells the compiler or the linker %s", g.value.display()))
		}
		if g.name == "-o" && g.has && u.program.name() == "build" {
			noteGoOutput(u, g.value)
		}
	}
	notePathOperands(u)
}

// noteGoOutput records the program that go build writes. It writes one even without -o. In
// either case go replaces only an empty file or one that it recognizes as built, apart from the
// header that other build modes write.
func noteGoOutput(u *use, file word) {
	of := accessOf{table: u.table + " -o", why: "writes the program", risk: umpire.Low}
	if u.gave("-buildmode") || strings.HasPrefix(file.text, "-") {
		u.raiseTo(umpire.Medium, reversible, "writes more than the program")
		of.risk = umpire.Medium
	}
	u.touch(umpire.KindWrite, file, of)
}

// plainFlags reports whether flags for the compiler or the linker neither start a program nor
// name a file: smaller output, debugging, the text of a variable.
func plainFlags(value word) bool {
	if !value.known() {
		return false
	}
	fields := strings.Fields(strings.Trim(value.text, `"'`))
	for i, field := range fields {
		assigned := i > 0 && fields[i-1] == "-X" && strings.Contains(field, "=") && field[0] != '-'
		if field == "all=-N" && i == 0 || scan.HasField("-s -w -X -N -l -m -m=2 -race -d=checkptr", field) || assigned {
			continue
		}
		return false
	}
	return true
}

// checkGoTest judges the tested packages: a package given by its path belongs to the project,
// one given by its name may be third-party code.
func checkGoTest(u *use) {
	if u.gave("-args") {
		u.operands = nil
	}
	for _, operand := range u.operands {
		module := !pathLike(operand.text) || strings.Index(operand.text, "/") > 0 && operand.text[0] != '.'
		if operand.open || module {
			u.raise(umpire.Medium,
				umpire.Say("runs the tests of %s, which may not be the project's own", operand.display()))
		}
	}
	checkGoBuild(u)
}

// checkGoRun judges the package of go run: one with a version is downloaded.
func checkGoRun(u *use) {
	if len(u.operands) == 0 {
		return
	}
	target := u.operands[0]
	u.operands = u.operands[:1]
	if u.operandContains("@") {
		u.raise(umpire.High, umpire.Say("downloads %s and runs it", target.display()))
	}
	notePathOperands(u)
}

// checkGoDownload raises the risk of downloads that go.mod does not name.
func checkGoDownload(u *use) {
	if len(u.operands) > 0 {
		u.raise(umpire.High, "downloads code that the project need not name")
	}
	u.operands = nil
}
