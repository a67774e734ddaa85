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
			{names: "--no-index"}, {names: "--cached --staged --merge-base --base --ours --theirs"},
			{names: "-0123456789cmqt"},
		},
		also: []*[]option{&gitDiffOpts},
	},
	{
		names: "diff-tree diff-index diff-files", each: true, risk: umpire.Safe, why: "prints differences",
		check: checkPrinted, out: diffsNames, opts: []option{{names: "--cached --base --ours --theirs -q"}},
		also: []*[]option{&gitRevOpts, &gitDiffOpts},
	},
	{
		names: "range-diff", risk: umpire.Safe, why: "compares two ranges of commits", check: checkPrinted,
		opts: []option{
			{names: "--creation-factor= --no-dual-color --dual-color --left-only --right-only --notes? --no-notes " +
				"--diff-merges=", does: plain},
		},
		also: []*[]option{&gitDiffOpts},
	},
	{names: "shortlog", risk: umpire.Safe, why: "prints authors", check: checkOutward, opts: []option{
		{names: "-nsec --numbered --summary --email --committer -w? --group=", does: plain},
	}, also: []*[]option{&gitRevOpts, &gitDiffOpts}},
	{
		names: "rev-list", risk: umpire.Safe, why: "prints the names of commits", check: checkOutward,
		out:   namesRevisions,
		about: aboutItself, opts: []option{{names: "--quiet --abbrev? --no-abbrev --color? --no-color", does: plain}},
		also: []*[]option{&gitRevOpts},
	},
	{
		names: "blame annotate", risk: umpire.Safe, why: "prints who wrote which line", check: checkPrinted,
		about: aboutItself, opts: []option{
			{names: "-bfnpctlsewh --root --show-stats --progress --no-progress --score-debug --show-name " +
				"--show-number --porcelain --line-porcelain --show-email --color-lines --color-by-age --minimal " +
				"--incremental --reverse --first-parent --indent-heuristic --no-indent-heuristic"},
			{names: "-L= -M? -C? --ignore-rev= --since= --after= --date= --abbrev? --no-abbrev --encoding= " +
				"--no-textconv --diff-algorithm=", does: plain},
			{names: "-S= --contents= --ignore-revs-file=", does: reads},
			{names: "--textconv", does: asks, consequence: lost, why: "runs the converters of the settings"},
		},
	},
	{names: "reflog", risk: umpire.Safe, why: "prints where refs were", check: checkReflog,
		also: []*[]option{&gitRevOpts, &gitDiffOpts}},
	{names: "cherry", risk: umpire.Safe, why: "prints commits that are not upstream", check: checkOutward,
		about: aboutItself, opts: []option{{names: "-v --verbose --abbrev? --no-abbrev", does: plain}}},
	{names: "show-branch", risk: umpire.Safe, why: "prints branches", about: aboutItself, opts: []option{
		{names: "-arg --all --remotes --color? --no-color --more? --no-more --list --current --topo-order " +
			"--date-order --sparse --no-name --sha1-name --reflog? --merge-base --independent --topics", does: plain},
	}},
	{
		names: "grep", risk: umpire.Safe, why: "searches the work tree or commits", check: checkGitGrep,
		out: grepsNames, about: aboutItself, opts: []option{
			{names: "-viwaIrEGFPnhHzocpWq"}, {names: "-l --files-with-matches --name-only -L --files-without-match"},
			{names: "--no-index"}, {names: "-0123456789"},
			{names: "-A= -B= -C= --after-context= --before-context= --context= -m= --max-count= --max-depth= " +
				"--threads=", does: plain},
			{names: "-e=", does: plain | lead}, {names: "-f=", does: reads | lead},
			{names: "--cached --untracked --index --exclude-standard --no-exclude-standard --recurse-submodules " +
				"--no-recurse-submodules --invert-match --ignore-case --no-ignore-case --word-regexp --text " +
				"--recursive --no-recursive"},
			{names: "--extended-regexp --basic-regexp --fixed-strings --perl-regexp --line-number --no-line-number " +
				"--column --full-name --null --only-matching --count"},
			{names: "--color? --no-color --break --heading --show-function --function-context --and --or --not " +
				"--quiet --all-match --no-textconv --no-open-files-in-pager --no-ext-grep", does: plain},
			{names: "-O? --open-files-in-pager?", does: asks | runs, consequence: lost,
				why: "opens the files with a program"},
			{names: "--textconv", does: asks, consequence: lost, why: "runs the converters of the settings"},
			{names: "--ext-grep", does: asks, consequence: lost, why: "runs another grep"},
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
	if u.got("--name-only") == nil ||
		u.got("--no-index", "--line-prefix", "-p", "--pretty", "--oneline", "--format") != nil {
		return foreignFlow("git")
	}
	out := flowOfNamesBelow(u)
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
	out := flowOfNamesBelow(u)
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
	out := flowOfNamesBelow(u)
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
	return flowOfRevisions(u)
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
	return flowOfRevisions(u)
}

// flowOfRevisions returns a list of names of commits.
func flowOfRevisions(u *use) flow {
	out := flowOfNamesBelow(u)
	for i := range out.dirs {
		out.dirs[i].dashless = true // a revision is letters and digits
	}
	return out
}
