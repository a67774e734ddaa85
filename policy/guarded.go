package policy

import (
	"iter"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/wildcard"
)

// A GuardedPlace is one line of the table of guarded places: files that decide what
// runs on this machine without anyone asking. The policy asks before a call writes
// one, and the sandbox keeps them from programs nobody knew would write them.
type GuardedPlace struct {
	ID umpire.RuleID
	// Path is a pattern without braces. "~/…" lies in a home, "/…" in the file system,
	// any other one below any folder. A folder with all that is in it ends in "/**".
	Path string
	Why  umpire.Phrase
	// Empty says that the sandbox may keep an empty folder in place of a missing one, or of
	// the folder that it lies in, at the root of a workspace. Of other places it sets aside what a command made.
	Empty bool
	// Verbs are the subcommands of git that keep their own state here, and may write it
	// when the command line itself runs them.
	Verbs []string
}

// A guardedGroup is several lines that have the same reason. Paths may hold braces.
type guardedGroup struct {
	id    umpire.RuleID
	why   umpire.Phrase
	paths []string
	empty bool
	verbs string
}

// guardedGroups is the table. Two kinds of files are left out on purpose. Instructions
// to agents (CLAUDE.md, AGENTS.md, .cursorrules) are read and not run: each call they
// lead to is judged by itself. Workflows of a server (.github/workflows) run there after
// a push, which asks. Neither names anything that runs here.
var guardedGroups = []guardedGroup{
	{id: "control-umpire", why: "umpires-own-rules-state-and-settings", empty: true, paths: []string{".umpire/**"}},
	{
		id: "control-umpire", why: "umpires-own-rules-state-and-settings",
		paths: []string{"~/.umpire/**", "/etc/umpire/**"},
	},

	{id: "control-git", why: "git-runs-programs-named-here", paths: gitPaths(
		"hooks/**", "config", "config.worktree", "info/attributes", "commondir", "gitdir",
	)},
	{
		id: "control-git", why: "git-runs-programs-named-here",
		paths: []string{"*.git/{config,hooks/**}", "~/.gitconfig", "~/.config/git/**"},
	},
	{id: "control-git", why: "says-where-git-finds-its-settings", paths: []string{".git"}},
	{
		id: "control-git-state", why: "git-runs-what-an-unfinished-rebase-lists", paths: gitPaths("rebase-*/**"),
		verbs: "rebase pull am",
	},
	{
		id: "control-git-state", why: "git-goes-on-with-what-stands-here", paths: gitPaths("sequencer/**"),
		verbs: "cherry-pick revert rebase pull",
	},
	{id: "control-git-state", why: "git-goes-on-with-what-stands-here", paths: gitPaths("BISECT_*"), verbs: "bisect"},

	{id: "control-agents", why: "an-agents-settings-hooks-or-servers", empty: true, paths: []string{
		".{codex,cursor,gemini,muse}/**", ".github/hooks/**", ".mcp.json",
		".claude/{settings*.json,permissions.yml}", ".claude/{hooks,agents,commands,skills,plugins}/**",
	}},
	{id: "control-agents", why: "an-agents-settings-hooks-or-servers", paths: []string{
		".{opencode,qwen,roo,windsurf,amp,factory}/**", "~/.claude.json", ".kiro/{hooks,settings,agents}/**",
		".continue/{config.*,mcpServers/**}", ".junie/mcp/**", ".aider.conf.yml",
		"{,.}{opencode,crush}.{json,jsonc}",
	}},

	{
		id: "control-editor", why: "an-editor-runs-it-when-the-project-is-opened", empty: true,
		paths: []string{".{devcontainer,idea}/**", ".vscode/*.json"},
	},
	{id: "control-editor", why: "an-editor-runs-it-when-the-project-is-opened", paths: []string{
		"*.code-workspace", ".devcontainer.json", ".zed/{tasks,settings,debug}.json", ".run/*.run.xml",
	}},

	{id: "control-tasks", why: "runs-when-someone-commits", empty: true, paths: []string{".husky/**"}},
	{id: "control-tasks", why: "runs-when-someone-commits", paths: []string{
		".pre-commit-config.{yaml,yml}", "{,.}lefthook{,-local}.{yml,yaml,toml,json}", ".overcommit.yml",
	}},
	{id: "control-tasks", why: "runs-when-a-shell-enters-the-folder", empty: true, paths: []string{".envrc"}},
	{id: "control-tasks", why: "runs-or-chooses-programs", paths: []string{
		".tool-versions", "{,.}mise{,.*}.toml", "{,.}mise/config*.toml", ".config/mise{/**,.toml}", ".mise/tasks/**",
	}},
	{id: "control-packages", why: "a-package-manager-runs", paths: []string{
		".npmrc", ".yarnrc", ".yarnrc.{yml,yaml}", ".yarn/{releases,plugins}/**", ".pnpmfile.{cjs,mjs}", "pnpmfile.js",
		"bunfig.toml",
		".cargo/{config,config.toml}", ".bundle/config", ".mvn/**",
	}},

	{id: "control-shell", why: "runs-when-a-shell-starts", paths: []string{
		"~/.{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,profile}",
		"~/.{zshrc,zshenv,zprofile,zlogin,zlogout}", "~/.config/fish/**",
		"/etc/{profile,bash.bashrc,bashrc,zshrc,zshenv,environment}", "/etc/profile.d/**",
	}},
	{id: "control-login", why: "decides-who-may-log-in", paths: []string{
		"~/.ssh/**", "/var/spool/cron/**", "/etc/crontab", "/etc/cron.*/**",
		"~/.config/{systemd,autostart}/**", "~/Library/LaunchAgents/**", "/etc/systemd/system/**",
	}},
}

// gitPaths are places in a git directory, in those of its submodules, which have slashes
// in their names, and in those of its worktrees.
func gitPaths(names ...string) (paths []string) {
	for _, dir := range []string{".git/", ".git/modules/**/", ".git/worktrees/*/"} {
		for _, name := range names {
			paths = append(paths, dir+name)
		}
	}
	return paths
}

// GuardedPlaces returns the table, one pattern at a time.
func GuardedPlaces() iter.Seq[GuardedPlace] {
	return func(yield func(GuardedPlace) bool) {
		for i := range guardedGroups {
			g := &guardedGroups[i]
			for _, written := range g.paths {
				paths, _ := wildcard.ExpandBraces(written) // the tests see to it that they are well formed
				for _, path := range paths {
					if !yield(
						GuardedPlace{ID: g.id, Path: path, Why: g.why, Empty: g.empty, Verbs: strings.Fields(g.verbs)},
					) {
						return
					}
				}
			}
		}
	}
}

// Example is a path that the line is about, below a folder where it holds below any.
func (g *GuardedPlace) Example() string {
	path := strings.ReplaceAll(g.Path, "/**/", "/a/b/")
	if folder, found := strings.CutSuffix(path, "/**"); found {
		path = folder + "/file"
	}
	return strings.ReplaceAll(path, "*", "a")
}

// patterns are the group's paths in the rule language.
func (g *guardedGroup) patterns() []string {
	all := make([]string, len(g.paths))
	for i, path := range g.paths {
		if all[i] = path; !strings.HasPrefix(path, "~") && !strings.HasPrefix(path, "/") {
			all[i] = "/**/" + path
		}
	}
	return all
}
