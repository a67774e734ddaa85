package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// gitHistory are the subcommands that print commits and differences.
var gitHistory = []program{
	{names: "log whatchanged", risk: umpire.Safe, why: "prints commits", check: checkPrinted, out: logsRevisions,
		also: []*[]option{&gitRevOpts, &gitDiffOpts}},
	{names: "show", risk: umpire.Safe, why: "prints objects", check: checkPrinted,
		also: []*[]option{&gitRevOpts, &gitDiffOpts}, out: showsNames},
	// safe: git diff | delta
	// asks: git diff | delta --pager x
	// safe: git diff | diff-so-fancy
	{
		names: "diff", risk: umpire.Safe, why: "prints differences", check: checkGitDiff, out: diffsNames,
		opts: []option{
			{flags: "--no-index"}, {flags: "--cached --staged --merge-base --base --ours --theirs"},
			{flags: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -c -m -q -t"},
		},
		also: []*[]option{&gitDiffOpts},
	},
	{
		names: "diff-tree diff-index diff-files", each: true, risk: umpire.Safe, why: "prints differences",
		check: checkPrinted, out: diffsNames, opts: []option{{flags: "--cached --base --ours --theirs -q"}},
		also: []*[]option{&gitRevOpts, &gitDiffOpts},
	},
	{
		names: "range-diff", risk: umpire.Safe, why: "compares two ranges of commits", check: checkPrinted,
		opts: []option{
			{flags: "--no-dual-color --dual-color --left-only --right-only --no-notes",
				values: "--creation-factor --diff-merges", attached: "--notes", does: plain},
		},
		also: []*[]option{&gitDiffOpts},
	},
	{names: "shortlog", risk: umpire.Safe, why: "prints authors", check: checkOutward, opts: []option{
		{flags: "-n -s -e -c --numbered --summary --email --committer", values: "--group", attached: "-w", does: plain},
	}, also: []*[]option{&gitRevOpts, &gitDiffOpts}},
	{
		names: "rev-list", risk: umpire.Safe, why: "prints the names of commits", check: checkOutward,
		out:   namesRevisions,
		about: aboutItself,
		opts:  []option{{flags: "--quiet --no-abbrev --no-color", attached: "--abbrev --color", does: plain}},
		also:  []*[]option{&gitRevOpts},
	},
	{
		names: "blame annotate", risk: umpire.Safe, why: "prints the author of each line", check: checkPrinted,
		about: aboutItself, opts: []option{
			{flags: "-b -f -n -p -c -t -l -s -e -w -h --root --show-stats --progress --no-progress --score-debug " +
				"--show-name --show-number --porcelain --line-porcelain --show-email --color-lines --color-by-age " +
				"--minimal --incremental --reverse --first-parent --indent-heuristic --no-indent-heuristic"},
			{flags: "--no-abbrev --no-textconv",
				values:   "-L --ignore-rev --since --after --date --encoding --diff-algorithm",
				attached: "-M -C --abbrev", does: plain},
			{values: "-S --contents --ignore-revs-file", does: reads},
			{flags: "--textconv", does: asks, consequence: lost, why: "runs the converters of the settings"},
		},
	},
	{names: "reflog", risk: umpire.Safe, why: "prints where refs were", check: checkReflog,
		also: []*[]option{&gitRevOpts, &gitDiffOpts}},
	{names: "cherry", risk: umpire.Safe, why: "prints commits that are not upstream", check: checkOutward,
		about: aboutItself, opts: []option{{flags: "-v --verbose --no-abbrev", attached: "--abbrev", does: plain}}},
	{names: "show-branch", risk: umpire.Safe, why: "prints branches", about: aboutItself, opts: []option{
		{flags: "-a -r -g --all --remotes --no-color --no-more --list --current --topo-order --date-order --sparse " +
			"--no-name --sha1-name --merge-base --independent --topics", attached: "--color --more --reflog",
			does: plain},
	}},
	{
		names: "grep", risk: umpire.Safe, why: "searches the work tree or commits", check: checkGitGrep,
		out: grepsNames, about: aboutItself, opts: []option{
			{flags: "-v -i -w -a -I -r -E -G -F -P -n -h -H -z -o -c -p -W -q"},
			{flags: "-l --files-with-matches --name-only -L --files-without-match"},
			{flags: "--no-index"}, {flags: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9"},
			{values: "-A -B -C --after-context --before-context --context -m --max-count --max-depth --threads",
				does: plain},
			{values: "-e", does: plain | lead}, {values: "-f", does: reads | lead},
			{flags: "--cached --untracked --index --exclude-standard --no-exclude-standard --recurse-submodules " +
				"--no-recurse-submodules --invert-match --ignore-case --no-ignore-case --word-regexp --text " +
				"--recursive --no-recursive"},
			{flags: "--extended-regexp --basic-regexp --fixed-strings --perl-regexp --line-number --no-line-number " +
				"--column --full-name --null --only-matching --count"},
			{flags: "--no-color --break --heading --show-function --function-context --and --or --not --quiet " +
				"--all-match --no-textconv --no-open-files-in-pager --no-ext-grep", attached: "--color", does: plain},
			{attached: "-O --open-files-in-pager", does: asks | runs, consequence: lost,
				why: "opens the files with a program"},
			{flags: "--textconv", does: asks, consequence: lost, why: "runs the converters of the settings"},
			{flags: "--ext-grep", does: asks, consequence: lost, why: "runs another grep"},
		},
	},
}

// checkGitDiff judges the operands of diff. Outside of a work tree, or if a path lies outside
// of it, diff compares any two files. An unknown path may lie outside.
func checkGitDiff(u *use) {
	if u.got("--no-index") != nil {
		u.touchAll(umpire.KindRead, u.operands, accessOf{tree: true})
		return
	}
	names := u.onlyNames()
	if !names {
		notePathspecs(u)
	}
	for _, operand := range u.operands {
		if !names {
			noteVersion(u, operand)
		}
		anywhere := operand.unplaced() && operand.text == "" && (len(u.operands) == 2 || operand.split)
		if leadsOut(operand) || anywhere {
			u.touch(umpire.KindRead, operand, accessOf{tree: true})
		}
	}
}

// checkGitGrep judges the operands of grep: after the pattern come revisions and paths.
func checkGitGrep(u *use) {
	places := u.operands
	if !u.has(lead) && len(places) > 0 {
		places = places[1:]
	}
	if u.got("--no-index") != nil {
		u.touchAll(umpire.KindRead, places, accessOf{tree: true})
		return
	}
	noteOutward(u, places)
	for _, place := range places {
		noteVersion(u, place)
	}
	if len(places) == 0 {
		u.touch(umpire.KindRead, lit("."), accessOf{tree: true})
	}
}

// checkReflog judges the verbs of reflog; without a verb it shows the log.
func checkReflog(u *use) {
	switch u.firstOperand() {
	case "expire", "delete", "drop":
		u.harm(u.firstOperand(), lost, "forgets where refs were")
	case "write": // since git 2.51
		u.harm(u.firstOperand(), lost, "writes a log of where refs were that need not be true")
	case "":
		if len(u.operands) > 0 {
			u.raise(umpire.Medium, "the subcommand is not known before it runs")
		}
	}
}

// diffsNames returns the output of diff: with --name-only, files below the top of the work
// tree.
func diffsNames(u *use, _ flow) flow {
	if u.got("--name-only") == nil || u.gave("-p") ||
		u.got("--no-index", "--line-prefix", "--pretty", "--oneline", "--format") != nil {
		return foreignFlow("git")
	}
	out := u.flowOfNamesBelow()
	for i := range out.dirs {
		out.dirs[i].dashless = true // a revision is letters and digits
	}
	return out
}

// showsNames returns the output of show: with --name-only and an empty format, files.
func showsNames(u *use, _ flow) flow {
	format := u.got("--format", "--pretty")
	bare := format != nil && format.has && format.value.known() &&
		strings.TrimPrefix(format.value.text, "format:") == ""
	if u.got("--name-only") == nil || u.got("--line-prefix") != nil || !bare {
		return foreignFlow("git")
	}
	out := u.flowOfNamesBelow()
	for i := range out.dirs {
		out.dirs[i].dashless = true // a revision is letters and digits
	}
	return out
}

// grepsNames returns the output of grep: with -l, files.
func grepsNames(u *use, _ flow) flow {
	if u.got("--name-only") == nil || u.got("--no-index", "-O") != nil {
		return foreignFlow("git")
	}
	out := u.flowOfNamesBelow()
	for i := range out.dirs {
		out.dirs[i].dashless = true // a revision is letters and digits
	}
	return out
}

// logsRevisions returns the output of log: the names of commits, if its format prints only
// those and no differences.
func logsRevisions(u *use, _ flow) flow {
	format := u.got("--pretty")
	if format == nil || !format.value.known() ||
		!scan.HasField("%H %h", strings.TrimPrefix(strings.TrimPrefix(format.value.text, "t"), "format:")) {
		return foreignFlow("git")
	}
	for _, g := range u.given {
		if g.option != format.option && !scan.HasField(choosesCommits, g.name) {
			return foreignFlow("git")
		}
	}
	return u.flowOfRevisions()
}

// choosesCommits are options of log that select commits and show nothing more.
const choosesCommits = "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -n --max-count --skip --since --after --until --before " +
	"--author --committer --grep -i --all --branches --tags --remotes --merges --no-merges --first-parent --reverse " +
	"--topo-order --date-order --diff-filter --follow --abbrev --no-patch -s"

// namesRevisions returns the output of commands that print only names of commits.
func namesRevisions(u *use, _ flow) flow {
	if u.got("--pretty", "--oneline", "--graph") != nil {
		return foreignFlow("git")
	}
	return u.flowOfRevisions()
}

// flowOfRevisions returns a list of names of commits.
func (p *parsed) flowOfRevisions() flow {
	out := p.flowOfNamesBelow()
	for i := range out.dirs {
		out.dirs[i].dashless = true // a revision is letters and digits
	}
	return out
}
