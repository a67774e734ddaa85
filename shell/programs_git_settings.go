package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A GitSetting is one setting of a repository's own configuration.
type GitSetting = umpire.GitSetting

// A gitProgram is a group of settings that make git run a program, even for a subcommand that
// only looks.
type gitProgram struct {
	keys string // a * stands for any text
	// only are the subcommands that they affect; "" means all.
	only string
	// except are harmless values, or programs that are harmless with only flags as arguments.
	except string
	flags  string
	why    umpire.Phrase
}

const (
	// switches are the boolean values of git, and no value.
	switches = "true false yes no on off 1 0"
	pagers   = switches + " cat less more most delta bat batcat diff-so-fancy"
	// reaching are the subcommands that contact other repositories.
	reaching = "fetch pull push clone ls-remote remote submodule archive request-pull lfs"
)

// gitSettingPrograms follow git-config(1) of git 2.39 to 2.51. Settings for commands that ask
// anyway (editors, merge tools, hooks of commits) are not listed.
var gitSettingPrograms = []gitProgram{
	{keys: "core.fsmonitor", except: switches, why: "runs a program that tells what has changed"},
	{keys: "core.pager pager.*", except: pagers, flags: "-eFiJKMnNQrRsSwWX", why: "runs a pager"},
	{keys: "diff.external diff.*.command diff.*.textconv", why: "runs a program on what differs"},
	{keys: "filter.*.clean filter.*.smudge filter.*.process", except: "git-lfs",
		flags: "clean smudge filter-process -- %f --skip", why: "runs a program on files that it looks at"},
	{keys: "core.alternaterefscommand", why: "runs a program that lists refs"},
	{keys: "gpg.program gpg.*.program gpg.ssh.defaultkeycommand", except: "gpg gpg2 ssh-keygen gpgsm",
		why: "runs a program that checks signatures"},
	{keys: "tar.*.command", why: "runs a program that packs"},
	{keys: "man.* browser.* help.format help.browser web.browser", except: "man",
		why: "runs a program that shows manual pages"},
	{keys: "lfs.extension.* lfs.customtransfer.* lfs.standalonetransferagent", why: "runs a program on large files"},
	{keys: "hook.*", why: "runs a hook of the repository"},
	{keys: "core.worktree", why: "works on the files of another folder"},
	{keys: "merge.*.driver", only: "merge-tree", why: "runs a program that merges"},
	{keys: "core.sshcommand core.gitproxy core.askpass credential.helper credential.*.helper remote.*.uploadpack " +
		"remote.*.receivepack remote.*.vcs protocol.allow protocol.ext.allow protocol.*.allow url.*.insteadof " +
		"url.*.pushinsteadof", only: reaching, why: "runs a program to reach another repository"},
}

// SettingsTable is the Table of an access that stands for a repository setting.
const SettingsTable = "git settings"

// checkRepository judges the programs that the repository's settings make git run. Each is a
// separate access, which a rule for the subcommand does not cover. A folder that is unknown
// before the line runs may hold an untrusted repository.
func checkRepository(u *use) {
	if len(u.s.dirs) == 0 {
		u.doubt = "the folder that git works in is not known, and its settings could run programs"
		return
	}
	if u.w.env.Git == nil {
		return
	}
	sub := strings.TrimPrefix(strings.TrimPrefix(u.table, "git"), " ")
	for _, dir := range u.s.dirs {
		r := findRepository(u.w, dir)
		if r.problem != "" {
			u.doubt = r.problem
		}
		for _, s := range r.settings {
			if holdsCredential(s) && u.printsSetting(s) {
				u.askSecret("prints a setting that holds a credential")
			}
			if why := explainRun(s, sub, r.partial); why != "" && !r.reported[s] {
				r.reported[s] = true
				u.obeysSetting(s, why)
			}
		}
	}
}

// A gitRepository caches the repository around a folder.
type gitRepository struct {
	settings []GitSetting
	partial  bool // objects are fetched on demand
	problem  umpire.Phrase
	reported map[GitSetting]bool // settings already reported
}

