package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// codeFamilies are the tables whose programs run code or tool settings of the project. Every
// use of them does, unless codeFree lists it with a reason. A new entry therefore counts as
// running project code until it is reviewed.
var codeFamilies = [...]*[]program{
	&buildTools, &testRunners, &styleChecks, &codeChecks, &packageManagers, &scriptPackages,
	&pythonPackages, &languagePackages, &languageRunners, &goTools,
}

// A freeUse is a use of programs of codeFamilies that runs no project code.
type freeUse struct {
	programs string
	// subs are the space-separated subcommands; "" means every use of the program. Nested ones
	// are joined by dots: "config.get".
	subs string
	why  string
}

const (
	systemWide   = "works on the packages of the machine, by the settings of the machine"
	onlyParses   = "parses the files that it is given; its settings cannot name code"
	listsFromAll = "reads manifests, lock files and the registry's answers; runs no scripts"
	printsOwn    = "prints what it knows of itself or of the machine"
)

// codeFree are those uses. Options that only print something about the program are always free.
var codeFree = []freeUse{
	{
		"brew apt apt-get aptitude apt-mark apt-file apt-cache dpkg dpkg-deb dpkg-query rpm dnf yum microdnf zypper " +
			"tdnf apk pacman yay paru emerge xbps-install",
		"", systemWide,
	},
	{"snap flatpak port pkg pkgin opkg slackpkg swupd choco scoop winget mas eopkg", "", systemWide},

	{
		"rustc gcc g++ cc c++ clang clang++ tcc javac gfortran nasm yasm as ld gold lld objcopy gccgo bison yacc " +
			"flex lex flatc",
		"", "compiles the files that it is given",
	},
	{"rustfmt clang-format gofmt gofumpt gofumports golines goimports", "", onlyParses},
	{"cargo", "metadata tree search info owner-list help version locate-project pkgid read-manifest fmt", listsFromAll},
	{"rustup", "show which toolchain target component", printsOwn},

	{
		"go", "version env help doc list fmt fix telemetry clean work",
		"parses and lists; compiles nothing of the project",
	},
	{
		"go", "mod.graph mod.why mod.verify mod.tidy mod.edit mod.vendor mod.init mod.download",
		"works on go.mod and the module cache",
	},
	{
		"go",
		"tool.dist tool.cover tool.nm tool.objdump tool.buildid tool.addr2line tool.pprof tool.compile tool.link " +
			"tool.asm",
		"one of Go's own tools, on the files that it is given",
	},
	{"ineffassign gocyclo", "", onlyParses},
	{"golangci-lint", "help version", printsOwn},

	{"tsc", "", "checks types and compiles; its plugins are those of editors, which it does not load"},
	{"ruff black yapf autopep8 pycodestyle pydocstyle pyflakes vulture bandit shellcheck taplo biome", "", onlyParses},

	{
		"npm",
		"list ls la ll view info show v outdated search explain why fund root prefix bin query help help-search " +
			"completion",
		listsFromAll,
	},
	{"npm", "ping whoami doctor audit docs repo bugs home get config.get config.list config.ls pkg.get", listsFromAll},
	{
		"yarn yarnpkg",
		"list why licenses versions bin help info outdated audit config.get config.list workspaces.list " +
			"workspaces.info",
		listsFromAll,
	},
	{
		"pnpm",
		"list ls la ll why licenses root bin outdated view info show search audit config.get config.list config.ls",
		listsFromAll,
	},
	{
		"bun", "pm.ls pm.list pm.bin pm.hash pm.hash-string pm.hash-print pm.why pm.whoami pm.view outdated info why",
		listsFromAll,
	},
	{"corepack nvm fnm volta n asdf pyenv rbenv", "list ls current which whereis versions", printsOwn},

	{"pip pip3 pip2", "list freeze check show inspect debug help index search hash config cache", listsFromAll},
	{"pipx", "list environment", printsOwn},
	{
		"uv", "tree pip.list pip.show pip.freeze pip.tree pip.check version python cache tool.list tool.dir help",
		listsFromAll,
	},
	{"conda mamba micromamba", "list info search env", listsFromAll},
	{
		"gem", "list environment env contents dependency which query help search info outdated specification",
		listsFromAll,
	},

	{"flutter dart", "format doctor devices emulators info", onlyParses},
	{"zig", "version env targets zen fmt ast-check", onlyParses},
}

// A configuredProgram is a program that always obeys files of the project, even to print its
// version: they name a program or code that it then runs.
type configuredProgram struct {
	programs, files string
	why             string
}

// configuredPrograms are those programs, with the files that they look for in a folder and the
// folders above it.
var configuredPrograms = []configuredProgram{
	{"yarn yarnpkg", ".yarnrc.yml .yarnrc", "yarnPath and plugins are code that yarn loads first"},
	{"npm npx", ".npmrc", "names the programs that npm starts: shell, git, browser"},
	{
		"pnpm pnpx", ".pnpmfile.cjs .pnpmfile.mjs pnpm-workspace.yaml .npmrc",
		"hooks of the workspace are code that pnpm loads",
	},
	{"bun bunx", "bunfig.toml", "preloads code"},
	{
		"cargo rustc rustfmt rustup", ".cargo/config.toml .cargo/config rust-toolchain.toml rust-toolchain",
		"names the compiler, its wrapper, and the folder of a toolchain",
	},
	{
		"poe", "pyproject.toml poe_tasks.toml poe_tasks.yaml poe_tasks.json",
		"tasks may be made by a script, also to list them",
	},
	{
		"gradle", "gradle.properties gradle/wrapper/gradle-wrapper.properties gradle/gradle-daemon-jvm.properties",
		"names the virtual machine and its options",
	},
	{"mvn", ".mvn", "names extensions and options of the virtual machine"},
	{"dotnet", "global.json", "names the folder of a kit"},
	{
		"pytest py.test",
		"conftest.py tests/conftest.py test/conftest.py testing/conftest.py pytest.ini .pytest.ini pyproject.toml " +
			"setup.cfg tox.ini",
		"before version 9 plugins and conftest.py are loaded for --version too",
	},
	{
		"mocha",
		".mocharc.js .mocharc.cjs .mocharc.mjs .mocharc.json .mocharc.jsonc .mocharc.yaml .mocharc.yml package.json",
		"settings may be code, and name options of node",
	},
	{"rspec", ".rspec .rspec-local", "its file of options is a template that runs Ruby"},
	{"uv", ".venv", "the interpreter of the environment is started"},
}

