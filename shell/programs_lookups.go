package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A lookup is a group of uses that query a server and change nothing. They may do so without a
// question, and get the network for it, if neither the project nor the line can choose the
// server or the code that runs. An entry of the tables that contacts a server and is not listed
// here asks a person first.
type lookup struct {
	// program is the program, or its names, and verbs are its comma-separated subcommands.
	// "" means all subcommands that contact a server.
	program, verbs string
	// objects are the comma-separated words before the verbs, or "".
	objects string
	// settings are the project files that the program obeys.
	settings []settingsFile
	// remote judges the settings of the repository, or is nil.
	remote func(GitSetting) (why umpire.Phrase)
	// because explains why neither the project nor the line can choose.
	because string
}

// A settingsFile is a file that a program looks for in the working directory and above.
type settingsFile struct {
	name string
	// free are harmless keys, separated by spaces. A file with other keys, or with anything but
	// comments, may choose a server; without free, so may any file.
	free string
	// fits, if set, reports instead whether a file chooses no server.
	fits func(text string) bool
}

// npmKeys are settings of npm that do not affect servers, credentials or programs. They do not
// include the user agent, which npm sends.
const npmKeys = "access audit audit-level auto-install-peers bin-links color commit-hooks dedupe-peer-dependents " +
	"depth engine-strict foreground-scripts fund git-tag-version hoist hoist-pattern[] include install-links " +
	"install-strategy legacy-bundling legacy-peer-deps lockfile-version loglevel maxsockets message node-linker omit " +
	"optional package-lock prefer-dedupe prefer-offline prefer-workspace-packages preid production progress " +
	"public-hoist-pattern public-hoist-pattern[] resolution-mode save save-dev save-exact save-prefix " +
	"save-workspace-protocol shamefully-hoist shared-workspace-lockfile side-effects-cache sign-git-tag " +
	"strict-peer-dependencies strict-peer-deps tag-version-prefix timing unicode update-notifier workspaces " +
	"workspaces-update"

var (
	npmSettings  = settingsFile{name: ".npmrc", free: npmKeys}
	packageNames = settingsFile{name: "package.json", fits: namesPlainPackages}
)

