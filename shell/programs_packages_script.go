package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// The options that listings and scripts of JavaScript package managers accept. Options that
// name another registry, shell, folder or configuration are left out.
var (
	npmLooks = []option{
		{flags: "--json --long --parseable --silent --all --prod --production --dev --link --workspaces --global " +
			"--no-color --no-fund --no-audit --no-update-notifier --package-lock-only --quiet --verbose " +
			"--include-workspace-root --unicode", values: "--depth --omit --include --only --workspace -w --loglevel",
			attached: "--color", does: plain},
	}
	npmShort  = []option{{flags: "-l -p -s -a -g -q -d", does: plain}}
	npmScript = []option{
		{flags: "--silent --if-present --workspaces --no-color --ignore-scripts --quiet --verbose " +
			"--include-workspace-root --foreground-scripts", values: "--workspace -w --loglevel", attached: "--color",
			does: plain},
	}
)

const (
	downloadsRun = "downloads a package and runs its code"
	worksInOther = "works in another folder"
)

// globally are options that install for the whole machine, where no old state is kept.
var globally = []option{
	{flags: "-g --global", does: harms, consequence: lost, why: changesPackages},
	{values: otherIndex, does: harms, consequence: lost, why: fromElsewhere},
}

// scriptPackages are the package managers of JavaScript.
var scriptPackages = []program{
	{
		names: "npm", manifests: "package.json", risk: umpire.High, consequence: sent, why: changesPackages,
		style: leading, about: "--version -v --help -h -l", also: []*[]option{&npmScript}, opts: []option{
			{flags: "-s -q"}, {values: "-C --prefix", does: enters, why: worksInOther},
		},
		subs: []program{
			// safe: npm ls
			{names: "list ls la ll", each: true, risk: umpire.Safe, why: listsPackages,
				about: aboutItself, also: []*[]option{&npmLooks, &npmShort}},
			{
				names: "view info show v outdated search explain why fund", each: true, risk: umpire.Safe,
				why: asksRegistry, check: registryNames, about: aboutItself, also: []*[]option{&npmLooks, &npmShort},
			},
			{
				names: "root prefix bin query help help-search completion", each: true, risk: umpire.Safe,
				why: listsPackages, about: aboutItself, also: []*[]option{&npmLooks, &npmShort},
			},
			{names: "ping whoami doctor", each: true, risk: umpire.Low, why: asksRegistry, args: "none",
				about: aboutItself, opts: []option{{flags: "--json"}}},
			{
				names: "audit", risk: umpire.Low, why: asksRegistry,
				about: aboutItself, also: []*[]option{&npmLooks, &npmShort}, opts: []option{
					{flags: "--no-package-lock", values: "--audit-level", does: plain},
				},
				subs: []program{
					{names: "fix", risk: umpire.High, consequence: reversible, why: changesPackages, lax: true},
					{names: "signatures", risk: umpire.Low, why: asksRegistry, opts: []option{{flags: "--json"}}},
				},
			},
			{names: "test t tst", risk: umpire.Safe, why: runsTests, args: "read…", check: checkNamedScript,
				about: aboutItself, also: []*[]option{&npmScript}, opts: []option{{flags: "-s"}}},
			{
				names: "run run-script rum urn", risk: umpire.Safe, why: "lists the project's scripts", args: "read…",
				check: checkScript, about: aboutItself, also: []*[]option{&npmScript}, opts: []option{{flags: "-s"}},
			},
			{names: "start stop restart", each: true, risk: umpire.Medium, consequence: lost,
				why: "runs a script of the project", lax: true, check: checkNamedScript},
			{
				names: "config c", risk: umpire.High, consequence: lost, why: "changes npm's configuration",
				style: leading, opts: []option{{flags: "--json --global -g"}},
				subs: []program{
					{names: "get list ls", each: true, risk: umpire.Safe, why: "prints npm's configuration",
						check: secretSetting, opts: []option{{flags: "--json --long --global"}, {flags: "-g -l"}}},
				},
			},
			{names: "get", risk: umpire.Safe, why: "prints npm's configuration", check: secretSetting,
				opts: []option{{flags: "--json --global -g"}}},
			{
				names: "pkg", risk: umpire.Medium, consequence: reversible, why: "changes package.json", style: leading,
				subs: []program{
					{names: "get", risk: umpire.Safe, why: "prints package.json",
						also: []*[]option{&npmScript}, opts: []option{{flags: "--json", does: plain}}},
					{names: "set delete fix", each: true, risk: umpire.Medium, consequence: reversible,
						why: "changes package.json, whose scripts run", lax: true},
				},
			},
			{names: "pack", risk: umpire.Medium, consequence: lost, why: "builds a package with the project's scripts",
				lax: true},
			{names: "docs repo bugs home", each: true, risk: umpire.Medium, consequence: sent, why: "opens a browser",
				lax: true},
			// asks: npm install
			{names: "install i in ins inst insta instal isnt isnta isntal isntall add", risk: umpire.High,
				consequence: reversible, why: changesPackages, lax: true, check: fromRegistry,
				also: []*[]option{&globally}},
			{names: "ci clean-install uninstall remove rm un update up upgrade dedupe prune rebuild", each: true,
				risk: umpire.High, consequence: reversible, why: changesPackages, lax: true,
				also: []*[]option{&globally}},
		},
	},
	// safe: npx @biomejs/biome check
	// asks: npx biome check
	// safe: npx tsc --noEmit
	// asks: npx x
	// safe: npx jest --coverage --coverageReporters=text
	// asks: npx jest --coverageReporters=./x.js
	{
		names: "npx bunx", manifests: "package.json", risk: umpire.Safe, why: runsOwn, style: leading, check: checkNpx,
		about: "--version -v --help -h", opts: []option{
			{flags: "--no --no-install --quiet -q --silent -s --bun"},
			{flags: "--yes -y --ignore-existing",
				values: "--package -p --call -c --shell --registry --cache --userconfig --script-shell", does: harms,
				consequence: lost, why: downloadsRun},
			{values: "--prefix -C", does: enters | asks, consequence: lost, why: worksInOther},
		},
	},
	// safe: yarn typecheck
	// safe: yarn jest --coverage
	// asks: yarn jest --config x
	// asks: yarn build
	{
		names: "yarn yarnpkg", manifests: "package.json", risk: umpire.Medium, consequence: lost,
		why: "runs a script of the project", style: leading, check: checkBareYarn,
		about: "--version -v --help -h", opts: []option{
			{flags: "--silent -s --json --no-progress --non-interactive --offline"},
			{values: "--cwd", does: enters, why: worksInOther},
		},
		subs: []program{
			{
				names: "list why licenses versions bin help", each: true, risk: umpire.Safe, why: listsPackages,
				about: aboutItself, opts: []option{
					{flags: "--json --prod --production --recursive -R --peers --silent -s --verbose -v",
						values: "--depth --pattern", does: plain},
				},
			},
			{
				names: "info outdated", each: true, risk: umpire.Safe, why: asksRegistry, check: registryNames,
				about: aboutItself, opts: []option{
					{flags: "--json --silent -s --all --recursive --name-only --dependents --manifest --cache " +
						"--virtuals", values: "--fields --extra", does: plain},
					{flags: "-A -R", values: "-f", does: plain},
				},
			},
			{names: "audit", risk: umpire.Low, why: asksRegistry, args: "none",
				opts: []option{
					{flags: "--json --all --recursive", values: "--level --groups", does: plain}, {flags: "-A -R"},
				}},
			// safe: yarn test
			{names: "test " + ownScripts, each: true, risk: umpire.Safe, why: runsTests, args: "read…",
				check: checkNamedScript, about: aboutItself, opts: []option{{flags: "--silent -s"}}},
			{names: ownPrograms, each: true, risk: umpire.Safe, why: runsOwn, style: bare, check: checkOwnProgram},
			{names: "run", risk: umpire.Safe, why: "lists the project's scripts", args: "read…", check: checkScript,
				about: aboutItself, opts: []option{{flags: "--silent -s"}}},
			{
				names: "config", risk: umpire.High, consequence: lost, why: "changes yarn's configuration",
				style: leading,
				subs: []program{
					{names: "get", risk: umpire.Safe, why: "prints yarn's configuration", check: secretSetting,
						opts: []option{{flags: "--json"}}},
					{names: "list", risk: umpire.Medium, consequence: harmless, why: "prints credentials",
						opts: []option{{flags: "--json"}}},
				},
			},
			{
				names: "workspaces", risk: umpire.Medium, consequence: lost, why: "runs a command in every workspace",
				style: leading,
				subs: []program{
					{names: "list info", each: true, risk: umpire.Safe, why: listsPackages,
						opts: []option{
							{flags: "--json --recursive --verbose", attached: "--since", does: plain}, {flags: "-R -v"},
						}},
				},
			},
			// asks: yarn install
			{names: "add install upgrade up remove import dedupe rebuild", each: true, risk: umpire.High,
				consequence: reversible, why: changesPackages, lax: true, check: fromRegistry,
				also: []*[]option{&globally}},
			{names: "publish npm link unlink dlx create init exec set plugin cache global unplug patch patch-commit " +
				"version tag login logout owner", each: true, risk: umpire.High, consequence: sent,
				why: changesPackages, lax: true},
		},
	},
	// safe: pnpm lint
	// asks: pnpm build
	{
		names: "pnpm", manifests: "package.json", risk: umpire.Medium, consequence: lost,
		why: "runs a script of the project", style: leading, about: "--version -v --help -h", opts: []option{
			{flags: "--silent -s --recursive -r --workspace-root -w --color --no-color --parallel --stream " +
				"--aggregate-output --if-present", values: "--filter -F --loglevel", does: plain},
			{values: "-C --dir", does: enters, why: worksInOther},
		},
		subs: []program{
			{
				names: "list ls la ll why licenses root bin", each: true, risk: umpire.Safe, why: listsPackages,
				about: aboutItself, also: []*[]option{&npmLooks}, opts: []option{
					{values: "-C --dir", does: enters},
					{flags: "--recursive --no-optional --lockfile-only --only-projects --exclude-peers --dir-only",
						values: "--filter --find-by", does: plain},
					{flags: "-r -g -P -D -s", values: "-F", does: plain},
				},
			},
			{
				names: "outdated view info show search", each: true, risk: umpire.Safe, why: asksRegistry,
				check: registryNames, about: aboutItself, also: []*[]option{&npmLooks}, opts: []option{
					{flags: "--recursive --compatible --no-table", values: "--filter --format --sort-by", does: plain},
					{flags: "-r -g -P -D -s", values: "-F", does: plain},
				},
			},
			{names: "audit", risk: umpire.Low, why: asksRegistry, args: "none", opts: []option{
				{flags: "--json --prod --dev", values: "--audit-level", does: plain}, {flags: "-P -D"},
				{flags: "--fix", does: harms, consequence: reversible, why: changesPackages},
			}},
			// safe: pnpm test
			{
				names: "test t tst", risk: umpire.Safe, why: runsTests, args: "read…", check: checkNamedScript,
				about: aboutItself, opts: []option{
					{flags: "--silent -s --recursive -r --if-present", values: "--filter -F", does: plain},
				},
			},
			{names: ownScripts, each: true, risk: umpire.Safe, why: runsTests, args: "read…", check: checkNamedScript,
				about: aboutItself, opts: []option{{flags: "--silent -s"}}},
			{names: ownPrograms, each: true, risk: umpire.Safe, why: runsOwn, style: bare, check: checkOwnProgram},
			// safe: pnpm exec tsc --noEmit
			// asks: pnpm exec x
			// asks: pnpm exec -c ls
			{names: "exec", risk: umpire.Safe, why: runsOwn, style: leading, check: checkProjectRun, opts: []option{
				{flags: "--silent -s --recursive -r", values: "--filter -F", does: plain},
				{flags: "-c --shell-mode", does: harms, consequence: lost, why: "runs shell code"},
			}},
			{
				names: "run run-script", risk: umpire.Safe, why: "lists the project's scripts", args: "read…",
				check: checkScript, about: aboutItself, opts: []option{
					{flags: "--silent -s --recursive -r --if-present --parallel --stream", values: "--filter -F",
						does: plain},
				},
			},
			{
				names: "config c", risk: umpire.High, consequence: lost, why: "changes pnpm's configuration",
				style: leading,
				subs: []program{
					{names: "get list ls", each: true, risk: umpire.Safe, why: "prints pnpm's configuration",
						check: checkPackageConfig, opts: []option{{flags: "--json --global -g"}}},
				},
			},
			// asks: pnpm install
			{names: "add install i up update upgrade remove rm uninstall un import dedupe prune rebuild rb fetch",
				each: true, risk: umpire.High, consequence: reversible, why: changesPackages, lax: true,
				check: fromRegistry, also: []*[]option{&globally}},
			{names: "publish link unlink dlx create init patch patch-commit store env self-update setup server " +
				"deploy approve-builds login", each: true, risk: umpire.High, consequence: sent, why: changesPackages,
				lax: true},
		},
	},
	// safe: bun lint
	{
		names: "bun", every: guessCode, manifests: "package.json", risk: umpire.Medium, consequence: lost,
		why: "runs JavaScript code", style: leading, check: runsCode,
		about: "--version -v --help -h --revision", opts: []option{
			{flags: "--silent --bun"}, {values: "--cwd", does: enters, why: worksInOther},
			{values: "-e --eval -p --print", does: asks, consequence: lost, why: "runs JavaScript code"},
		},
		subs: []program{
			{names: "pm", risk: umpire.High, consequence: sent, why: changesPackages, style: leading, subs: []program{
				{names: "ls list bin hash hash-string hash-print why", each: true, risk: umpire.Safe,
					why:  listsPackages,
					opts: []option{{flags: "--all --global -g --top", values: "--depth", does: plain}}},
				{names: "whoami view", each: true, risk: umpire.Low, why: asksRegistry, check: registryNames,
					opts: []option{{flags: "--json"}}},
			}},
			{names: "outdated info why", each: true, risk: umpire.Safe, why: asksRegistry, check: registryNames,
				opts: []option{{flags: "--json --top", values: "--filter -F --depth", does: plain}}},
			// safe: bun test
			{names: "test", risk: umpire.Safe, why: runsTests, args: "read…", check: checkNamedScript, opts: []option{
				{flags: "--only --todo --coverage --concurrent --randomize",
					values:   "--timeout --rerun-each --coverage-reporter -t --test-name-pattern --seed",
					attached: "--bail", does: plain},
				{flags: "-u --update-snapshots", does: asks, consequence: reversible, why: "changes snapshots"},
			}},
			{names: ownScripts, each: true, risk: umpire.Safe, why: runsTests, args: "read…", check: checkNamedScript},
			// asks: bun x evil
			// asks: bun x -p evil tsc
			{names: "x", risk: umpire.Safe, why: runsOwn, style: leading, check: checkNpx, opts: []option{
				{flags: "--bun --silent"},
				{flags: "--no-install --verbose", values: "--package -p", does: harms, consequence: lost,
					why: downloadsRun},
			}},
			// asks: bun run x
			{names: "run", risk: umpire.Safe, why: "lists the project's scripts", args: "read…", check: checkScript,
				opts: []option{{flags: "--silent --bun -b --if-present", values: "--filter -F", does: plain}}},
			{names: "install i add a remove rm update", each: true, risk: umpire.High, consequence: reversible,
				why: changesPackages, lax: true, check: fromRegistry, also: []*[]option{&globally}},
			{names: "upgrade publish link unlink create c init patch deploy audit", each: true, risk: umpire.High,
				consequence: sent, why: changesPackages, lax: true},
		},
	},
	// asks: nvm install 20
	{
		names: "corepack nvm fnm volta asdf mise rtx pyenv rbenv", risk: umpire.High, consequence: lost,
		why: "installs or selects versions of programs", style: leading, about: "--version -v --help -h",
		subs: []program{
			// safe: nvm ls
			{names: "list ls current which whereis versions", each: true, risk: umpire.Safe,
				why: "lists versions of programs", opts: []option{{flags: "--json --bare"}}},
		},
	},
	// safe: n ls
	// asks: n current
	{
		names: "n", risk: umpire.High, consequence: lost, why: "installs or selects versions of programs",
		style: leading, about: "--version -V --help -h",
		subs: []program{{names: "ls", risk: umpire.Safe, why: "lists versions", args: "none"}},
	},
}

