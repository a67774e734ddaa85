package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// gitChanging are the subcommands that change the work tree and the index.
var gitChanging = []program{
	{
		names: "add stage", risk: umpire.Medium, consequence: reversible, why: "adds changes to the next commit",
		lax: true, check: checkOutward, opts: []option{
			{flags: "-f --force", why: "adds files that are ignored too"},
			{values: "--pathspec-from-file", does: reads},
		},
	},
	{names: "mv", risk: umpire.Medium, consequence: reversible, why: "moves files", check: checkGitMove, opts: []option{
		{flags: "-v -k --verbose --sparse"}, {flags: "-n --dry-run"},
		{flags: "-f --force", does: harms, consequence: lost, why: "overwrites files"},
	}, about: aboutItself},
	{
		names: "rm", risk: umpire.Medium, consequence: reversible, why: "stops tracking files", check: checkGitRemove,
		about: aboutItself, opts: []option{
			{flags: "-f -q --force --quiet --ignore-unmatch --sparse --pathspec-file-nul"}, {flags: "-n --dry-run"},
			{flags: "--cached"},
			{flags: "-r", does: walks}, {values: "--pathspec-from-file", does: reads},
		},
	},
	{
		names: "restore", risk: umpire.Medium, consequence: reversible, why: "takes changes out of the next commit",
		check: checkRestore, about: aboutItself, opts: []option{
			{flags: "-q --quiet --progress --no-progress --ignore-unmerged --overlay --no-overlay " +
				"--pathspec-file-nul --recurse-submodules --ours --theirs -2 -3 -m --merge -p --patch " +
				"--ignore-skip-worktree-bits", values: "-s --source --conflict", does: plain},
			{flags: "-S --staged"}, {flags: "-W --worktree"}, {values: "--pathspec-from-file", does: reads},
		},
	},
	{
		names: "clean", risk: umpire.High, consequence: lost, why: "deletes files that are not tracked",
		check: checkClean, about: aboutItself, opts: []option{
			{flags: "-d -x -X -q -f -i --force --interactive --quiet", values: "-e --exclude", does: plain},
			{flags: "-n --dry-run"},
		},
	},
	// asks: git checkout -b topic
	{
		names: "checkout", risk: umpire.High, consequence: reversible, why: "replaces files of the work tree",
		lax: true, check: checkCheckout, about: aboutItself, opts: []option{
			{flags: "-f --force", does: harms, consequence: lost, why: "throws away changes by force"},
			{values: "-B", does: harms, consequence: reversible, why: "puts a branch elsewhere by force"},
			{values: "-b --orphan --conflict", does: plain}, {flags: "-q -l -t -d -p -m -u -2 -3"},
			{values: "--pathspec-from-file", does: reads},
		},
	},
	{
		names: "switch", risk: umpire.Medium, consequence: reversible, why: "goes to another branch", lax: true,
		about: aboutItself, opts: []option{
			{flags: "-f --force --discard-changes", does: harms, consequence: lost,
				why: "throws away changes by force"},
			{values: "-C --force-create", does: harms, consequence: reversible,
				why: "puts a branch elsewhere by force"},
			{values: "-c --create --orphan --conflict", does: plain}, {flags: "-q -t -d -m -u"},
		},
	},
	{
		names: "commit", risk: umpire.High, consequence: reversible, why: "makes a commit", check: checkCommit,
		about: aboutItself, opts: []option{
			{flags: "-a -v -q -e -s -z -i -o --all --verbose --quiet --edit --no-edit --signoff --no-signoff " +
				"--status --no-status --include --only --short --branch --porcelain --long --null --ahead-behind " +
				"--no-ahead-behind --allow-empty --allow-empty-message --reset-author --no-post-rewrite " +
				"--pathspec-file-nul --verify --no-gpg-sign"},
			{values: "-m --message --author --date -c --reedit-message -C --reuse-message --fixup --squash --trailer " +
				"--cleanup", attached: "-S --gpg-sign -u --untracked-files", does: plain},
			{flags: "--dry-run"},
			{flags: "--amend", does: harms, consequence: reversible, why: "replaces the last commit"},
			{flags: "-n --no-verify", why: "passes over the hooks"},
			{flags: "-p --patch --interactive"},
			{values: "-F --file -t --template --pathspec-from-file", does: reads},
		},
	},
	{
		names: "apply", risk: umpire.Medium, consequence: reversible, why: "changes files as a patch says",
		args: "read…", check: checkApply, about: aboutItself, opts: []option{
			{flags: "--stat --numstat --summary --check", why: "only shows"},
			{flags: "--apply --index --cached -3 --3way --intent-to-add -N", does: asks, consequence: reversible,
				why: "changes files as a patch says"},
			{flags: "--reverse --verbose --quiet --unidiff-zero --inaccurate-eof --recount --allow-overlap " +
				"--allow-empty --no-add --allow-binary-replacement --binary --ignore-space-change --ignore-whitespace",
				values: "-C --include --exclude --directory --whitespace", does: plain},
			{flags: "-R -v -q -z", values: "-p", does: plain},
			{flags: "--reject", does: asks, consequence: reversible, why: "writes rejected changes to files"},
			{flags: "--unsafe-paths", does: harms, consequence: lost, why: "changes files outside of the work tree"},
			{values: "--build-fake-ancestor", does: writes},
		},
	},
	{
		names: "init init-db", risk: umpire.Medium, consequence: reversible, why: "creates a repository", args: "write",
		lax: true, about: aboutItself, opts: []option{
			{values: "-b --initial-branch --object-format --ref-format", does: plain},
			{flags: "--bare -q --quiet", attached: "--shared", does: plain},
			{values: "--template", does: harms | reads, consequence: lost, why: "takes hooks from a folder"},
			{values: "--separate-git-dir", does: writes},
		},
	},
	{names: "sparse-checkout", risk: umpire.Medium, consequence: reversible, why: "changes which files are there",
		lax: true, subs: []program{{names: "list", risk: umpire.Safe, why: "prints which files are there"}}},
	{
		names: "lfs", risk: umpire.Medium, consequence: reversible, why: "works on large files", lax: true,
		subs: []program{
			{
				names: "ls-files status env version locks", each: true, risk: umpire.Low, why: "lists large files",
				check: checkOutward, about: aboutItself, opts: []option{
					{flags: "-a -l -s -d -n -I -X --all --long --size --debug --name-only --json --porcelain --deleted",
						values: "--include --exclude", does: plain},
				},
			},
			{names: "push migrate prune uninstall unlock", each: true, risk: umpire.High, consequence: sent,
				why: "publishes, rewrites or deletes large files", lax: true},
		},
	},
}