// lookups follow the manuals of npm 11, gh 2.83, glab 1.78, cargo 1.91, gem 3.7, conda 25,
// docker 29, kubectl 1.34, helm 4, aws 2, az 2.80, gcloud 550, yarn 1.22, pnpm 10, pip 25 and go
// 1.25.
var lookups = []lookup{
	{
		program: "npm", verbs: "view,info,show,v,search,explain,why,fund,ping,whoami",
		settings: []settingsFile{npmSettings},
		because:  "asks the registry of .npmrc in the project, else that of the person; package.json chooses none",
	},
	{
		program: "npm", verbs: "outdated", settings: []settingsFile{npmSettings, packageNames},
		because: "asks that registry about the packages that package.json names",
	},
	{
		program: "yarn", verbs: "info,outdated",
		settings: []settingsFile{npmSettings, packageNames, {name: ".yarnrc"}, {name: ".yarnrc.yml"},
			{name: ".corepack.env"}, {name: "yarn.lock", fits: locksPlainPackages}},
		because: "asks the registry of .npmrc and .yarnrc; package.json and yarn.lock name the packages",
	},
	{
		program: "pnpm", verbs: "outdated,view,info,show,search",
		settings: []settingsFile{npmSettings, packageNames, {name: "pnpm-workspace.yaml"}, {name: ".pnpmfile.cjs"},
			{name: ".pnpmfile.mjs"}, {name: ".corepack.env"}},
		because: "asks the registry of .npmrc; hooks and settings of a workspace are code or may choose another",
	},
	{
		program: "pip pip3", verbs: "index,list",
		settings: []settingsFile{{name: ".venv/bin/pip"}, {name: "venv/bin/pip"}, {name: "env/bin/pip"},
			{name: ".env/bin/pip"}, {name: "virtualenv/bin/pip"}},
		because: "asks the index of the person's pip.conf; pip may be that of a virtual environment in the project",
	},
	{
		program: "go", verbs: "list",
		settings: []settingsFile{{name: "go.mod", fits: requiresPublicModules}, {name: "go.work"}},
		because:  "asks the proxy of the person, or the hosts of the modules, which are public",
	},
	{program: "gh", remote: ghElsewhere, because: "the repository's remotes choose among the hosts that the person " +
		"logged in to; other ones are passed over"},
	{program: "glab", settings: []settingsFile{{name: ".git/glab-cli/config.yml"}}, remote: glabElsewhere,
		because: "asks the host of the repository's remotes, with a token or without: only gitlab.com is known"},
	{
		program: "cargo", verbs: "search,info,owner-list",
		settings: []settingsFile{
			{name: ".cargo/config.toml"}, {name: ".cargo/config"}, {name: "rust-toolchain"},
			{name: "rust-toolchain.toml"},
		},
		because: "asks crates.io, unless .cargo/config.toml replaces it; rust-toolchain.toml can choose another cargo",
	},
	{program: "gem", verbs: "search,info,specification,outdated", settings: []settingsFile{{name: ".gemrc"}},
		because: "asks the sources of the person's .gemrc; a Gemfile is not read"},
	{program: "conda", verbs: "search", settings: []settingsFile{{name: ".condarc"}, {name: "condarc"}},
		because: "asks the channels of the person's and the installation's .condarc"},
	{program: "brew", because: "asks Homebrew and the taps of the person; no file of a project is read"},
	{program: "dnf", because: "asks the repositories of the machine"},
	{
		program: "docker", verbs: "ps,images,logs,inspect,version,info,stats,top,port,history,diff,search," +
			"buildx ls,buildx du,buildx version,buildx inspect",
		because: asksDaemon,
	},
	{
		program: "docker", objects: "container,image,volume,network,system,context,builder,pod,machine",
		verbs: "ls,list,ps,inspect,df,info,logs,top,stats,port,history,diff,show,exists", because: asksDaemon,
	},
	{
		program: "docker", objects: "service,stack,node,secret,config,plugin", verbs: "ls,list,ps,inspect,logs",
		because: asksDaemon,
	},
	{program: "crictl", because: "talks to the runtime that /etc/crictl.yaml names"},
	{program: "kubectl",
		because: "talks to the cluster of the person's kubeconfig; options and variables for another one ask"},
	{program: "helm", verbs: "list,ls,status,history,get,version,env,search",
		because: "talks to the cluster of the person's kubeconfig, or searches the person's chart repositories"},
	{program: "sinfo", because: "asks the scheduler that slurm.conf of the machine names"},
	{program: "squeue", because: "asks the scheduler that slurm.conf of the machine names"},
	{program: "minikube", because: "talks to the person's own clusters"},
	{program: "aws", because: "asks AWS, or the endpoint of the person's ~/.aws/config"},
	{program: "gcloud", because: "asks Google Cloud as the person's configuration says"},
	{program: "az", settings: []settingsFile{{name: ".azure/config"}},
		because: "asks Azure; .azure/config in a folder above adds settings"},
}

const asksDaemon = "talks to the daemon of the person's context; options and variables for another one ask. " +
	"compose reads .env and files of the project"

// ghElsewhere: `gh repo set-default` is stored in the repository, and may name a host.
func ghElsewhere(s GitSetting) umpire.Phrase {
	if strings.HasPrefix(s.Key, "remote.") && strings.HasSuffix(s.Key, ".gh-resolved") &&
		strings.Count(s.Value, "/") > 1 {
		return umpire.Say("the repository's %s names a git host", s.Key)
	}
	return ""
}

// glabElsewhere: remotes choose the host, and settings can rewrite their URLs.
func glabElsewhere(s GitSetting) umpire.Phrase {
	remote := strings.HasPrefix(s.Key, "remote.") && strings.HasSuffix(s.Key, "url")
	known := strings.HasPrefix(s.Value, "https://gitlab.com/") || strings.HasPrefix(s.Value, "git@gitlab.com:") ||
		strings.HasPrefix(s.Value, "ssh://git@gitlab.com/")
	if remote && !known || strings.HasPrefix(s.Key, "url.") {
		return umpire.Say("the repository's %s may name another git host than gitlab.com", s.Key)
	}
	return ""
}

// serverWhys are the reasons of table entries that contact a server.
var serverWhys = []umpire.Phrase{
	asksRegistry, asksHost, asksRepository, looksAtContainers, looksAtCluster, describesAccount, tellsAccount,
}

// askingLists are lists that contact an index if an option compares with it. A virtual
// environment or pyproject.toml may choose the index.
var askingLists = map[string]string{
	"pip list": "--outdated -o --uptodate -u", "uv pip list": "--outdated", "poetry show": "--latest -l --outdated -o",
}

// ServerTable is the Table of an access that stands for a file which may choose the server of a
// look-up.
const ServerTable = "server settings"

