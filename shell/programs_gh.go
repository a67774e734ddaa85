package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

const (
	asksHost    = "asks the git host"
	changesHost = "changes something at the git host in your name"
)

var ghSelf = []option{{flags: "--version --help -h", does: shows}, {values: "-R --repo", does: plain}}

// ghCommon are the options of the verbs that only query.
var ghCommon = []option{
	{values: "-R --repo --json -q --jq --template --color", does: plain}, {values: "-L --limit", does: plain},
	{flags: "-w --web", does: asks, consequence: sent, why: "opens a browser"}, {flags: "--help -h", does: shows},
}

// ghNumbers is the output of gh if it is asked for the numbers of pull requests, issues or
// runs.
func ghNumbers(u *use, _ flow) flow {
	var field, filter string
	for _, g := range u.given {
		switch {
		case !g.value.known():
			return u.printedFlow()
		case g.name == "--json":
			field = g.value.text
		case g.name == "--jq" || g.name == "-q":
			filter = strings.TrimPrefix(strings.TrimPrefix(g.value.text, ".[]"), ".[0]")
		case scan.HasField("-t --template", g.name):
			return u.printedFlow()
		}
	}
	if scan.HasField("number databaseId", field) && filter == "."+field {
		return numberFlow(u.program0())
	}
	return u.printedFlow()
}

