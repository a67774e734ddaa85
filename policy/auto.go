package policy

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// auto is row 14 in auto mode: git commands whose changes stay in the repository run, a push
// asks, known danger is denied, and the rest asks. Doubt is not known danger, so it asks.
func (j *judge) auto(code umpire.ReasonCode, ask umpire.Phrase) []umpire.Reason {
	a := j.access()
	if a.Doubt != "" {
		return oneReason(rowMode, umpire.Ask, code, ask)
	}
	switch gitInAuto(j.partWords()) {
	case umpire.Allow:
		if !a.Redirect && !j.outside {
			return oneReason(rowMode, umpire.Allow, umpire.CodeMode, "Auto mode: git keeps this inside the repository")
		}
	case umpire.Ask:
		return oneReason(rowMode, umpire.Ask, code, ask)
	case umpire.Deny:
	}
	if a.Risk.AtLeast(umpire.High) {
		text := umpire.Phrase("Auto mode refuses known danger")
		if a.Reason != "" {
			text = umpire.Say("Auto mode refuses known danger: %s", a.Reason)
		}
		return oneReason(rowMode, umpire.Deny, umpire.CodeAutoDeny, text)
	}
	return oneReason(rowMode, umpire.Ask, code, ask)
}

// partWords returns the words of the only program in the access's part, or nil if the part has
// several programs or an unknown one.
func (j *judge) partWords() []string {
	if !startsCommands(j.tool) {
		return nil
	}
	parts := programsIn(j, j.access().Part)
	if len(parts) != 1 || parts[0].subject.access.Doubt != "" {
		return nil
	}
	return parts[0].subject.access.Words
}

// gitInAuto returns auto mode's verdict on a git command: Allow for adding and committing, Ask
// for a plain push, and Deny if auto mode has no opinion.
func gitInAuto(words []string) umpire.Verdict {
	if len(words) < 2 || words[0] != "git" {
		return umpire.Deny
	}
	switch words[1] {
	case "add":
		return umpire.Allow
	case "commit":
		if slices.ContainsFunc(words[2:], rewritesHistory) {
			return umpire.Ask
		}
		return umpire.Allow
	case "push":
		if !slices.ContainsFunc(words[2:], forcesPush) {
			return umpire.Ask
		}
	}
	return umpire.Deny
}

// rewritesHistory reports whether an option of git commit rewrites a commit or skips its checks.
func rewritesHistory(word string) bool {
	return strings.HasPrefix(word, "--amend") || strings.HasPrefix(word, "--no-v") || shortOption(word, 'n')
}

// forcesPush reports whether an option or refspec of git push overwrites or removes refs that
// others use. Git accepts any unambiguous prefix of a long option.
func forcesPush(word string) bool {
	if strings.HasPrefix(word, "+") || strings.HasPrefix(word, ":") {
		return true
	}
	safe := strings.HasPrefix(word, "--follow") || strings.HasPrefix(word, "--dry")
	forces := func(option string) bool { return strings.HasPrefix(word, option) }
	return !safe && slices.ContainsFunc([]string{"--f", "--d", "--m", "--pr"}, forces) ||
		shortOption(word, 'f') || shortOption(word, 'd')
}

func shortOption(word string, letter byte) bool {
	return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.IndexByte(word, letter) > 0
}

// interpreters run any code they are given.
var interpreters = []string{
	"sh", "bash", "zsh", "dash", "ksh", "fish", "csh", "tcsh", "busybox", "cmd", "cmd.exe", "powershell", "pwsh",
	"python", "python2", "python3", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "tclsh",
	"Rscript", "osascript",
	"awk", "gawk", "mawk", "nawk", "vim", "vi", "ex", "ed", "emacs", "gdb", "expect", "eval", "source", ".",
	"npx", "bunx", "pnpx", "uvx", "tsx", "ts-node", "java", "irb",
}

// isInterpreter reports whether a program is an interpreter of any version.
func isInterpreter(program string) bool {
	name := strings.TrimSuffix(program[strings.LastIndexByte(program, '/')+1:], ".exe")
	return slices.Contains(interpreters, name) ||
		slices.Contains(interpreters, strings.TrimRight(name, ".0123456789")) && name != ""
}

// openEnded are further programs that run anything their arguments say. An allow rule for the bare one allows all.
var openEnded = []string{
	"builtin", "chroot", "command", "doas", "docker", "env", "exec", "fd", "find", "flock", "git", "go", "ionice",
	"kubectl", "ltrace", "make", "nice", "nohup", "npm", "nsenter", "parallel", "pipx", "podman", "rm", "screen",
	"script", "sed", "setsid", "ssh", "strace", "su", "sudo", "systemd-run", "time", "timeout", "tmux", "unshare",
	"watch", "xargs",
}

// openEndedSub are subcommands and options that make a program open-ended.
var openEndedSub = []string{
	"-c", "-e", "-m", "-lc", "-ic", "--eval", "-p", "--print", "-r", "exec", "x", "dlx", "run", "-", "-s", "--", "-u",
	"-E", "-i",
}

// tooBroad reports whether an allow rule, given the words of its prefix, allows so much that
// auto mode would have nothing left to decide.
func tooBroad(r *umpire.Rule, words []string) bool {
	switch {
	case r.Action != umpire.Allow:
		return false
	case r.Match == (umpire.Match{}):
		return ToolNamed(r.Tool, "Bash")
	case len(words) == 0:
		return false
	}
	program := strings.TrimSuffix(words[0][strings.LastIndexByte(words[0], '/')+1:], ".exe")
	if !isInterpreter(words[0]) && !slices.Contains(openEnded, strings.TrimRight(program, ".0123456789")) &&
		!slices.Contains(openEnded, words[0]) {
		return false
	}
	return len(words) == 1 || len(words) == 2 && slices.Contains(openEndedSub, words[1])
}

// Stripped returns the allow rules that have no effect in the mode, because they are broad
// enough to defeat it. Only auto mode strips rules.
func (p *Policy) Stripped(mode umpire.Mode) []umpire.Rule {
	if p == nil || mode != umpire.ModeAuto {
		return nil
	}
	var stripped []umpire.Rule
	for _, r := range p.rules {
		if words, err := SplitPrefix(r.Match.CommandPrefix); err == nil && tooBroad(&r, words) {
			stripped = append(stripped, r)
		}
	}
	return stripped
}