// scriptFlags are options of test runners that run nothing else.
const scriptFlags = "--run --quiet --coverage --ci --silent --verbose --bail --runInBand --no-coverage --watch=false " +
	"--watchAll=false --passWithNoTests -t --testNamePattern --grep"

// checkScripts are the usual names of a project's own checks.
const checkScripts = "test tsc " + ownScripts

// ownScripts are those that yarn, pnpm and bun start by their name alone.
const ownScripts = "tests lint check typecheck type-check types check-types check:types test:unit test:integration " +
	"test:types lint:check lint:types lint:ci format:check fmt:check prettier:check"

// ownPrograms are checks from the project's packages. If the project lacks one, npx downloads
// it from the package with the same name.
const ownPrograms = "tsc eslint jest vitest prettier mocha stylelint oxlint playwright vue-tsc knip madge depcheck " +
	packageChecks

// checkScript judges the script that `npm run` starts: some names usually mean a project's own
// checks, any other can mean anything.
func checkScript(u *use) {
	if len(u.operands) == 0 {
		return
	}
	name := u.operands[0]
	u.operands = u.operands[1:]
	u.why, u.code = runsTests, true
	if followScript(u, name, u.operands) {
		return
	}
	if !name.known() || !scan.HasField(checkScripts, name.text) {
		u.raise(umpire.Medium, umpire.Say("runs the script %s of the project", name.display()))
	}
	checkScriptArgs(u)
}