// ghWork are the commands for the work on a project.
var ghWork = []program{
	{names: "pr", risk: umpire.Safe, why: "prints usage", also: []*[]option{&ghSelf}, subs: []program{
		// safe: gh pr list
		{
			names: "list ls view status diff checks", each: true, risk: umpire.Low, why: asksHost, out: ghNumbers,
			also: []*[]option{&ghCommon}, opts: []option{
				{flags: "-c -d --comments --conflict-status --draft --patch --name-only --watch --fail-fast " +
					"--required"},
				{values: "-i --interval -t -s --state -a --assignee -A --author --app -B --base -H --head -l --label " +
					"-S --search -e --exclude", does: plain},
			},
		},
		{names: "checkout co", risk: umpire.High, consequence: reversible, why: "replaces files of the work tree",
			lax: true},
		// asks: gh pr create
		{names: "create new merge close reopen comment edit ready review lock unlock update-branch revert", each: true,
			risk: umpire.High, consequence: sent, why: changesHost, lax: true, also: []*[]option{&ghBody}},
	}},
	{names: "issue", risk: umpire.Safe, why: "prints usage", also: []*[]option{&ghSelf}, subs: []program{
		{
			names: "list ls view status", each: true, risk: umpire.Low, why: asksHost, out: ghNumbers,
			also: []*[]option{&ghCommon}, opts: []option{
				{flags: "-c --comments"},
				{values: "-t -s --state -a --assignee -A --author --app -l --label -S --search --mention -m " +
					"--milestone --type", does: plain},
			},
		},
		{names: "create new close reopen comment edit delete transfer lock unlock pin unpin develop", each: true,
			risk: umpire.High, consequence: sent, why: changesHost, lax: true, also: []*[]option{&ghBody}},
	}},
	{names: "run", risk: umpire.Safe, why: "prints usage", also: []*[]option{&ghSelf}, subs: []program{
		{
			names: "list ls", risk: umpire.Low, why: asksHost, out: ghNumbers, also: []*[]option{&ghCommon},
			opts: []option{
				{flags: "-a --all",
					values: "-b --branch -c --commit -e --event -s --status -u --user -w --workflow --created -t",
					does:   plain},
			},
		},
		{names: "view watch", each: true, risk: umpire.Low, why: asksHost, also: []*[]option{&ghCommon}, opts: []option{
			{flags: "-v --verbose --log --log-failed --exit-status --compact",
				values: "-j --job -i --interval -a --attempt -t", does: plain},
		}},
		{names: "download", risk: umpire.Medium, consequence: reversible, why: "downloads files", lax: true,
			also: []*[]option{&ghDownloads}},
		{names: "rerun cancel delete", each: true, risk: umpire.High, consequence: sent, why: changesHost, lax: true},
	}},
	{names: "workflow", risk: umpire.Safe, why: "prints usage", also: []*[]option{&ghSelf}, subs: []program{
		{names: "list ls view", each: true, risk: umpire.Low, why: asksHost, also: []*[]option{&ghCommon},
			opts: []option{{flags: "-a -y --all --yaml"}, {values: "-r --ref -t", does: plain}}},
		{names: "run enable disable", each: true, risk: umpire.High, consequence: sent,
			why: "starts or changes what runs at the git host", lax: true},
	}},
	{names: "release", risk: umpire.Safe, why: "prints usage", also: []*[]option{&ghSelf}, subs: []program{
		{
			names: "list ls view verify verify-asset", each: true, risk: umpire.Low, why: asksHost,
			also: []*[]option{&ghCommon},
			opts: []option{{flags: "--exclude-drafts --exclude-pre-releases"}, {values: "-O --order -t", does: plain}},
		},
		{names: "download", risk: umpire.Medium, consequence: reversible, why: "downloads files", lax: true,
			also: []*[]option{&ghDownloads}},
		{names: "create new upload edit delete delete-asset", each: true, risk: umpire.High, consequence: sent,
			why: "publishes or deletes a release", lax: true, also: []*[]option{&ghBody}},
	}},
	{names: "repo", risk: umpire.Safe, why: "prints usage", also: []*[]option{&ghSelf}, subs: []program{
		{
			names: "list ls view", each: true, risk: umpire.Low, why: asksHost, also: []*[]option{&ghCommon},
			opts: []option{
				{flags: "--fork --source --archived --no-archived"},
				{values: "-b --branch -l --language --topic --visibility -t", does: plain},
			},
		},
		{names: "clone", risk: umpire.Medium, consequence: reversible, why: "downloads a repository",
			args: "data write data…", lax: true},
		{names: "create new fork delete edit rename archive unarchive sync set-default deploy-key autolink gitignore " +
			"license", each: true, risk: umpire.High, consequence: sent, why: changesHost, lax: true},
	}},
	{names: "search", risk: umpire.Safe, why: "prints usage", also: []*[]option{&ghSelf}, subs: []program{
		{
			names: "code commits issues prs repos", each: true, risk: umpire.Low, why: asksHost,
			also: []*[]option{&ghCommon}, opts: []option{
				{flags: "--include-prs --no-assignee --no-label --no-milestone --no-project", values: "--include-forks",
					attached: "--archived --draft --locked --merged", does: plain},
				{values: "--author --assignee --base --head --checks --closed --commenter --comments --committer " +
					"--created --extension --filename --hash --interactions --involves --label --language --license " +
					"--match --mentions --merged-at --milestone --order --owner --project --reactions --review " +
					"--review-requested --reviewed-by --size --sort --state --stars --team-mentions --topic " +
					"--updated --visibility -t --number-topics --followers --forks --good-first-issues " +
					"--help-wanted-issues", does: plain},
			},
		},
	}},
	{names: "api", risk: umpire.Low, why: asksHost, check: checkGhAPI, out: fromNetwork, opts: []option{
		{values: "-X --method", does: plain}, {values: "-f --raw-field", does: plain},
		{values: "-F --field", does: plain},
		{values: "--input", does: reads},
		{values: "-H --header", does: plain},
		{values: "-q --jq -t --template -p --preview --cache", does: plain},
		{flags: "-i --include --paginate --slurp --silent --verbose"},
		{values: "--hostname", does: asks, consequence: sent, why: "asks another host"},
	}, about: "--help"},
	{names: "status", risk: umpire.Low, why: asksHost,
		about: "--help", opts: []option{{values: "-e --exclude -o --org", does: plain}}},
	{names: "browse", risk: umpire.Medium, consequence: sent, why: "opens a browser", lax: true},
}

