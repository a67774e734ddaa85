// Package sensitive lists the paths that need approval: files that decide what runs on a machine, and
// files that hold credentials. It also lists the folders that tools fill with their output, and recognizes
// tokens and keys in a text, and hosts that are not on the public web.
//
// The policy's built-in rules, the sandbox and trials all derive from these tables. Writing a guarded
// file or reading a secret asks, and a confined command can do neither.
//
// Tokens are recognized by their prefixes, and by the difference between random characters and names that
// people make. A password that looks like a word, and a secret split into pieces, are missed.
package sensitive

import (
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// A Place is one line of the table of guarded places: files that decide what runs on this
// machine without approval. The policy asks before a call writes one, and the sandbox protects
// them from programs that were not expected to write them.
type Place struct {
	ID umpire.RuleID
	// Path is a pattern without braces. "~/…" lies in a home, "/…" in the file system, and any
	// other pattern below any folder. A pattern for a whole folder ends in "/**".
	Path string
	Why  umpire.Phrase
	// Empty says that the sandbox may create an empty folder in place of a missing one, or of its missing
	// parent, at the root of a workspace. For other places it sets aside files that a command created.
	Empty bool
	// Verbs are the git subcommands that keep their own state here and may write it if the
	// command line itself runs them.
	Verbs []string
}

// A Group is several lines with the same reason. Paths may contain braces.
type Group struct {
	ID  umpire.RuleID
	Why umpire.Phrase
	// Git are names in a git directory, in those of its submodules, whose names may contain
	// slashes, and in those of its worktrees.
	Git   []string
	Paths []string
	Empty bool
	Verbs string
}

// Groups is the table. The linker lays it out, because a hook starts for every call and must
// not build it at start-up. Two kinds of files are left out on purpose. Instructions to agents
// (CLAUDE.md, AGENTS.md, .cursorrules) are read and not run, and umpire judges each call they
// lead to. Server workflows (.github/workflows) run on the server after a push, which asks.
// Neither names programs that run here. Skills are guarded because hosts run the hooks and
// commands that a skill names.
var Groups = []Group{
	{ID: "control-umpire", Why: "umpire's own rules, state and settings", Empty: true, Paths: []string{".umpire/**"}},
	{
		ID: "control-umpire", Why: "umpire's own rules, state and settings",
		Paths: []string{"~/.umpire/**", "/etc/umpire/**"},
	},

	{ID: "control-git", Why: "git runs programs named here", Git: []string{
		"hooks/**", "config", "config.worktree", "info/attributes", "commondir", "gitdir",
	}},
	{
		ID: "control-git", Why: "git runs programs named here",
		Paths: []string{"*.git/{config,hooks/**}", "~/.gitconfig", "~/.config/git/**"},
	},
	{ID: "control-vcs", Why: "a version control system runs programs named here", Paths: []string{
		".hg/{hgrc,hgrc-not-shared,sharedpath,requires}",
		".jj/{repo/config,workspace-config}.toml", ".sl/{config,sharedpath,requires}", ".bzr/branch/branch.conf",
		"_darcs/prefs/**", ".fossil-settings/**", ".pijul/config", "~/.hgrc", "~/.jjconfig.toml",
		"~/.config/{hg,jj,sapling,breezy,pijul}/**",
	}},
	{ID: "control-git", Why: "says where git finds its settings", Paths: []string{".git"}},
	{
		ID: "control-git-state", Why: "git runs what an unfinished rebase lists", Git: []string{"rebase-*/**"},
		Verbs: "rebase pull am",
	},
	{
		ID: "control-git-state", Why: "git resumes the operation stored here", Git: []string{"sequencer/**"},
		Verbs: "cherry-pick revert rebase pull",
	},
	{ID: "control-git-state", Why: "git resumes the operation stored here", Git: []string{"BISECT_*"}, Verbs: "bisect"},

	{ID: "control-agents", Why: "an agent's settings, hooks or servers", Empty: true, Paths: []string{
		".{codex,cursor,gemini,muse}/**", ".github/hooks/**", ".mcp.json",
		".claude/{settings*.json,permissions.yml}", ".claude/{hooks,agents,commands,skills,plugins}/**",
	}},
	{ID: "control-agents", Why: "an agent's settings, hooks or servers", Paths: []string{
		".{opencode,qwen,roo,windsurf,amp,factory}/**", "~/.claude.json", ".kiro/{hooks,settings,agents}/**",
		".{grok,agent,trae,augment,copilot,openhands,cline,kilocode,goose,kimi-code,codeium,crush,qoder,codebuddy}/**",
		".agents/{{hooks,mcp*,settings*}.json,{hooks,skills,plugins,agents,commands,workflows}/**}",
		".clinerules/{hooks,workflows,skills}/**", ".github/{copilot,skills,agents}/**",
		".claude/{statusline*,{output-styles,workflows,rules}/**}",
		"~/.config/{amp,opencode,goose,zed}/**", "~/Documents/Cline/{Hooks,Workflows}/**",
		".continue/{config.*,mcpServers/**}", ".junie/mcp/**", ".aider.conf.yml",
		"{,.}{opencode,crush}.{json,jsonc}",
	}},

	{
		ID: "control-editor", Why: "an editor runs it when the project is opened", Empty: true,
		Paths: []string{".{devcontainer,idea}/**", ".vscode/*.json"},
	},
	{ID: "control-editor", Why: "an editor runs it when the project is opened", Paths: []string{
		"*.code-workspace", ".devcontainer.json", ".zed/{tasks,settings,debug}.json", ".run/*.run.xml",
		".vscode/extensions/**", ".{fleet,theia,helix,nova,lapce,vim,nvim,emacs.d,externalToolBuilders}/**",
		".vs/*.json", "*.sublime-{project,workspace,build}",
		".{nvim.lua,nvimrc,exrc,vimrc,gvimrc,lvimrc,local.vimrc,vimspector.json}",
		".dir-locals{,-2}.el", ".emacs", ".kakrc", "~/.config/{nvim,helix,emacs,kak}/**",
	}},

	{ID: "control-tasks", Why: "runs when someone commits", Empty: true, Paths: []string{".husky/**"}},
	{ID: "control-tasks", Why: "runs when someone commits", Paths: []string{
		".pre-commit-config.{yaml,yml}", "{,.}lefthook{,-local}.{yml,yaml,toml,json}", ".overcommit.yml",
	}},
	{ID: "control-tasks", Why: "runs when a shell enters the folder", Empty: true, Paths: []string{".envrc"}},
	{ID: "control-tasks", Why: "runs when a shell enters the folder", Paths: []string{
		".autoenv{,.zsh,.leave}", ".autoenv_leave.zsh", ".env.leave", ".direnvrc", ".config/direnv/**",
	}},
	{ID: "control-tasks", Why: "a program runs it when it starts in this folder", Paths: []string{
		".{gdbinit,gdbearlyinit,lldbinit,pdbrc,irbrc,pryrc,rdbgrc,byebugrc,ghci,iex.exs,perldb,radare2rc,inputrc}",
		".Rprofile", ".Renviron", ".{psqlrc,sqliterc,screenrc,tmux.conf}", ".config/pry/**", ".julia/config/**",
	}},
	{ID: "control-tasks", Why: "runs, or chooses programs, when a shell enters the folder", Paths: []string{
		".tool-versions", "{,.}mise{,.*}.toml", "{,.}mise/config*.toml", ".config/mise{/**,.toml}", ".mise/tasks/**",
	}},
	{ID: "control-packages", Why: "a package manager runs, or fetches from, what it names", Paths: []string{
		".npmrc", ".yarnrc", ".yarnrc.{yml,yaml}", ".yarn/{releases,plugins}/**", ".pnpmfile.{cjs,mjs}", "pnpmfile.js",
		"bunfig.toml",
		".cargo/{config,config.toml}", ".bundle/config", ".mvn/**", "rust-toolchain{,.toml}", ".condarc",
		".corepack.env", "{,user}.bazelrc", ".bazeliskrc", ".bazelversion", "tools/bazel",
		".buckconfig{,.local}", ".pants.rc",
	}},

	{ID: "control-shell", Why: "runs when a shell starts", Paths: []string{
		"~/.{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,profile}",
		"~/.{zshrc,zshenv,zprofile,zlogin,zlogout}", "~/.config/fish/**",
		"/etc/{profile,bash.bashrc,bashrc,zshrc,zshenv,environment}", "/etc/profile.d/**",
	}},
	{ID: "control-login", Why: "decides who may log in, or runs by itself", Paths: []string{
		"~/.ssh/**", "/var/spool/cron/**", "/etc/crontab", "/etc/cron.*/**",
		"~/.config/{systemd,autostart}/**", "~/Library/LaunchAgents/**", "/etc/systemd/system/**",
	}},
}

// paths yields the paths of a group, with braces, in two parts: a folder of the git directory
// or "", and the rest.
func (g *Group) paths() iter.Seq2[string, string] {
	return func(yield func(folder, rest string) bool) {
		for _, dir := range [...]string{".git/", ".git/modules/**/", ".git/worktrees/*/"} {
			for _, name := range g.Git {
				if !yield(dir, name) {
					return
				}
			}
		}
		for _, path := range g.Paths {
			if !yield("", path) {
				return
			}
		}
	}
}

// GuardsInGit reports whether the table guards a file, given its name in a git directory.
func GuardsInGit(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return slices.ContainsFunc(Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Git, func(pattern string) bool {
			folder, tree := strings.CutSuffix(pattern, "/**")
			against := name
			if tree {
				against = first
			}
			guards, _ := path.Match(folder, against) // a malformed pattern matches nothing, so the change asks
			return guards
		})
	})
}