// maxRepositories is the maximum number of folders of a line for which to look up the repository.
const maxRepositories = 32

// findRepository returns the settings of a folder's repository, looked up once per line.
func findRepository(w *walker, dir string) *gitRepository {
	if r := w.repositories[dir]; r != nil {
		return r
	}
	if len(w.repositories) >= maxRepositories {
		return &gitRepository{problem: "works in too many folders"}
	}
	r := &gitRepository{reported: map[GitSetting]bool{}}
	settings, err := w.env.Git(dir)
	if err != nil {
		r.problem = umpire.Say("the settings of the repository cannot be read: %s", err.Error())
	}
	r.settings, r.partial = settings, fetchesLater(settings)
	if w.repositories == nil {
		w.repositories = map[string]*gitRepository{}
	}
	w.repositories[dir] = r
	return r
}

// obeysSetting emits the access of a setting.
func (u *use) obeysSetting(s GitSetting, why umpire.Phrase) {
	u.w.emit(umpire.Access{
		Kind: umpire.KindExec, Program: s.Key + "=", Args: []string{s.Value}, Words: []string{s.Key + "=" + s.Value},
		Risk: umpire.Medium, Reason: umpire.Say("the repository's %s = %s (%s) %s", s.Key, s.Value, s.File, why),
		Table: SettingsTable,
	})
}

// fetchesLater reports whether a repository leaves objects on a remote until they are needed.
func fetchesLater(settings []GitSetting) bool {
	for _, s := range settings {
		if s.Key == "extensions.partialclone" ||
			strings.HasPrefix(s.Key, "remote.") && strings.HasSuffix(s.Key, ".promisor") {
			return true
		}
	}
	return false
}

// explainRun explains why a setting makes a subcommand run something, or returns "".
func explainRun(s GitSetting, sub string, partial bool) umpire.Phrase {
	if s.Key == "alias."+strings.ToLower(firstWord(sub)) {
		return "gives the subcommand another meaning"
	}
	if strings.HasPrefix(s.Key, "remote.") && strings.HasSuffix(s.Key, "url") && isHelperURL(lit(s.Value)) &&
		(partial || scan.HasField(reaching, firstWord(sub))) {
		return "runs a program to reach another repository"
	}
	for i := range gitSettingPrograms {
		p := &gitSettingPrograms[i]
		matters := p.only == "" || scan.HasField(p.only, firstWord(sub)) || p.only == reaching && partial
		if matters && p.hasKey(s.Key) && !p.spares(s.Value) {
			return p.why
		}
	}
	return ""
}

// hasKey reports whether a key belongs to the group.
func (p *gitProgram) hasKey(key string) bool {
	for pattern := range strings.FieldsSeq(p.keys) {
		before, after, star := strings.Cut(pattern, "*")
		if key == pattern || star && len(key) > len(before)+len(after) && strings.HasPrefix(key, before) &&
			strings.HasSuffix(key, after) {
			return true
		}
	}
	return false
}

// spares reports whether a value names no program, or a harmless one.
func (p *gitProgram) spares(value string) bool {
	words := strings.Fields(value)
	if len(words) == 0 {
		return true
	}
	if !scan.HasField(p.except, strings.ToLower(words[0])) {
		return false
	}
	for _, flag := range words[1:] {
		letters := strings.HasPrefix(flag, "-") && strings.HasPrefix(p.flags, "-") && strings.Trim(flag, p.flags) == ""
		if !letters && !scan.HasField(p.flags, flag) {
			return false
		}
	}
	return true
}

func firstWord(text string) string {
	first, _, _ := strings.Cut(text, " ")
	return first
}

// isHelperURL reports whether a URL names a program to run, as ext::COMMAND does.
func isHelperURL(url word) bool {
	scheme, _, found := strings.Cut(url.text, "::")
	return found && scheme != "" && !strings.ContainsAny(scheme, "/@:[")
}