// checkGitMove records that the sources disappear and the target appears.
func checkGitMove(u *use) {
	if u.got("--dry-run") != nil {
		u.onlyShows("tells what would be moved")
		return
	}
	for i, operand := range u.operands {
		kind := umpire.KindDelete
		if i == len(u.operands)-1 {
			kind = umpire.KindWrite
		}
		u.touch(kind, operand, accessOf{risk: umpire.Medium, moved: true, why: "moves it"})
	}
}

func checkGitRemove(u *use) {
	switch {
	case u.got("--dry-run") != nil:
		u.onlyShows("tells what would be deleted")
	case u.got("--cached") == nil:
		// Without --force git deletes only files whose content it has stored.
		held, after := !u.gave("-f", "--force"), lost
		if held {
			after = reversible
		}
		u.raiseTo(umpire.High, after, "deletes files")
		u.touchAll(umpire.KindDelete, u.operands, accessOf{tree: u.has(walks), moved: held})
	}
}

// checkRestore distinguishes unstaging changes from losing them.
func checkRestore(u *use) {
	if u.got("--staged") != nil && u.got("--worktree") == nil {
		noteOutward(u, u.operands)
		return
	}
	u.raise(umpire.High, "throws away changes that are not committed")
	u.touchAll(umpire.KindWrite, u.operands, accessOf{tree: true})
}

func checkClean(u *use) {
	if u.got("--dry-run") != nil {
		u.onlyShows("tells what would be deleted")
		return
	}
	noteOutward(u, u.operands)
	for _, dir := range u.s.dirs { // a home that is a repository contains more than that repository's files
		if home := u.w.env.Home; dir == "/" ||
			home != "" && strings.HasPrefix(home+"/", strings.TrimSuffix(dir, "/")+"/") {
			u.touch(umpire.KindDelete, lit(dir), accessOf{tree: true, why: "deletes what is not in the repository"})
		}
	}
}

// checkCheckout records the files that are replaced. Before -- there is a commit, which is
// harmless as a path.
func checkCheckout(u *use) {
	if u.gave("-b") && len(u.operands) == 0 && len(u.given) == 1 {
		u.why = "creates a branch and goes to it"
	}
	if creates := u.got("-b", "-B", "--orphan") != nil; !creates || u.ended || len(u.operands) > 1 {
		u.raiseTo(umpire.High, lost, u.why) // a name may be a file's, whose changes are thrown away
	}
	for _, operand := range u.operands {
		if u.ended || operand.text == "." || leadsOut(operand) {
			u.touch(umpire.KindWrite, operand, accessOf{tree: true, risk: umpire.High, why: "throws away its changes"})
		}
	}
}

func checkCommit(u *use) {
	if u.got("--dry-run") != nil {
		u.onlyShows("tells what would be committed")
	}
	noteOutward(u, u.operands)
}

// checkApply distinguishes looking at a patch from applying it.
func checkApply(u *use) {
	if u.got("--check") != nil && !u.has(asks|harms|writes) {
		u.onlyShows("tells what a patch would change")
	}
}