// plainScriptOptions are options of package managers that do not select another script.
const plainScriptOptions = "--silent -s --quiet -q --if-present --loglevel --no-color --color --verbose " +
	"--foreground-scripts --json --no-progress --non-interactive --offline --bun -b --stream --aggregate-output"

// followScript follows a script of package.json, and reports whether it could be read.
func followScript(u *use, name word, args []word) bool {
	for _, g := range append(slices.Clip(u.global), u.given...) {
		if !scan.HasField(plainScriptOptions, g.name) && g.option.does&enters == 0 {
			return false
		}
	}
	if !name.known() || u.followRecipe("npm", name.text, args, scan.HasField(checkScripts, name.text)) != readRecipe {
		return false
	}
	u.code, u.operands = true, nil
	return true
}

// checkNamedScript judges a script started by its name alone: npm test, yarn lint.
func checkNamedScript(u *use) {
	name := u.path[strings.LastIndexByte(u.path, '.')+1:]
	if name == "t" || name == "tst" {
		name = "test"
	}
	if u.program0() == "bun" && name == "test" || !followScript(u, lit(name), u.operands) {
		checkScriptArgs(u) // bun has its own tests
	}
}

// checkScriptArgs judges the arguments of a script: the script's program decides the meaning of
// an option.
func checkScriptArgs(u *use) {
	paths := u.operands[:0:0]
	for _, operand := range u.operands {
		switch {
		case !operand.maybeOption():
			paths = append(paths, operand)
		case operand.known() && acceptsFlag(operand.text):
		default:
			u.raise(umpire.Medium, umpire.Say("gives the script the option %s", operand.display()))
		}
	}
	u.operands = paths
}