// ghAccount are the commands for the account, its secrets and gh itself.
var ghAccount = []program{
	{names: "auth", risk: umpire.Safe, why: "prints usage", subs: []program{
		{names: "status", risk: umpire.Low, why: asksHost, about: "--help", opts: []option{
			{flags: "-a --active", values: "-h --hostname --json -q --jq --template", does: plain},
			{flags: "-t --show-token", does: harms, consequence: harmless, why: "prints your token"},
		}},
		{names: "token", risk: umpire.High, consequence: harmless, why: "prints your token", lax: true},
		{names: "login logout refresh setup-git switch git-credential", each: true, risk: umpire.High,
			consequence: sent, why: "changes how you sign in to the git host", lax: true},
	}},
	{
		names: "gist label cache ruleset rs variable secret org ssh-key gpg-key project codespace cs", each: true,
		risk: umpire.Safe, why: "prints usage", also: []*[]option{&ghSelf},
		subs: []program{
			{
				names: "list ls view get check item-list field-list verify", each: true, risk: umpire.Low,
				why: asksHost, also: []*[]option{&ghCommon}, opts: []option{
					{flags: "--files --raw -r --public --secret --include-content --default --parents -p --closed",
						values: "-f --filename --filter -s --sort --order -O -S --search -k --key --ref -o --org " +
							"--owner -e --env -u --user -a --app --format -t --hostname", does: plain},
					{values: "--bundle", does: reads},
				},
			},
		},
		check: checkHostVerb,
	},
	{
		names: "attestation at", risk: umpire.High, consequence: sent, why: changesHost, also: []*[]option{&ghSelf},
		subs: []program{
			{
				names: "verify", risk: umpire.Low, why: asksHost, args: "read", also: []*[]option{&ghCommon},
				opts: []option{
					{flags: "--deny-self-hosted-runners", values: "-o --owner --predicate-type --signer-repo " +
						"--signer-workflow --source-ref --source-digest --format --digest-alg", does: plain},
					{values: "-b --bundle --custom-trusted-root", does: reads},
				},
			},
		},
	},
	{names: "config", risk: umpire.Safe, why: "prints usage", subs: []program{
		{names: "list ls get", each: true, risk: umpire.Safe, why: "prints settings", check: secretSetting,
			about: "--help", opts: []option{{values: "-h --host", does: plain}}},
		{names: "set clear-cache", each: true, risk: umpire.High, consequence: reversible,
			why: "changes settings that can name programs to run", lax: true},
	}},
	{names: "alias", risk: umpire.Safe, why: "prints usage", subs: []program{
		{names: "list ls", risk: umpire.Safe, why: "prints other names of commands", about: "--help"},
		{names: "set import delete", each: true, risk: umpire.High, consequence: reversible,
			why: "changes what names mean from now on", lax: true},
	}},
	{names: "extension ext extensions", risk: umpire.Safe, why: "prints usage", subs: []program{
		{names: "list ls", risk: umpire.Safe, why: "lists extensions", about: "--help"},
		{names: "search", risk: umpire.Low, why: asksHost, also: []*[]option{&ghCommon},
			opts: []option{{values: "--license --order --owner --sort", does: plain}}},
		{names: "install upgrade create exec remove browse", each: true, risk: umpire.High, consequence: lost,
			why: "installs or runs programs from the network", lax: true},
	}},
	{names: "completion version help", each: true, risk: umpire.Safe, why: "prints something about gh",
		about: "--help", opts: []option{{values: "-s --shell", does: plain}}},
}

// ghBody are the options that take a text from a file.
var ghBody = []option{
	{values: "-F --body-file --notes-file", does: reads},
	{values: "-b --body -t --title -n --notes -R --repo -B --base -H --head", does: plain},
	{flags: "--help", does: shows},
}

var ghDownloads = []option{
	{values: "-D --dir -O --output", does: writes, why: "writes what it downloads"},
	{values: "-n --name -p --pattern -A --archive -R --repo", does: plain}, {flags: "--help", does: shows},
}

// glabWork are the commands of glab, the same for another kind of host.
var glabWork = []program{
	// asks: glab mr create
	{
		names: "mr issue ci pipe pipeline release repo project snippet label milestone schedule incident iteration",
		each:  true, risk: umpire.Safe, why: "prints usage", also: []*[]option{&ghSelf},
		subs: []program{
			// safe: glab mr list
			{
				names: "list ls view show diff status get trace issues approvers search contributors", each: true,
				risk: umpire.Low, why: asksHost, also: []*[]option{&ghCommon}, opts: []option{
					{flags: "-c -d -M -F -A --comments --closed --merged --all --draft --raw --unresolved --resolved " +
						"--system-logs --mine --opened --compact --live"},
					{values: "-b --branch -p --page -P --per-page -a --assignee --author -l --label -m --milestone " +
						"--search -o --output --output-format -s --source-branch -t --target-branch --pipeline-id",
						does: plain},
				},
			},
		},
		check: checkHostVerb,
	},
	{names: "auth config alias api variable cluster duo securefile ssh-key token user deploy-key changelog stack " +
		"runner job", each: true, risk: umpire.High, consequence: sent, why: changesHost, lax: true},
	{names: "version help completion", each: true, risk: umpire.Safe, why: "prints something about glab",
		opts: []option{{values: "-s --shell", does: plain}}},
}

