package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// gitLooking are the other subcommands that only look.
var gitLooking = []program{
	// safe: git status
	{names: "status", risk: umpire.Safe, why: "prints what has changed", check: checkOutward, opts: []option{
		{flags: "-v -s -b -z --verbose --short --branch --show-stash --no-show-stash --ahead-behind " +
			"--no-ahead-behind --long --null --no-renames --renames"},
		{flags: "--no-column --no-branch --no-short",
			attached: "-u --untracked-files --porcelain --ignored --ignore-submodules --column -M --find-renames",
			does:     plain},
	}, about: aboutItself},
	{names: "ls-files", risk: umpire.Safe, why: "lists files", check: checkOutward, out: listsFiles, opts: []option{
		{flags: "-z -c -d -m -o -i -k --cached --deleted --modified --others --ignored --killed --directory " +
			"--no-directory --empty-directory --no-empty-directory"},
		{flags: "--exclude-standard --full-name --recurse-submodules --error-unmatch --deduplicate --sparse",
			values: "-x --exclude --exclude-per-directory --with-tree", attached: "--abbrev", does: plain},
		{values: "-X --exclude-from", does: reads},
		// These print more than names.
		{flags: "-s -t -v -f -u --stage --unmerged --eol --resolve-undo --debug", values: "--format", does: plain},
	}, about: aboutItself},
	{
		names: "ls-tree", risk: umpire.Safe, why: "lists the files of a commit", check: checkOutward, out: listsTree,
		about: aboutItself, opts: []option{
			{flags: "-d -r -t -z -l --long --full-name --full-tree --object-only --no-abbrev", attached: "--abbrev",
				does: plain},
			{flags: "--name-only --name-status"}, {values: "--format", does: plain},
		},
	},
	{names: "cat-file", risk: umpire.Safe, why: "prints an object", check: checkPrinted, opts: []option{
		{flags: "-e -t -s -p -z -Z --batch-all-objects --buffer --no-buffer --unordered --follow-symlinks " +
			"--allow-unknown-type --use-mailmap --mailmap", values: "--path",
			attached: "--batch --batch-check --batch-command --filter", does: plain},
		{flags: "--textconv --filters", does: asks, consequence: lost, why: "runs the converters of the settings"},
	}, about: aboutItself},
	{
		names: "rev-parse", risk: umpire.Safe, why: "prints what a revision means", check: checkPrinted,
		out: parsesRevisions, about: aboutItself, opts: []option{
			{flags: "--verify -q --quiet --symbolic-full-name", attached: "--abbrev-ref --short", does: plain},
			{flags: "--show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir " +
				"--shared-index-path --show-superproject-working-tree --local-env-vars",
				values: "--git-path --path-format --resolve-git-dir", does: plain},
			{flags: "--is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository " +
				"--show-ref-format --symbolic --all", values: "--glob --exclude --exclude-hidden --disambiguate",
				attached: "--show-object-format --branches --tags --remotes", does: plain},
			{flags: "--revs-only --no-revs --flags --no-flags --sq --sq-quote --not --end-of-options --parseopt " +
				"--keep-dashdash --stop-at-non-option --stuck-long",
				values: "--default --prefix --since --after --until --before", does: plain},
		},
	},
	{names: "merge-base", risk: umpire.Safe, why: "prints where branches part", out: namesRevisions, opts: []option{
		{flags: "-a --all --octopus --independent --is-ancestor --fork-point"},
	}, about: aboutItself},
	{names: "describe", risk: umpire.Safe, why: "names a commit after a tag", about: aboutItself, opts: []option{
		{flags: "--all --tags --contains --no-abbrev --exact-match --no-exact-match --debug --long --no-match " +
			"--no-exclude --always --first-parent", values: "--candidates --match --exclude",
			attached: "--abbrev --dirty --broken", does: plain},
	}},
	{names: "name-rev", risk: umpire.Safe, why: "names a commit after a ref", about: aboutItself, opts: []option{
		{flags: "--tags --all --annotate-stdin --stdin --name-only --no-undefined --always", values: "--refs --exclude",
			does: plain},
	}},
	{names: "for-each-ref", risk: umpire.Safe, why: "lists refs", opts: []option{
		{flags: "-s -p --shell --perl --python --tcl --ignore-case --stdin --include-root-refs"},
	}, also: []*[]option{&gitListOpts}},
	{names: "show-ref", risk: umpire.Safe, why: "lists refs", about: aboutItself, opts: []option{
		{flags: "-d -q -s --head --heads --branches --tags --verify --exists --dereference --quiet",
			attached: "--hash --abbrev --exclude-existing", does: plain},
	}},
	{names: "count-objects", risk: umpire.Safe, why: "counts objects",
		about: aboutItself, opts: []option{{flags: "-v -H --verbose --human-readable"}}},
	{names: "fsck", risk: umpire.Safe, why: "checks the repository", about: aboutItself, opts: []option{
		{flags: "-v --verbose --unreachable --dangling --no-dangling --tags --root --cache --reflogs --no-reflogs " +
			"--full --no-full --connectivity-only --strict --progress --no-progress --name-objects --references " +
			"--no-references"},
		{flags: "--lost-found", does: asks, consequence: reversible, why: "writes what it finds"},
	}},
	{names: "check-ignore", risk: umpire.Safe, why: "prints what is ignored", check: checkOutward, opts: []option{
		{flags: "-q -v -n -z --quiet --verbose --non-matching --stdin --no-index --index"},
	}, about: aboutItself},
	{names: "check-attr", risk: umpire.Safe, why: "prints attributes", check: checkOutward,
		about: aboutItself, opts: []option{{flags: "-a -z --all --cached --stdin", values: "--source", does: plain}}},
	{names: "check-mailmap check-ref-format", each: true, risk: umpire.Safe, why: "checks a name", opts: []option{
		{flags: "--stdin --branch --normalize --allow-onelevel --no-allow-onelevel --refspec-pattern"},
		{values: "--mailmap-file", does: reads},
	}, about: aboutItself},
	{names: "var", risk: umpire.Safe, why: "prints a variable of git",
		about: aboutItself, opts: []option{{flags: "-l"}}},
	{names: "version", risk: umpire.Safe, why: "prints the version",
		about: aboutItself, opts: []option{{flags: "--build-options"}}},
	{names: "help", risk: umpire.Safe, why: "prints a manual page", about: aboutItself, opts: []option{
		{flags: "-a -g -c -m -v --all --no-external-commands --no-aliases --verbose --guides --config --man " +
			"--user-interfaces --developer-interfaces"},
		{flags: "-w --web", does: asks, consequence: sent, why: "opens a browser"},
		{flags: "-i --info", does: asks, consequence: lost, why: "starts the info reader"},
	}},
	{
		names: "verify-pack show-index get-tar-commit-id patch-id", each: true, risk: umpire.Safe,
		why: "prints what a file or the input holds", args: "read…", about: aboutItself, opts: []option{
			{flags: "-v -s --verbose --stat-only --stable --unstable --verbatim", values: "--object-format",
				does: plain},
		},
	},
	{names: "verify-commit verify-tag", each: true, risk: umpire.Medium, consequence: reversible,
		why: "starts the signature program of the settings"},
	{names: "merge-tree", risk: umpire.Low, why: "merges without touching the work tree", opts: []option{
		{flags: "-z --write-tree --trivial-merge --messages --no-messages --name-only --allow-unrelated-histories " +
			"--stdin --quiet", values: "--merge-base", does: plain},
	}, about: aboutItself},
	{names: "config", risk: umpire.Safe, why: "prints settings", check: checkGitConfig,
		also: []*[]option{&gitConfigOpts}},
	{names: "archive", risk: umpire.Safe, why: "prints the files of a commit", check: checkArchive, opts: []option{
		{flags: "-l -v -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --list --verbose --worktree-attributes",
			values: "--format --prefix --mtime --add-virtual-file", does: plain},
		{values: "--add-file", does: reads},
		{values: "-o --output", does: writes, why: "writes the archive"},
		{values: "--remote", does: asks, consequence: sent, why: "asks another machine for the archive"},
		{values: "--exec", does: asks | runs, consequence: lost, why: "runs a program at the other end"},
	}, about: aboutItself},
}

