package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// gitTools is git and the command lines of git hosts. checkRepository judges the programs that
// a repository's own settings make git run.
var gitTools = []program{
	{
		names: "git", risk: umpire.Safe, why: "prints a summary of git", style: leading, every: checkRepository,
		more: []*[]program{
			&gitHistory, &gitLooking, &gitRefs, &gitChanging, &gitRewriting, &gitRemotes, &gitPlumbing, &gitPrograms,
		},
		about: "-v --version -h --help --html-path --man-path --info-path", opts: []option{
			{values: "-C", does: enters},
			{values: "-c", does: obeys, why: "a setting on the line can name programs to run",
				limits: &limits{except: harmlessGitSettings}},
			{values: "--config-env", does: obeys, why: "a setting on the line can name programs to run"},
			{attached: "--exec-path", does: obeys, why: "runs git's programs from another folder"},
			{values: "--git-dir", does: obeys | reads, why: "obeys the settings of another repository",
				limits: &limits{except: ".git"}},
			{values: "--work-tree", does: obeys | reads, why: "works on other files than the repository's",
				limits: &limits{except: "."}},
			{flags: "--bare", does: asks, consequence: lost, why: "obeys the settings of the folder itself"},
			{flags: "-p --paginate", does: asks, consequence: lost, why: "starts the pager of the settings"},
			{flags: "-P --no-pager --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice"},
			{flags: "--literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs",
				values: "--namespace --attr-source --super-prefix", does: plain},
			{values: "--list-cmds", does: shows},
		},
	},
	// These are in git's folder of programs.
	// safe: git-status
	// asks: git-push
	{names: "git-add git-am git-annotate git-apply git-archive git-bisect git-blame git-branch git-bundle " +
		"git-cat-file git-check-attr git-check-ignore git-checkout git-checkout-index git-cherry git-cherry-pick " +
		"git-clean git-clone git-commit git-commit-tree git-config git-count-objects git-credential git-daemon " +
		"git-describe git-diff git-diff-files git-diff-index git-diff-tree git-difftool git-fast-export " +
		"git-fast-import git-fetch git-filter-branch git-filter-repo git-for-each-ref git-format-patch git-fsck " +
		"git-gc git-grep git-hash-object git-help git-hook git-http-backend git-imap-send git-init git-instaweb " +
		"git-lfs git-log git-ls-files git-ls-remote git-ls-tree git-maintenance git-merge git-merge-base " +
		"git-mergetool git-mv git-name-rev git-notes git-prune git-pull git-push git-range-diff git-read-tree " +
		"git-rebase git-receive-pack git-reflog git-remote git-repack git-replace git-reset git-restore git-rev-list " +
		"git-rev-parse git-revert git-rm git-send-email git-shell git-shortlog git-show git-show-branch git-show-ref " +
		"git-sparse-checkout git-stage git-stash git-status git-submodule git-subtree git-switch git-symbolic-ref " +
		"git-tag git-update-index git-update-ref git-upload-archive git-upload-pack git-var git-verify-commit " +
		"git-verify-tag git-whatchanged git-worktree git-write-tree",
		risk: umpire.Safe, why: "is a program of git", style: bare, check: checkDashedGit},
	{names: "gitk git-gui", risk: umpire.Medium, consequence: reversible, why: "opens a window"},
	{names: "gh", risk: umpire.Safe, why: "prints a summary of gh", style: leading, every: checkHostOptions,
		more: []*[]program{&ghWork, &ghAccount}, also: []*[]option{&ghSelf}},
	{names: "glab", risk: umpire.Safe, why: "prints a summary of glab", style: leading, every: checkHostOptions,
		more: []*[]program{&glabWork}, also: []*[]option{&ghSelf}},
}

// harmlessGitSettings are settings that change git's output, or disable programs.
const harmlessGitSettings = "color. advice. column. core.quotepath= core.abbrev= core.pager=cat core.pager=less " +
	"core.fsmonitor=false core.autocrlf= core.safecrlf= core.precomposeunicode= core.whitespace= core.commentchar= " +
	"pager.log=false pager.diff=false pager.show=false pager.branch=false pager.status=false log.date= " +
	"log.showsignature=false log.decorate= log.follow= log.abbrevcommit= log.showroot= log.mailmap= log.diffmerges= " +
	"format.pretty= diff.renames= diff.renamelimit= diff.noprefix= diff.mnemonicprefix= diff.algorithm= " +
	"diff.context= diff.interhunkcontext= diff.colormoved= diff.colormovedws= diff.indentheuristic= diff.submodule= " +
	"diff.relative= diff.statgraphwidth= diff.statnamewidth= diff.ignoresubmodules= diff.suppressblankempty= " +
	"diff.wordregex= diff.wserrorhighlight= status.short= status.branch= status.relativepaths= " +
	"status.showuntrackedfiles= status.renames= status.showstash= grep.linenumber= grep.column= grep.patterntype= " +
	"grep.fullname= grep.threads= blame.date= blame.showemail= blame.coloring= user.name= user.email= author.name= " +
	"author.email= committer.name= committer.email= versionsort.suffix= branch.sort= tag.sort= merge.renamelimit= " +
	"gc.auto=0 maintenance.auto=false commit.gpgsign=false tag.gpgsign=false init.defaultbranch= protocol.version= " +
	"i18n.logoutputencoding= i18n.commitencoding="

