package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// Settings and state that programs print may contain credentials: those of git if the
// repository's own file has one, those of known other programs always.

// minToken is the minimum length of a user name in an address that counts as a token.
const minToken = 20

// holdsCredential reports whether a setting of git contains a credential.
func holdsCredential(s GitSetting) bool {
	if secretSettingName(s.Key) {
		return s.Value != ""
	}
	_, rest, found := strings.Cut(s.Key+"\x00"+s.Value, "://")
	if !found {
		return false
	}
	authority, _, _ := strings.Cut(rest, "/")
	user, _, found := strings.Cut(authority, "@")
	return found && (strings.Contains(user, ":") || len(user) >= minToken)
}

// printsSetting reports whether a use of git config or git remote prints a setting.
func (p *parsed) printsSetting(s GitSetting) bool {
	fields := strings.Fields(p.table)
	if len(fields) < 2 {
		return false
	}
	switch fields[1] {
	case "remote":
		return strings.HasPrefix(s.Key, "remote.") &&
			(p.gave("-v", "--verbose") || scan.HasField(p.table, "show") || scan.HasField(p.table, "get-url"))
	case "config":
		if p.gave("--global", "--system", "--name-only", "-f", "--file", "--blob") {
			return false
		}
		all := p.gave("-l", "--list", "--get-regexp", "--get-urlmatch") || p.firstOperand() == "list"
		return all || slices.ContainsFunc(p.operands, func(wd word) bool {
			return wd.open || strings.EqualFold(wd.text, s.Key)
		})
	}
	return false
}

// checkPackageConfig judges printed settings of pip and pnpm: the address of an index may
// contain names and passwords.
func checkPackageConfig(u *use) {
	secretSetting(u)
	if scan.HasField("list ls", lastField(u.table)) || u.operandContains("index-url") ||
		u.operandContains("extra-index-url") {
		u.askSecret("prints settings, with whatever tokens are in them")
	}
}

func lastField(text string) string {
	fields := strings.Fields(text)
	return fields[max(len(fields)-1, 0)]
}

// kubeHolding are the kinds of objects that contain values of variables and files.
const kubeHolding = "po pod pods deploy deployment deployments rs replicaset replicasets rc replicationcontroller " +
	"replicationcontrollers sts statefulset statefulsets ds daemonset daemonsets job jobs cj cronjob cronjobs all cm " +
	"configmap configmaps"

// checkKubeOutput makes printing whole objects ask if they contain values of variables. A
// table, or a template that names other parts, shows no values.
func checkKubeOutput(u *use) {
	holding := slices.ContainsFunc(u.operands, func(wd word) bool {
		return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(wd.text), func(c rune) bool { return c == ',' }),
			func(kind string) bool {
				kind, _, _ = strings.Cut(kind, "/")
				kind, _, _ = strings.Cut(kind, ".")
				return scan.HasField(kubeHolding, kind)
			})
	})
	for _, g := range u.given {
		if holding && scan.HasField("-o --output --template", g.name) && showsObject(g.value.text) {
			u.askSecret("prints objects with the values of variables, and whatever secrets are in them")
		}
	}
}

// showsObject reports whether a format of kubectl prints an object, or a part of one that
// contains variables.
func showsObject(format string) bool {
	kind, template, _ := strings.Cut(strings.TrimPrefix(format, "="), "=")
	if scan.HasField("yaml json kyaml", kind) {
		return true
	}
	lower := strings.ToLower(template)
	if strings.Contains(lower, "env") || strings.Contains(lower, "json") || strings.Contains(lower, "..") ||
		strings.Contains(lower, ".data") {
		return true
	}
	for _, path := range strings.FieldsFunc(template, func(c rune) bool {
		return strings.ContainsRune("{}:, \t\n|()", c)
	}) {
		path = strings.TrimRight(strings.NewReplacer("[*]", "", "[:]", "").Replace(path), "]0123456789[")
		last := path[strings.LastIndexByte(path, '.')+1:]
		if path == "." || path == "@" || path == "$" ||
			strings.Contains(path, ".") &&
				scan.HasField("items spec containers initContainers template jobTemplate", last) {
			return true
		}
	}
	return false
}

// judgeShownUnit judges systemctl show, which prints the environment of a service unless the
// properties are named.
func judgeShownUnit(u *use) {
	named := false
	for _, g := range u.given {
		if scan.HasField("-p --property -P", g.name) {
			named = true
			for property := range strings.SplitSeq(g.value.text, ",") {
				named = named && g.value.known() && property != "Environment"
			}
			if !named {
				break
			}
		}
	}
	if !named {
		u.askSecret(printsEnvironment)
	}
}

// showsTerminal reports whether a command of tmux prints the contents of a terminal.
func showsTerminal(command word, args []word) bool {
	return scan.HasField("capture-pane capturep", command.text) && slices.ContainsFunc(args, func(wd word) bool {
		return wd.open || strings.HasPrefix(wd.text, "-") && strings.Contains(wd.text, "p")
	})
}

// judgeShownConfig judges docker config inspect, which prints the file in a config.
func judgeShownConfig(u *use) {
	if template := u.joinTemplates(); template == "" || strings.Contains(strings.ToLower(template), "data") ||
		showsEnvironment(template) {
		u.secret = true
		u.raiseTo(umpire.Medium, harmless, "prints a file of the swarm, with whatever secrets are in it")
	}
}