// runsCode reports whether the use runs code or obeys settings of the project.
func (u *use) runsCode() bool {
	name := u.program0()
	switch {
	case u.code || u.why == runsTests || u.launcher.text != "":
		return true
	case !u.w.codeProgram(name):
		return false
	case obeysFile(u.w, u.s, name):
		return true
	case u.about || u.reads:
		return false
	}
	return !freeOf(name, u.path) && !compilesOnly(u, name)
}

// goSettings are files that name plugins for golangci-lint. foreignRepositories are folders of
// other version-control systems, whose programs go runs to find the version that it builds.
const (
	goSettings          = ".golangci.yml .golangci.yaml .golangci.toml .golangci.json"
	foreignRepositories = ".hg .svn .bzr .fslckout _FOSSIL_"
)

// compilesOnly reports whether a use of Go's compiler, or of a linter's own checks, runs no
// code and obeys no settings of the project: go build promises not to run the code that it
// compiles. It asks git for the state of the folder, so the repository must name no program.
func compilesOnly(u *use, name string) bool {
	compiles := name == "go" && scan.HasField("build vet", u.path)
	lints := name == "golangci-lint" && u.path == "run" && !findsFile(u.w, u.s, strings.Fields(goSettings)...)
	if !compiles && !lints || u.w.env.Git == nil || findsFile(u.w, u.s, strings.Fields(foreignRepositories)...) {
		return false
	}
	runsProgram := func(s GitSetting) bool { return explainRun(s, "status", false) != "" }
	for _, dir := range u.s.dirs {
		r := findRepository(u.w, dir)
		if r.problem != "" || slices.ContainsFunc(r.settings, runsProgram) {
			return false
		}
	}
	return true
}

// codeProgram reports whether the built-in entry of a program is one of codeFamilies. A
// person's own entry takes precedence.
func (w *walker) codeProgram(name string) bool {
	if w.env.Programs != nil && findNamed(w.env.Programs.programs, name) != nil {
		return false
	}
	for _, family := range w.coded {
		if findNamed(*family, name) != nil {
			return true
		}
	}
	return false
}

// obeysFile reports whether a file exists that a program always obeys. It returns true if it
// cannot look for the files.
func obeysFile(w *walker, s *state, name string) bool {
	for i := range configuredPrograms {
		if !scan.HasField(configuredPrograms[i].programs, name) {
			continue
		}
		return findsFile(w, s, strings.Fields(configuredPrograms[i].files)...)
	}
	return false
}

// findsFile reports whether one of the files exists in the working folder or above it. It
// returns true if it cannot look for them.
func findsFile(w *walker, s *state, names ...string) bool {
	if w.env.Find == nil || len(s.dirs) == 0 {
		return true
	}
	for _, dir := range s.dirs {
		if w.env.Find(dir, names...) != "" {
			return true
		}
	}
	return false
}

// freeOf reports whether codeFree lists a use; path is its subcommands joined by dots.
func freeOf(name, path string) bool {
	for i := range codeFree {
		free := &codeFree[i]
		if !scan.HasField(free.programs, name) {
			continue
		}
		if free.subs == "" {
			return true
		}
		for at := path; at != ""; {
			if scan.HasField(free.subs, at) {
				return true
			}
			dot := strings.LastIndexByte(at, '.')
			if dot < 0 {
				break
			}
			at = at[:dot]
		}
	}
	return false
}

// localPython are the modules that Python's own programs load. A file of that name in the
// folder takes precedence over the library's.
const localPython = "json argparse re sys os io abc enum types typing functools collections keyword operator reprlib " +
	"copyreg copy string pathlib fnmatch ntpath posixpath genericpath stat errno urllib ipaddress gettext locale " +
	"shutil shlex zlib bz2 lzma tarfile zipfile struct ast token tokenize dis opcode inspect linecache importlib " +
	"contextlib warnings traceback weakref textwrap codecs encodings site sysconfig platform subprocess signal " +
	"threading time datetime random math hashlib bisect heapq itertools select selectors socket tempfile glob " +
	"py_compile tabnanny unittest difflib pprint dataclasses calendar email logging csv configparser queue binascii " +
	"base64 html http xml webbrowser getopt this __future__ _weakrefset _collections_abc _sitebuiltins"

// markShadowed marks the run of one of Python's modules from a folder if a file with the same
// name, or with that of a module it loads, would run in its place.
func markShadowed(u *use) {
	if u.got("-I", "-P") != nil {
		return
	}
	if u.w.env.Entries == nil || len(u.s.dirs) == 0 {
		u.code = true
		return
	}
	for _, dir := range u.s.dirs {
		names, err := u.w.env.Entries(dir)
		if err != nil {
			u.code = true
			return
		}
		for _, name := range names {
			module, _, _ := strings.Cut(name, ".")
			if scan.HasField(localPython, module) && module != "" {
				u.code = true
				u.raise(umpire.Low, umpire.Say("%s, unless %s beside it runs in its place", u.why, name))
				return
			}
		}
	}
}