// checkDashedGit judges git-push as git push.
func checkDashedGit(u *use) {
	sub := strings.TrimPrefix(u.program0(), "git-")
	words := append([]word{lit("git"), lit(sub)}, u.operands...)
	u.operands, u.table = nil, u.program0()
	u.walkRest("command", words)
}

// leadsOut reports whether an operand of git that may be a revision or a path leads out of the
// folder if it is a path.
func leadsOut(operand word) bool {
	name := operand.text
	return path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") ||
		strings.Contains(name, "/../") || strings.HasSuffix(name, "/..")
}

// checkOutward records operands that lead out of the folder. All others are revisions,
// patterns, or paths within the work tree.
func checkOutward(u *use) { noteOutward(u, u.operands) }

func noteOutward(u *use, operands []word) {
	for _, operand := range operands {
		if leadsOut(operand) {
			u.touch(umpire.KindRead, operand, accessOf{})
		}
	}
}

// checkPrinted is checkOutward for commands that print the content of files.
func checkPrinted(u *use) {
	noteOutward(u, u.operands)
	if u.program.name() == "log" && !u.printsPatches() {
		return
	}
	notePathspecs(u)
	noteBatchedFiles(u)
	for _, g := range u.given {
		if _, file, found := g.value.after(":"); found && g.name == "-L" {
			noteVersion(u, file)
		}
	}
	for _, operand := range u.operands {
		noteVersion(u, operand)
	}
}

// onlyNames reports whether a diff prints only names and statistics of changed files.
func (a *arguments) onlyNames() bool {
	return a.gave("--stat", "--shortstat", "--numstat", "--name-only", "--name-status", "--dirstat", "--summary", "-s",
		"--no-patch", "--quiet") && !a.printsPatches()
}

// patchOptions make log print the changes of commits; -S and -G search them.
const patchOptions = "-p -u -U -S -G -L -c -W --patch --unified --cc --dd --patch-with-stat --patch-with-raw " +
	"--function-context --word-diff --color-words --binary --remerge-diff --diff-merges"

// printsPatches reports whether a log shows more of files than their names.
func (a *arguments) printsPatches() bool {
	return slices.ContainsFunc(a.given, func(g given) bool { return scan.HasField(patchOptions, g.name) })
}

// noteVersion records the file whose version an operand names, and a hidden file. A version of
// a protected file is then protected, too. The version is REVISION:PATH, :PATH, :STAGE:PATH or
// a path with magic, :(top)PATH. An operand without a colon may be a revision; only the
// subcommands that need a file read one there.
func noteVersion(u *use, operand word) {
	name, found := versionedPath(operand)
	hidden := strings.HasPrefix(baseName(name.text), ".")
	aFile := scan.HasField("blame annotate grep", u.program.name()) ||
		u.program.name() == "diff" && strings.ContainsAny(name.text, "._")
	plain := !found && aFile && !strings.Contains(name.text, "..") && !strings.ContainsAny(name.text, "^~@{")
	if (found || hidden || plain && !name.open) && name.text != "" && !leadsOut(name) &&
		!strings.HasPrefix(name.text, ".git/") && name.text != "." {
		name.glob = name.glob || strings.ContainsAny(name.text, "*?[")
		u.touch(umpire.KindRead, name, accessOf{})
	}
}

// versionedPath returns the path whose version an operand names, or the operand.
func versionedPath(operand word) (word, bool) {
	revision, name, found := operand.after(":")
	switch {
	case !found:
		return operand, false
	case revision != "":
		return name, true
	case strings.HasPrefix(name.text, "/"), strings.HasPrefix(name.text, "!"), strings.HasPrefix(name.text, "^"):
		return word{}, false // a commit message to search for, or an excluded path
	case strings.HasPrefix(name.text, "("):
		magic, rest, closed := name.after(")")
		if strings.Contains(magic, "exclude") {
			return word{}, false
		}
		return rest, closed
	case len(name.text) > 1 && name.text[0] >= '0' && name.text[0] <= '3' && name.text[1] == ':':
		return name.cut(2), true
	}
	return name, true
}

// touchAll records an access of every operand.
func (u *use) touchAll(kind umpire.AccessKind, operands []word, of accessOf) {
	for _, operand := range operands {
		u.touch(kind, operand, of)
	}
}

// onlyShows makes a dry run a safe use if all other arguments are known.
func (u *use) onlyShows(why umpire.Phrase) {
	if len(u.unknown) == 0 && !u.doubtful && u.spoke == "" {
		u.become(umpire.Safe, why)
	}
}

// harm records that an option makes the use dangerous. The option is named as in the table even
// if it was abbreviated.
func (c *conclusion) harm(option string, after stated, why umpire.Phrase) {
	c.spoke = option
	c.raiseTo(umpire.High, after, why)
	c.why = why
}

// firstOperand returns the first operand if it is wholly known, or "".
func (a *arguments) firstOperand() string {
	if len(a.operands) == 0 || !a.operands[0].known() {
		return ""
	}
	return a.operands[0].text
}

// flowOfNamesBelow returns a list of names, one per line, that are relative and stay below
// their folder; revisions printed by git are such names too.
func (p *parsed) flowOfNamesBelow() flow {
	if len(p.unknown) > 0 || p.doubtful {
		return foreignFlow("git")
	}
	if slices.ContainsFunc(p.operands, leadsOut) {
		return foreignFlow("git")
	}
	return flow{kind: flowPaths, dirs: []word{{}}}
}
