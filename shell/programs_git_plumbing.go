package shell

import "github.com/umpirehq/umpire"

// gitPlumbing are the subcommands that scripts use to work on objects and the index.
var gitPlumbing = []program{
	{
		names: "hash-object", risk: umpire.Safe, why: "prints the name a file would have as an object", args: "read…",
		about: aboutItself, opts: []option{
			{flags: "--stdin --no-filters --literally", values: "-t --path", does: plain}, {flags: "--stdin-paths"},
			{flags: "-w", does: asks, consequence: reversible, why: "adds an object"},
		},
	},
	{
		names: "mktree mktag write-tree commit-tree", each: true, risk: umpire.Low,
		why: "adds an object that nothing refers to", about: aboutItself, opts: []option{
			{flags: "-z --missing --batch --strict --missing-ok --no-gpg-sign", values: "--prefix -p -m",
				attached: "-S --gpg-sign", does: plain},
			{values: "-F", does: reads},
		},
	},
	{names: "stripspace", risk: umpire.Safe, why: "removes blanks",
		about: aboutItself, opts: []option{{flags: "-s -c --strip-comments --comment-lines"}}},
	{names: "column", risk: umpire.Safe, why: "puts words in columns", lax: true},
	{names: "update-index read-tree", each: true, risk: umpire.Medium, consequence: reversible,
		why: "changes the next commit", lax: true},
	{names: "checkout-index", risk: umpire.High, consequence: lost, why: "replaces files of the work tree", lax: true},
	{names: "merge-file", risk: umpire.Medium, consequence: reversible, why: "merges files", args: "write read…",
		lax: true, opts: []option{{flags: "--object-id", values: "-L --marker-size --diff-algorithm", does: plain}}},
	{names: "merge-index merge-one-file", each: true, risk: umpire.Medium, consequence: reversible,
		why: "runs a merge program", lax: true},
	{
		names: "interpret-trailers", risk: umpire.Medium, consequence: reversible,
		why: "runs the trailer programs of the settings", args: "read…", lax: true, check: checkTrailers,
		opts: []option{
			{flags: "--parse", why: "only prints"}, {flags: "--in-place", does: edits},
			{values: "--trailer --where --if-exists --if-missing", does: plain},
		},
	},
	{names: "index-pack unpack-objects unpack-file pack-objects multi-pack-index commit-graph update-server-info " +
		"mailinfo mailsplit fmt-merge-msg fast-export fetch-pack send-pack", each: true, risk: umpire.Medium,
		consequence: reversible, why: "changes the files of the repository", lax: true},
}

// checkTrailers allows --parse, which ignores the settings.
func checkTrailers(u *use) {
	if len(u.given) > 0 && u.given[0].name == "--parse" && !u.givesOther("--parse") {
		u.onlyShows("prints the trailers of a message")
	}
}

// gitPrograms are the subcommands that start other programs, serve, or reveal secrets.
var gitPrograms = []program{
	{
		names: "difftool", risk: umpire.Medium, consequence: reversible, why: "starts a program on files that differ",
		lax: true, about: aboutItself, opts: []option{
			{values: "-x --extcmd", does: runs, why: "runs a program on files that differ"},
			{values: "-t --tool", does: plain},
		},
	},
	{names: "mergetool gui citool instaweb web--browse", each: true, risk: umpire.Medium, consequence: reversible,
		why: "starts another program", lax: true},
	{names: "hook", risk: umpire.Medium, consequence: lost, why: "runs a hook", lax: true},
	{
		names: "maintenance", risk: umpire.Medium, consequence: reversible, why: "tidies the repository", lax: true,
		subs: []program{
			{names: "start stop register unregister", each: true, risk: umpire.High, consequence: lost,
				why: "changes what runs in the background from now on", lax: true},
		},
	},
	{names: "for-each-repo", risk: umpire.Medium, consequence: lost, why: "runs git in other repositories", lax: true},
	{names: "send-email imap-send", each: true, risk: umpire.High, consequence: sent, why: "sends mail", lax: true},
	{names: "daemon http-backend upload-pack upload-archive receive-pack shell http-push", each: true,
		risk: umpire.High, consequence: sent, why: "serves repositories to others", lax: true},
	{names: "credential credential-cache credential-store credential-osxkeychain credential-manager", each: true,
		risk: umpire.High, consequence: sent, why: "hands out or changes passwords", lax: true},
	{names: "bugreport diagnose", each: true, risk: umpire.Medium, consequence: reversible, why: "writes a report",
		lax: true},
}
