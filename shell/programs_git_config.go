package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

var gitConfigOpts = []option{
	{flags: "--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool -l --list", why: "only prints"},
	{flags: "--local --worktree -z --null --name-only --includes --no-includes --show-origin --show-scope " +
		"--show-names --no-show-names --fixed-value --all --regexp --no-type", values: "--default --value --url",
		does: plain},
	{flags: "--global"}, {flags: "--system"},
	{flags: "--bool --int --bool-or-int --bool-or-str --path --expiry-date", values: "-t --type --blob --comment",
		does: plain, why: "how values are read"},
	{values: "-f --file", does: reads},
	{flags: "--add --replace-all --append", does: asks, consequence: lost,
		why: "changes settings that can name programs to run"},
	{flags: "--unset --unset-all --rename-section --remove-section", does: asks, consequence: lost,
		why: "removes settings"},
	{flags: "-e --edit", does: asks, consequence: lost, why: "opens the editor on the settings"},
	{flags: aboutItself, does: shows},
}

// mildGitSettings are settings about the user's identity and the display.
const mildGitSettings = "user. color. advice. column. core.quotepath core.abbrev core.autocrlf core.eol " +
	"core.ignorecase core.filemode core.longpaths log.date log.decorate diff.renames diff.renamelimit diff.algorithm " +
	"diff.colormoved pull.rebase pull.ff push.default push.autosetupremote fetch.prune merge.ff merge.conflictstyle " +
	"rebase.autostash rebase.autosquash rerere.enabled init.defaultbranch branch.sort tag.sort commit.verbose " +
	"help.autocorrect"

// checkGitConfig distinguishes printing settings from changing them. With one word git prints
// that setting, with two it changes it.
func checkGitConfig(u *use) {
	secretSetting(u)
	if blob := u.got("--blob"); blob != nil {
		noteVersion(u, blob.value)
	}
	if u.got("--includes") != nil && u.got("--file", "--blob") != nil {
		u.raise(umpire.Medium, "prints the files that a file includes")
	}
	if u.got("--get") != nil {
		return
	}
	switch u.firstOperand() {
	case "list", "get":
		return
	case "set", "unset", "rename-section", "remove-section", "edit":
		judgeConfigChange(u, u.operands[1:])
		return
	}
	certain := len(u.operands) == 1 && !u.operands[0].split && !u.operands[0].glob
	if len(u.operands) == 0 || certain {
		if u.has(asks) {
			judgeConfigChange(u, u.operands)
		}
		return
	}
	judgeConfigChange(u, u.operands)
}

// judgeConfigChange judges a change of settings, and records the file that it changes.
func judgeConfigChange(u *use, operands []word) {
	mild := len(operands) > 0 && operands[0].known() && mildSetting(operands[0].text)
	file, why := lit(".git/config"), umpire.Phrase("changes settings that can name programs to run")
	switch home := homeOf(u.s, ""); {
	case u.got("--system") != nil:
		file = lit("/etc/gitconfig")
	case u.got("--global") != nil:
		file = word{text: home.text + "/.gitconfig", open: home.open}
	case u.got("--file") != nil:
		file = u.got("--file").value
	case mild:
		u.raise(umpire.Medium, "changes settings of the repository")
		return
	}
	if !mild {
		u.raise(umpire.High, why)
	}
	u.raise(umpire.Medium, "changes settings")
	u.touch(umpire.KindWrite, file, accessOf{why: why})
}

func mildSetting(name string) bool {
	name = strings.ToLower(name)
	for entry := range strings.FieldsSeq(mildGitSettings) {
		if name == entry || strings.HasSuffix(entry, ".") && strings.HasPrefix(name, entry) {
			return true
		}
	}
	return false
}
