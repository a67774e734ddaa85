package shell

import "github.com/umpirehq/umpire"

// gitRefs are the subcommands that list and change refs and data attached to them.
var gitRefs = []program{
	{
		names: "branch", risk: umpire.Safe, why: "lists branches", check: checkBranch, out: namesBranch, opts: []option{
			{flags: "-v -q -r -a -i -h --verbose --quiet --remotes --all --ignore-case --create-reflog " +
				"--recurse-submodules --no-verbose"},
			{flags: "-l --list", why: "lists"}, {flags: "--show-current"},
			{flags: "-D", does: harms, consequence: lost, why: "deletes a branch even if its commits are nowhere else"},
			{flags: "-d --delete", does: harms, consequence: reversible, why: "deletes a branch"},
			{flags: "-M -C -f --force", does: harms, consequence: reversible, why: "puts a branch elsewhere by force"},
			{flags: "-m --move", does: asks, consequence: reversible, why: "renames a branch"},
			{flags: "-c --copy", does: asks, consequence: reversible, why: "copies a branch"},
			{flags: "--edit-description", does: asks, consequence: reversible, why: "opens the editor"},
			{flags: "--unset-upstream -t --no-track --set-upstream", values: "-u --set-upstream-to",
				attached: "--track", does: asks, consequence: reversible, why: "changes where a branch is pushed to"},
			{flags: "--no-format"},
		},
		also: []*[]option{&gitListOpts},
	},
	{
		names: "tag", risk: umpire.Safe, why: "lists tags", check: checkTag, opts: []option{
			{flags: "-i -h --ignore-case --create-reflog", values: "--cleanup", does: plain},
			{flags: "-l --list", attached: "-n", does: plain, why: "lists"},
			{flags: "-d --delete", does: harms, consequence: lost, why: "deletes a tag"},
			{flags: "-f --force", does: harms, consequence: lost, why: "puts a tag elsewhere by force"},
			{flags: "-v --verify", does: asks, consequence: lost, why: "starts the signature program of the settings"},
			{flags: "-a -s --annotate --sign --no-sign -e --edit", values: "-u --local-user -m --message --trailer",
				does: asks, consequence: reversible, why: "creates a tag"},
			{values: "-F --file", does: reads},
		},
		also: []*[]option{&gitListOpts},
	},
	{
		names: "stash", risk: umpire.Medium, consequence: reversible, why: "puts changes away", check: checkOutward,
		also: []*[]option{&gitStashOpts},
		subs: []program{
			{names: "list", risk: umpire.Safe, why: "lists stashed changes", check: checkPrinted,
				also: []*[]option{&gitRevOpts, &gitDiffOpts}},
			{
				names: "show", risk: umpire.Safe, why: "prints stashed changes", check: checkPrinted,
				also: []*[]option{&gitRevOpts, &gitDiffOpts},
				opts: []option{{flags: "--include-untracked --only-untracked --no-include-untracked"}},
			},
			{names: "push save", each: true, risk: umpire.Medium, consequence: reversible, why: "puts changes away",
				check: checkOutward, also: []*[]option{&gitStashOpts}},
			{names: "apply branch create store export import", each: true, risk: umpire.Medium, consequence: reversible,
				why: "brings back changes that were put away", lax: true},
			{names: "pop", risk: umpire.High, consequence: reversible,
				why: "brings back changes and forgets that they were put away", lax: true},
			{names: "drop clear", each: true, risk: umpire.High, consequence: lost,
				why: "throws away changes that were put away", lax: true},
		},
	},
	{names: "worktree", risk: umpire.Safe, why: "prints usage", subs: []program{
		{names: "list", risk: umpire.Safe, why: "lists work trees",
			about: aboutItself,
			opts:  []option{{flags: "-v -z --verbose --porcelain", values: "--expire", does: plain}}},
		{
			names: "add", risk: umpire.Medium, consequence: reversible, why: "creates a work tree", args: "write data…",
			about: aboutItself, opts: []option{
				{flags: "-d -q --detach --no-checkout --checkout --guess-remote --no-guess-remote --lock --quiet " +
					"--track --no-track --orphan", values: "--reason -b", does: plain},
				{flags: "-f --force", values: "-B", does: harms, consequence: reversible,
					why: "puts a branch elsewhere by force"},
			},
		},
		{names: "move", risk: umpire.Medium, consequence: reversible, why: "moves a work tree", args: "write…",
			lax: true},
		{names: "remove", risk: umpire.High, consequence: lost, why: "deletes a work tree", args: "delete…", lax: true},
		{names: "prune lock unlock repair", each: true, risk: umpire.Medium, consequence: reversible,
			why: "changes what is known of work trees", lax: true},
	}},
	{
		names: "notes", risk: umpire.Safe, why: "lists notes",
		about: aboutItself, opts: []option{{values: "--ref", does: plain}},
		subs: []program{
			{names: "list show get-ref", each: true, risk: umpire.Safe, why: "prints notes", about: aboutItself},
			{
				names: "add append copy edit merge", each: true, risk: umpire.Medium, consequence: reversible,
				why: "changes notes", lax: true, opts: []option{
					{values: "-F --file", does: reads}, {flags: "-q -v", values: "-m -c -C -s", does: plain},
					{flags: "-f --force", does: harms, consequence: lost, why: "overwrites notes"},
				},
			},
			{names: "remove prune", each: true, risk: umpire.High, consequence: lost, why: "deletes notes", lax: true},
		},
	},
	{
		names: "symbolic-ref", risk: umpire.Safe, why: "prints where a ref points",
		check: func(u *use) {
			if len(u.operands) > 1 || len(u.operands) == 1 && u.operands[0].split {
				u.raise(umpire.Medium, "points a ref elsewhere")
			}
		},
		about: aboutItself, opts: []option{
			{flags: "-q --quiet --short --recurse --no-recurse"},
			{flags: "-d --delete", does: harms, consequence: lost, why: "deletes a ref"},
			{values: "-m", does: asks, consequence: lost, why: "points a ref elsewhere"},
		},
	},
	{names: "replace", risk: umpire.High, consequence: reversible, why: "puts refs elsewhere", lax: true},
	{
		names: "update-ref", risk: umpire.High, consequence: reversible, why: "puts refs elsewhere", lax: true,
		opts: []option{
			{values: "-m", does: harms, consequence: lost,
				why: "writes a log of where refs were that need not be true"},
		},
	},
	{names: "pack-refs", risk: umpire.Medium, consequence: reversible, why: "rewrites how refs are stored", lax: true},
	{names: "bisect", risk: umpire.Safe, why: "prints usage", subs: []program{
		{names: "log terms help", each: true, risk: umpire.Safe, why: "prints how the search goes",
			about: aboutItself, opts: []option{{flags: "--term-good --term-bad --term-old --term-new"}}},
		{names: "start good bad new old skip reset next replay", each: true, risk: umpire.Medium,
			consequence: reversible, why: "checks out commits in search of one", lax: true},
		{names: "run", risk: umpire.Medium, consequence: lost, why: "runs a program at each commit", args: "command"},
		{names: "visualize view", each: true, risk: umpire.Medium, consequence: reversible, why: "opens a window",
			lax: true},
	}},
	{names: "rerere", risk: umpire.Medium, consequence: reversible, why: "works on recorded conflicts", subs: []program{
		{names: "status diff remaining", each: true, risk: umpire.Safe, why: "prints recorded conflicts",
			about: aboutItself},
	}},
}

var gitStashOpts = []option{
	{flags: "-k -u -a -q -S --keep-index --no-keep-index --include-untracked --no-include-untracked --all --quiet " +
		"--staged --pathspec-file-nul", values: "-m --message", does: plain},
	{flags: "-p --patch", why: "asks for each change"}, {values: "--pathspec-from-file", does: reads},
	{flags: aboutItself, does: shows},
}

// listsRefs reports whether branch or tag lists the refs that its operands describe, instead of
// creating them.
func (a *arguments) listsRefs() bool {
	return a.got("--list", "--show-current", "--contains") != nil
}

func checkBranch(u *use) {
	if len(u.operands) > 0 && !u.listsRefs() {
		u.raiseTo(umpire.Medium, reversible, "creates a branch")
	}
}

func checkTag(u *use) {
	if len(u.operands) > 0 && !u.listsRefs() {
		u.raiseTo(umpire.Medium, reversible, "creates a tag")
	}
}

// namesBranch returns the output of branch: with --show-current a name that cannot begin with a
// dash.
func namesBranch(u *use, _ flow) flow {
	if u.got("--show-current") == nil {
		return foreignFlow("git")
	}
	return u.flowOfNamesBelow()
}
