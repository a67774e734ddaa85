package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

const asksRepository = "asks another repository for its refs"

// gitRemotes are the subcommands that reach other repositories.
var gitRemotes = []program{
	// asks: git push
	{
		names: "push", risk: umpire.High, consequence: sent, why: "publishes commits", lax: true, check: checkPush,
		about: aboutItself, opts: []option{
			{flags: "-u -v -q -n -4 -6 --set-upstream --verbose --quiet --dry-run"},
			{flags: "-f --force", attached: "--force-with-lease", does: plain},
			{flags: "--mirror"}, {flags: "-d --delete"}, {flags: "--prune"},
			{values: "--repo -o --push-option --recurse-submodules", does: plain},
			{values: "--receive-pack --exec", does: harms | runs, consequence: lost,
				why: "runs a program at the other end"},
		},
	},
	{names: "fetch", risk: umpire.Medium, consequence: reversible, why: "downloads commits", lax: true,
		check: checkFetch, also: []*[]option{&gitFetchOpts}},
	{names: "pull", risk: umpire.High, consequence: reversible, why: "downloads commits and merges them", lax: true,
		check: checkFetch, also: []*[]option{&gitFetchOpts}},
	{
		names: "clone", risk: umpire.Medium, consequence: reversible, why: "downloads a repository", lax: true,
		check: checkClone, about: aboutItself, opts: []option{
			{values: "-u --upload-pack", does: harms | runs, consequence: lost, why: "runs a program at the other end"},
			{values: "-c --config", does: obeys, why: "a setting on the line can name programs to run",
				limits: &limits{except: harmlessGitSettings}},
			{values: "--template", does: harms | reads, consequence: lost, why: "takes hooks from a folder"},
			{values: "--reference --reference-if-able", does: reads}, {values: "--separate-git-dir", does: writes},
			{values: "--bundle-uri", does: reaches}, {flags: "-v -q -n -l -s -4 -6"},
			{values: "-j --jobs -o --origin -b --branch --revision --depth --shallow-since --shallow-exclude " +
				"--server-option --filter --ref-format", does: plain},
		},
	},
	{names: "ls-remote", risk: umpire.Low, why: asksRepository, check: checkFetch, about: aboutItself, opts: []option{
		{flags: "-h -t -b -q --heads --branches --tags --refs --quiet --exit-code --get-url --symref",
			values: "--sort -o --server-option", does: plain},
		{values: "--upload-pack --exec", does: harms | runs, consequence: lost, why: "runs a program at the other end"},
	}},
	{
		names: "remote", risk: umpire.Safe, why: "lists other repositories",
		about: aboutItself, opts: []option{{flags: "-v --verbose"}},
		subs: []program{
			{names: "show", risk: umpire.Low, why: asksRepository, check: checkRemoteShow,
				about: aboutItself, opts: []option{{flags: "-n"}}},
			{names: "get-url", risk: umpire.Safe, why: "prints where another repository is",
				about: aboutItself, opts: []option{{flags: "--push --all"}}},
			{
				names: "add", risk: umpire.Medium, consequence: reversible,
				why: "adds a repository to fetch from and push to", lax: true, check: checkRemoteURL,
				opts: []option{{values: "-t -m", attached: "--mirror", does: plain}},
			},
			{names: "set-url", risk: umpire.High, consequence: reversible,
				why: "changes where commits are fetched from and pushed to", lax: true, check: checkRemoteURL},
			{names: "remove rm", risk: umpire.High, consequence: reversible,
				why: "forgets a repository and its branches", lax: true},
			{names: "rename set-head set-branches update prune", each: true, risk: umpire.Medium,
				consequence: reversible, why: "changes what is known of other repositories", lax: true},
		},
	},
	{
		names: "submodule", risk: umpire.Safe, why: "prints the state of submodules",
		about: aboutItself, opts: []option{{flags: "-q --quiet --cached"}},
		subs: []program{
			{names: "status", risk: umpire.Safe, why: "prints the state of submodules",
				about: aboutItself, opts: []option{{flags: "-q --quiet --cached --recursive"}}},
			{names: "summary", risk: umpire.Safe, why: "prints what changed in submodules",
				about: aboutItself,
				opts:  []option{{flags: "--cached --files", values: "-n --summary-limit", does: plain}}},
			{
				names: "foreach", risk: umpire.Medium, consequence: lost, why: "runs a command in each submodule",
				style: leading, args: "shell", about: aboutItself, opts: []option{{flags: "-q --quiet --recursive"}},
			},
			{names: "add update init sync set-branch absorbgitdirs", each: true, risk: umpire.Medium,
				consequence: reversible, why: "downloads or changes submodules", lax: true, check: checkRemoteURL},
			{names: "set-url", risk: umpire.High, consequence: reversible,
				why: "changes where a submodule is fetched from", lax: true, check: checkRemoteURL},
			{names: "deinit", risk: umpire.High, consequence: lost, why: "deletes the files of submodules", lax: true},
		},
	},
	{
		names: "bundle", risk: umpire.Medium, consequence: reversible, why: "works on a bundle of commits",
		subs: []program{
			{names: "verify list-heads", each: true, risk: umpire.Safe, why: "prints what a bundle holds",
				args: "read data…", about: aboutItself, opts: []option{{flags: "-q --quiet"}}},
			{names: "create", risk: umpire.Medium, consequence: reversible, why: "writes a bundle of commits",
				args: "write data…", lax: true},
			{names: "unbundle", risk: umpire.Medium, consequence: reversible, why: "takes over the commits of a bundle",
				args: "read data…", lax: true},
		},
	},
	{names: "request-pull", risk: umpire.Low, why: "prints a summary of commits", check: checkRequestPull,
		about: aboutItself, opts: []option{{flags: "-p"}}},
}

