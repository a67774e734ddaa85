package shell

import "github.com/umpirehq/umpire"

// gitRewriting are the subcommands that make, move and rewrite commits.
var gitRewriting = []program{
	{
		names: "reset", risk: umpire.High, consequence: reversible,
		why: "moves the branch or takes changes out of the next commit", lax: true, check: checkReset,
		about: aboutItself, opts: []option{
			{flags: "--hard", does: harms, consequence: lost, why: "throws away changes that are not committed"},
			{flags: "--merge --keep --mixed --soft -q --quiet"},
			{values: "--pathspec-from-file", does: reads},
		},
	},
	{
		names: "rebase", risk: umpire.High, consequence: reversible, why: "rewrites commits", lax: true,
		check: checkRebase, about: aboutItself, opts: []option{
			{flags: "-i --interactive"}, {flags: "-q -v -n -k -r -p -m"},
			{values: "-x --exec", does: harms | runs, consequence: lost, why: "runs a program after each commit"},
			{values: "-s --strategy -X --strategy-option -C --onto --whitespace --empty", does: plain},
		},
	},
	{
		names: "merge", risk: umpire.High, consequence: reversible, why: "merges another branch", lax: true,
		about: aboutItself, opts: []option{
			{values: "-m --message -s --strategy -X --strategy-option --cleanup --into-name", does: plain},
			{values: "-F --file", does: reads},
		},
	},
	{
		names: "cherry-pick revert", each: true, risk: umpire.High, consequence: reversible, why: "makes commits",
		lax: true, about: aboutItself, opts: []option{
			{values: "-m --mainline -s -X --strategy --strategy-option --cleanup", does: plain},
		},
	},
	{
		names: "am", risk: umpire.High, consequence: reversible, why: "makes commits of patches", args: "read…",
		lax: true, about: aboutItself, opts: []option{
			{values: "--directory --include --exclude -p -C --whitespace --patch-format",
				attached: "--show-current-patch", does: plain},
		},
	},
	{
		names: "format-patch", risk: umpire.Safe, why: "prints patches", check: checkFormatPatch, opts: []option{
			{flags: "-n -N -k -s --numbered --no-numbered --keep-subject --signoff --no-signature --no-stat " +
				"--no-attach --no-thread --no-to --no-cc --no-from --cover-letter --no-cover-letter --zero-commit " +
				"--encode-email-headers --no-encode-email-headers --ignore-if-in-upstream --always --no-binary -q " +
				"--quiet", values: "--start-number --signature --suffix --reroll-count --filename-max-length " +
				"--cover-from-description --subject-prefix --in-reply-to --to --cc --add-header --base --interdiff " +
				"--range-diff --creation-factor", attached: "--rfc --attach --inline --thread --from", does: plain},
			{flags: "--stdout"}, {values: "-o --output-directory", does: writes, why: "writes patches"},
			{values: "--signature-file --description-file", does: reads},
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