// checkHostOptions judges the common parts of gh and glab commands: git, which they start in
// their folder to find the repository, a jq filter, which can show the environment, and a
// repository that names its host.
func checkHostOptions(u *use) {
	if u.got("--repo") == nil {
		checkRepository(u)
	}
	for _, options := range [...][]given{u.global, u.given} {
		for _, g := range options {
			switch {
			case scan.HasField("-q --jq", g.name) && g.has:
				judgeJqFilter(u, g.value)
			case scan.HasField("-R --repo", g.name) && g.has &&
				(strings.Count(g.value.text, "/") > 1 || strings.Contains(g.value.text, ":")):
				u.visit(g.value, umpire.Medium, "names its own git host")
			}
		}
	}
	for _, operand := range u.operands {
		if u.namesUnknownHost(operand) {
			u.visit(operand, umpire.Medium, "names its own git host")
		}
	}
}

// namesUnknownHost reports whether an operand is a URL at a host that is not well known, or a
// repository with such a host. Branches may have slashes in their names.
func (p *parsed) namesUnknownHost(operand word) bool {
	scheme, rest, found := strings.Cut(operand.text, "://")
	switch {
	case strings.HasSuffix(p.table, " api"):
		return false // judged by checkGhAPI
	case found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")):
		return !strings.HasPrefix(rest, "github.com/") && !strings.HasPrefix(rest, "gitlab.com/")
	case strings.HasSuffix(p.table, " repo view"):
		return found || strings.Contains(operand.text, ":") || strings.Count(operand.text, "/") > 1
	}
	return false
}

// checkHostVerb judges the verbs that do not only query.
func checkHostVerb(u *use) {
	if len(u.operands) > 0 {
		u.raiseTo(umpire.High, sent, changesHost)
	}
}

// checkGhAPI distinguishes queries from changes: the method is GET unless one is given or there
// are fields to send.
func checkGhAPI(u *use) {
	method, fields := "", false
	for _, g := range u.given {
		switch {
		case g.means("--method"):
			method = "?"
			if g.has && g.value.known() {
				method = strings.ToUpper(g.value.text)
			}
		case g.means("--raw-field"), g.means("--field"), g.means("--input"):
			fields = true
			noteFieldFile(u, g)
			if g.value.open {
				u.raiseTo(umpire.Medium, sent, "sends something known only at run time")
			}
		case g.means("--header"):
			header, _, _ := strings.Cut(g.value.text, ":")
			if !g.value.known() ||
				!scan.HasField("accept x-github-api-version if-none-match if-modified-since",
					strings.ToLower(strings.TrimSpace(header))) {
				u.raiseTo(umpire.Medium, sent, umpire.Say("sends the header %s", g.value.display()))
			}
		}
	}
	if len(u.operands) > 0 && strings.Contains(u.operands[0].text, "://") {
		url := u.operands[0].display()
		u.then(func() { u.w.network(url, "gh reaches it") })
	}
	switch {
	case u.firstOperand() == "graphql" && u.isQuery():
	case u.firstOperand() == "graphql":
		u.raiseTo(umpire.Medium, sent, "sends a query that may change something at the git host")
	case method == "GET" || method == "HEAD" || method == "" && !fields:
	default:
		u.harm("--method", sent, changesHost)
	}
}

// isQuery reports whether a GraphQL document on the line only queries. The keywords that begin
// a change have only one spelling.
func (p *parsed) isQuery() bool {
	documents := 0
	for _, g := range p.given {
		document, found := strings.CutPrefix(g.value.text, "query=")
		if !found {
			continue
		}
		documents++
		document = strings.TrimSpace(document)
		begins := strings.HasPrefix(document, "query") || strings.HasPrefix(document, "{")
		if !g.value.known() || !begins || strings.Contains(document, "mutation") ||
			strings.Contains(document, "subscription") {
			return false
		}
	}
	return documents == 1 && p.got("--input", "--method") == nil
}

// noteFieldFile records the file that a field is read from: -F name=@file.
func noteFieldFile(u *use, g given) {
	if _, file, found := g.value.after("=@"); found && g.means("--field") {
		u.raiseTo(umpire.Medium, sent, "sends a file to the git host")
		u.touch(umpire.KindRead, file, accessOf{})
	}
}