var gitFetchOpts = []option{
	{values: "--upload-pack", does: harms | runs, consequence: lost, why: "runs a program at the other end"},
	{flags: "-f --force", does: harms, consequence: lost, why: "overwrites local branches by force"},
	{flags: "-v -q -a -t -m -n -p -P -k -u -r -4 -6"},
	{values: "-o --server-option -j --jobs --depth --deepen --shallow-since --shallow-exclude --refmap " +
		"--negotiation-tip --filter -s --strategy -X --strategy-option", attached: "--recurse-submodules", does: plain},
	{flags: aboutItself, does: shows},
}

// overwrites says what a forced push overwrites: the branch, if the line names one.
func (p *parsed) overwrites() umpire.Phrase {
	if len(p.operands) != 2 || !p.operands[0].known() || !p.operands[1].known() {
		return "overwrites published commits by force"
	}
	branch := p.operands[1].text
	branch = strings.TrimPrefix(branch[strings.LastIndex(branch, ":")+1:], "+")
	return umpire.Say("overwrites published commits on %s/%s", p.operands[0].text, branch)
}

// checkPush judges a push that overwrites or deletes other people's commits.
func checkPush(u *use) {
	if repo := u.got("--repo"); repo != nil {
		judgeOtherRepository(u, repo.value)
	}
	if len(u.operands) > 0 {
		judgeOtherRepository(u, u.operands[0])
	}
	switch {
	case u.got("--force") != nil:
		u.harm("--force", sent, u.overwrites())
	case u.got("--mirror") != nil:
		u.harm("--force --mirror", sent, "makes the other repository like this one by force")
	case u.got("--delete") != nil, u.got("--prune") != nil:
		u.harm("--force --delete", sent, "deletes published branches")
	}
	for i, refspec := range u.operands {
		switch {
		case i == 0:
		case strings.HasPrefix(refspec.text, "+"):
			u.harm("--force", sent, u.overwrites())
		case strings.HasPrefix(refspec.text, ":") && refspec.text != ":":
			u.harm("--force --delete", sent, "deletes published branches")
		}
	}
}

// checkFetch judges the repository that git fetch contacts.
func checkFetch(u *use) {
	if len(u.operands) > 0 {
		judgeOtherRepository(u, u.operands[0])
	}
}

// checkRemoteShow distinguishes local information about a remote from contacting it.
func checkRemoteShow(u *use) {
	checkFetch(u)
	if u.gave("-n") && u.why == asksRepository {
		u.why = "prints what is known of another repository"
	}
}

// checkRequestPull judges the repository whose refs the summary reads.
func checkRequestPull(u *use) {
	if len(u.operands) > 1 {
		judgeOtherRepository(u, u.operands[1])
	}
	noteOutward(u, u.operands)
}

func checkClone(u *use) {
	if len(u.operands) > 0 {
		judgeOtherRepository(u, u.operands[0])
	}
	if len(u.operands) > 1 {
		u.touch(umpire.KindWrite, u.operands[1], accessOf{tree: true, why: "the repository is put there"})
	}
}

// checkRemoteURL judges a URL that later commands will use; nothing is reached now.
func checkRemoteURL(u *use) {
	for _, operand := range u.operands {
		if isHelperURL(operand) {
			u.harm("helper::", lost, umpire.Say("later uses run the program %s", operand.display()))
		}
	}
}

// judgeOtherRepository judges another repository: a configured name, a URL or a folder.
func judgeOtherRepository(u *use, where word) {
	scheme, rest, isURL := where.after("://")
	host, _, scp := strings.Cut(where.text, ":")
	switch {
	case isHelperURL(where):
		u.harm("helper::", lost, umpire.Say("runs the program %s", where.display()))
	case isURL && scheme == "file":
		u.touch(umpire.KindRead, rest, accessOf{tree: true})
	case isURL, scp && !strings.Contains(host, "/"):
		u.then(func() { u.w.network(where.display(), "git reaches it") })
	case strings.HasPrefix(where.text, ".") || strings.Contains(where.text, "/"):
		u.touch(umpire.KindRead, where, accessOf{tree: true})
	case where.open && u.risk > umpire.Medium:
		u.raise(umpire.Medium, "the repository is not known before it runs")
	}
}
