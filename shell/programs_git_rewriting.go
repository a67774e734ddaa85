package shell

import "github.com/umpirehq/umpire"

// gitRewriting are the subcommands that make, move and rewrite commits.
var gitRewriting = []program{
	{
		names: "reset", risk: umpire.High, consequence: reversible,
		why: "moves the branch or takes changes out of the next commit", lax: true, check: checkReset,
		about: aboutItself, opts: []option{
			{names: "--hard", does: harms, consequence: lost, why: "throws away changes that are not committed"},
			{names: "--merge --keep --mixed --soft -q --quiet"},
			{names: "--pathspec-from-file=", does: reads},
		},
	},
	{
		names: "rebase", risk: umpire.High, consequence: reversible, why: "rewrites commits", lax: true,
		check: checkRebase, about: aboutItself, opts: []option{
			{names: "-i --interactive"}, {names: "-qvnkrpm"},
			{names: "-x= --exec=", does: harms | runs, consequence: lost, why: "runs a program after each commit"},
			{names: "-s= --strategy= -X= --strategy-option= -C= --onto= --whitespace= --empty=", does: plain},
		},
	},
	{
		names: "merge", risk: umpire.High, consequence: reversible, why: "merges another branch", lax: true,
		about: aboutItself, opts: []option{
			{names: "-m= --message= -s= --strategy= -X= --strategy-option= --cleanup= --into-name=", does: plain},
			{names: "-F= --file=", does: reads},
		},
	},
	{
		names: "cherry-pick revert", each: true, risk: umpire.High, consequence: reversible, why: "makes commits",
		lax: true, about: aboutItself, opts: []option{
			{names: "-m= --mainline= -s= -X= --strategy= --strategy-option= --cleanup=", does: plain},
		},
	},
	{
		names: "am", risk: umpire.High, consequence: reversible, why: "makes commits of patches", args: "read…",
		lax: true, about: aboutItself, opts: []option{
			{names: "--directory= --include= --exclude= -p= -C= --whitespace= --patch-format= --show-current-patch?",
				does: plain},
		},
	},
	{
		names: "format-patch", risk: umpire.Safe, why: "prints patches", check: checkFormatPatch, opts: []option{
			{names: "-nNks --numbered --no-numbered --start-number= --keep-subject --signoff --signature= " +
				"--no-signature --suffix= --reroll-count= --filename-max-length= --rfc? --cover-from-description= " +
				"--subject-prefix= --no-stat --attach? --inline? --no-attach --thread? --no-thread --in-reply-to= " +
				"--to= --cc= --no-to --no-cc --from? --no-from --add-header= --cover-letter --no-cover-letter " +
				"--base= --interdiff= --range-diff= --creation-factor= --zero-commit --encode-email-headers " +
				"--no-encode-email-headers --ignore-if-in-upstream --always --no-binary -q --quiet", does: plain},
			{names: "--stdout"}, {names: "-o= --output-directory=", does: writes, why: "writes patches"},
			{names: "--signature-file= --description-file=", does: reads},
		},
		also: []*[]option{&gitRevOpts, &gitDiffOpts},
	},
	{names: "filter-branch filter-repo", each: true, risk: umpire.High, consequence: lost,
		why: "rewrites the whole history", lax: true},
	{names: "gc prune repack prune-packed", each: true, risk: umpire.High, consequence: lost,
		why: "deletes objects that nothing refers to", lax: true},
	{names: "subtree", risk: umpire.High, consequence: sent, why: "joins or splits histories", lax: true},
	{names: "fast-import quiltimport svn p4 cvsimport cvsexportcommit archimport", each: true, risk: umpire.High,
		consequence: lost, why: "makes commits of something else", lax: true},
}

func checkRebase(u *use) {
	if u.got("--interactive") != nil {
		u.harm("--interactive", reversible, "rewrites commits in an editor")
	}
}

// checkFormatPatch distinguishes printing patches from writing a file for each.
func checkFormatPatch(u *use) {
	if u.got("--stdout") == nil {
		u.raiseTo(umpire.Medium, reversible, "writes a file for each commit")
	}
	noteOutward(u, u.operands)
	notePathspecs(u)
}

// checkReset judges --hard, which changes more than a plain reset.
func checkReset(u *use) {
	if u.gave("--hard") {
		u.harm("--hard", lost, "throws away changes that are not committed")
	}
	noteOutward(u, u.operands)
}