// checkArchive judges the remote that git archive contacts.
func checkArchive(u *use) {
	if remote := u.got("--remote"); remote != nil {
		judgeOtherRepository(u, remote.value)
	}
	noteOutward(u, u.operands)
	if len(u.operands) > 1 {
		noteMembers(u, u.operands[1:])
	}
}

// listsFiles returns the output of ls-files: names below this folder, or below the named
// folders elsewhere.
func listsFiles(u *use, _ flow) flow {
	if u.got("--stage", "-s", "-t", "-v", "-f", "-u") != nil {
		return foreignFlow("git")
	}
	named := u.flowOfNamesBelow()
	if len(u.operands) == 0 || named.kind != flowPaths {
		return named
	}
	out := flow{kind: flowPaths, dirs: u.operands}
	for _, operand := range u.operands {
		if strings.ContainsAny(operand.text, "*?[") {
			out = spelledPaths(out, []word{lit(".")}, spelledNames(operand.text, false))
		}
	}
	return out
}

// listsTree returns the output of ls-tree.
func listsTree(u *use, _ flow) flow {
	if u.got("--name-only") == nil || u.got("--format") != nil {
		return foreignFlow("git")
	}
	return u.flowOfNamesBelow()
}

// parsesRevisions returns the output of rev-parse: revisions, unless it is asked for folders or
// passes its arguments through.
func parsesRevisions(u *use, _ flow) flow {
	if top := findTopFolder(u); top != "" {
		return flow{kind: flowText, text: top + "\n"}
	}
	for _, g := range u.given {
		if !g.means("--verify") {
			return foreignFlow("git")
		}
	}
	dashless := true // other words are printed unchanged
	for _, operand := range u.operands {
		if !operand.known() {
			return foreignFlow("git")
		}
		dashless = dashless && !strings.HasPrefix(operand.text, "-")
	}
	out := u.flowOfNamesBelow()
	for i := range out.dirs {
		out.dirs[i].dashless = dashless
	}
	return out
}

// findTopFolder returns the output of rev-parse --show-toplevel, or "".
func findTopFolder(u *use) string {
	if u.w.env.GitTop == nil || len(u.s.dirs) != 1 || len(u.given) != 1 || u.given[0].name != "--show-toplevel" ||
		len(u.operands) > 0 || len(u.unknown) > 0 || u.doubtful {
		return ""
	}
	return u.w.env.GitTop(u.s.dirs[0])
}
