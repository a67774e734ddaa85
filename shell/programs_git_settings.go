package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A GitSetting is one setting of a repository's own configuration. Section and
// name of Key are in lower case: "diff.Mine.command".
type GitSetting struct {
	Key, Value string
	File       string // where it stands
}

// A gitProgram is a group of settings that make git run something, also where a
// subcommand only looks.
type gitProgram struct {
	keys string // a * stands for any text
	// only are the subcommands to which they matter; "" is all.
	only string
	// except are values, or programs that do no harm there whatever they are given
	// but for flags.
	except string
	flags  string
	why    umpire.Phrase
}

const (
	// switches are the values of git's yes and no, and none at all.
	switches = "true false yes no on off 1 0"
	pagers   = switches + " cat less more most delta bat batcat diff-so-fancy"
	// reaching are the subcommands that talk to other repositories.
	reaching = "fetch pull push clone ls-remote remote submodule archive request-pull lfs"
)

// gitPrograms of settings, as git-config(1) of git 2.39 to 2.51 tells them. Settings for
// what asks anyway (editors, merge tools, hooks of commits) are not here.
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

// SettingsTable is the Table of an access that stands for a setting of a repository.
const SettingsTable = "git settings"

// checkRepository judges what the settings of the repository make git run. Each
// is an access of its own, which a rule for the subcommand does not cover. In a
// folder that is not known before the line runs, the repository may be anybody's.
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
			if s.holdsCredential() && printsSetting(u, s) {
				u.askSecret("prints a setting that holds a credential")
			}
			if why := s.runs(sub, r.partial); why != "" && !r.reported[s] {
				r.reported[s] = true
				u.obeysSetting(s, why)
			}
		}
	}
}

// A gitRepository is what is known of the repository around a folder.
type gitRepository struct {
	settings []GitSetting
	partial  bool // objects are fetched when they are looked at
	problem  umpire.Phrase
	reported map[GitSetting]bool // settings that were reported
}

// maxRepositories is how many folders of a line are asked for their repository.
const maxRepositories = 32

// findRepository asks for the settings of a folder's repository, once a line.
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

// fetchesLater reports a repository that leaves objects with others until they
// are looked at.
func fetchesLater(settings []GitSetting) bool {
	for _, s := range settings {
		if s.Key == "extensions.partialclone" ||
			strings.HasPrefix(s.Key, "remote.") && strings.HasSuffix(s.Key, ".promisor") {
			return true
		}
	}
	return false
}

// runs says why a setting makes a subcommand run something, or "".
func (s GitSetting) runs(sub string, partial bool) umpire.Phrase {
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

// hasKey reports whether a key is one of the group's.
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

// spares reports a value that names no program, or one that does no harm.
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

// isHelperURL reports a URL such as ext::COMMAND, which names a program to run.
func isHelperURL(url word) bool {
	scheme, _, found := strings.Cut(url.text, "::")
	return found && scheme != "" && !strings.ContainsAny(scheme, "/@:[")
}