// A SettingsFile is a settings file in a folder or above it.
type SettingsFile struct {
	Path string
	Text string
}

// checkServer decides whether a use that contacts a server may do so without a question. A
// project setting that may choose another server is a separate access, which a rule for the
// program does not cover.
func checkServer(u *use) {
	options, lists := askingLists[u.table]
	lists = lists && u.gave(strings.Fields(options)...)
	if !lists && !slices.Contains(serverWhys, u.why) || u.risk.AtLeast(umpire.Medium) {
		return
	}
	l := findLookup(u.table, u.program0())
	everything := u.program0() == "npm" && u.gave("--all", "-a") // names in installed packages
	if everything || l == nil || u.launcher.text != "" {
		u.steered = umpire.Say("%s asks a server that the project may choose, or runs code that it brings", u.table)
		return
	}
	known := len(u.s.dirs) > 0 || len(l.settings) == 0 && l.remote == nil
	if !known {
		u.steered = umpire.Say("the folder is not known whose settings %s obeys", u.program0())
	}
	u.online = known
	for _, dir := range u.s.dirs {
		noteServerFiles(u, l, dir)
		noteServerRemotes(u, l, dir)
	}
}

// findLookup returns the group that a table entry belongs to, or nil.
func findLookup(table, program string) *lookup {
	_, verb, _ := strings.Cut(table, " ")
	if strings.HasPrefix(verb, "+") {
		_, verb, _ = strings.Cut(verb, " ") // rustup's choice of a toolchain
	}
	for i := range lookups {
		l := &lookups[i]
		if scan.HasField(l.program, program) && l.covers(verb) {
			return l
		}
	}
	return nil
}

func (l *lookup) covers(verb string) bool {
	if l.objects != "" {
		object, rest, _ := strings.Cut(verb, " ")
		if !slices.Contains(strings.Split(l.objects, ","), object) {
			return false
		}
		verb = rest
	}
	return l.verbs == "" || slices.Contains(strings.Split(l.verbs, ","), verb)
}

// noteServerFiles emits an access for every project file that may choose the server. Without
// Env.Settings the use gets no network.
func noteServerFiles(u *use, l *lookup, dir string) {
	if len(l.settings) == 0 {
		return
	}
	if u.w.env.Settings == nil {
		u.online = false
		return
	}
	names := make([]string, len(l.settings))
	for i := range l.settings {
		names[i] = l.settings[i].name
	}
	files, err := u.w.env.Settings(dir, names)
	if err != nil {
		u.steered = umpire.Say("the settings that %s obeys cannot be read: %s", u.program0(), err.Error())
	}
	for _, f := range files {
		for i := range l.settings {
			if s := &l.settings[i]; strings.HasSuffix(f.Path, "/"+s.name) && !s.leadsNowhere(f.Text) {
				u.obeysServer(f.Path,
					umpire.Say("%s may choose where %s asks, and with which credentials", f.Path, u.program0()))
			}
		}
	}
}

// leadsNowhere reports whether every line of a file is a comment or sets one of the free keys.
// A carriage return ends a line for npm.
func (s *settingsFile) leadsNowhere(text string) bool {
	if s.fits != nil {
		return s.fits(text)
	}
	if s.free == "" {
		return false
	}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, _, _ := strings.Cut(line, "=")
		if !scan.HasField(s.free, strings.TrimSpace(key)) {
			return false
		}
	}
	return true
}

func noteServerRemotes(u *use, l *lookup, dir string) {
	if l.remote == nil {
		return
	}
	if u.w.env.Git == nil {
		u.online = false
		return
	}
	r := findRepository(u.w, dir)
	if r.problem != "" {
		u.steered = r.problem
	}
	for _, s := range r.settings {
		if why := l.remote(s); why != "" {
			u.obeysServer(s.File, why)
		}
	}
}

// obeysServer emits the access of a setting, once per line.
func (u *use) obeysServer(file string, reason umpire.Phrase) {
	words := []string{u.program0() + " obeys " + file}
	listed := func(a umpire.Access) bool { return a.Table == ServerTable && a.Words[0] == words[0] }
	if slices.ContainsFunc(u.w.accesses, listed) {
		return
	}
	u.w.emit(umpire.Access{
		Kind: umpire.KindExec, Program: file, Words: words, Risk: umpire.Medium, Reason: reason,
		Asks: umpire.CodeNetwork, Table: ServerTable,
	})
}