func acceptsFlag(text string) bool {
	name, _, _ := strings.Cut(text, "=")
	return scan.HasField(scriptFlags, text) || name != "--watch" && scan.HasField(scriptFlags, name)
}

// checkNpx judges the package whose program npx runs. npx downloads it if the project does not
// have it.
func checkNpx(u *use) {
	if len(u.operands) == 0 {
		u.raise(umpire.Medium, "starts a shell, which reads code")
		walkStdinCode(u)
		return
	}
	name := u.operands[0]
	file := installedPackage(u, name)
	if file == "" && (!name.known() || !scan.HasField(ownPrograms+" @biomejs/biome", name.text)) {
		u.raise(umpire.Medium, umpire.Say("runs %s, which may be downloaded first", name.display()))
	}
	words := u.operands
	if name.known() && name.text == "@biomejs/biome" {
		words = append([]word{lit("biome")}, words[1:]...)
	}
	if name.known() && u.w.findProgram(words[0].text) != nil {
		walkInFreshShell(u, words)
	} else if file != "" {
		walkInFreshShell(u, append([]word{lit(file)}, words[1:]...))
	}
	u.operands = nil
}

// installedPackage finds a program among those of the project's packages, which npx starts without
// looking elsewhere. It returns "" if there is no such program, or more than one folder to look in.
func installedPackage(u *use, name word) string {
	if !name.known() || strings.ContainsAny(name.text, "/@") || len(u.given) > 0 || u.w.env.Find == nil ||
		len(u.s.dirs) != 1 {
		return ""
	}
	return u.w.env.Find(u.s.dirs[0], "node_modules/.bin/"+name.text)
}

// checkOwnProgram judges a program of the project's packages that its manager starts by the
// program's name.
func checkOwnProgram(u *use) {
	name := u.table[strings.LastIndexByte(u.table, ' ')+1:]
	walkInFreshShell(u, append([]word{lit(name)}, u.operands...))
	u.operands = nil
}

// checkBareYarn judges yarn alone, which installs.
func checkBareYarn(u *use) {
	if len(u.operands) == 0 {
		u.raise(umpire.High, changesPackages)
	}
}