// Places returns the table, one pattern at a time.
func Places() iter.Seq[Place] {
	return func(yield func(Place) bool) {
		for i := range Groups {
			g := &Groups[i]
			for dir, rest := range g.paths() {
				paths, _ := wildcard.ExpandBraces(dir + rest) // tests ensure that the table is well-formed
				for _, path := range paths {
					if !yield(
						Place{ID: g.ID, Path: path, Why: g.Why, Empty: g.Empty, Verbs: strings.Fields(g.Verbs)},
					) {
						return
					}
				}
			}
		}
	}
}

// Example returns a path that the line matches, below a made-up folder if it applies below any.
func (g *Place) Example() string {
	path := strings.ReplaceAll(g.Path, "/**/", "/a/b/")
	if folder, found := strings.CutSuffix(path, "/**"); found {
		path = folder + "/file"
	}
	return strings.ReplaceAll(path, "*", "a")
}

// Patterns returns each group with its paths in the rule language.
func Patterns() iter.Seq2[*Group, []string] {
	return func(yield func(*Group, []string) bool) {
		all := make([]string, 0, usualPatterns)
		var text strings.Builder // all patterns, one after another
		text.Grow(usualText)
		for i := range Groups {
			g := &Groups[i]
			first := len(all)
			for dir, rest := range g.paths() {
				if dir != "" || !strings.HasPrefix(rest, "~") && !strings.HasPrefix(rest, "/") {
					start := text.Len()
					text.WriteString("/**/")
					text.WriteString(dir)
					text.WriteString(rest)
					rest = text.String()[start:]
				}
				all = append(all, rest)
			}
			if !yield(g, all[first:len(all):len(all)]) {
				return
			}
		}
	}
}

// The usual number of patterns and their total length.
const (
	usualPatterns = 256
	usualText     = 8 << 10
)
