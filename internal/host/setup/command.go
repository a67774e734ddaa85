package setup

import (
	"strings"

	"github.com/umpirehq/umpire/shell"
)

// commandLine returns the hook as a line for the host's shell.
func (h Hook) commandLine() string {
	words := []string{shell.Quote(h.Command)}
	for _, arg := range h.Args {
		words = append(words, shell.Quote(arg))
	}
	return strings.Join(words, " ")
}

// refuseUnanswered ends the line of a deciding hook. A host runs a call if its hook is missing, was
// killed or has crashed, but all hosts treat exit code 2 with text on standard error as a denial,
// so the shell denies in umpire's place.
const refuseUnanswered = ` || { [ $? = 2 ] || echo "umpire has not answered" >&2; exit 2; }`

// shellLine returns the hook for an event as a line for a POSIX shell.
func (h Hook) shellLine(e event) string {
	if !e.decides {
		return h.commandLine()
	}
	return h.commandLine() + refuseUnanswered
}

// splitCommand splits a line written by commandLine, or by a user with whole words quoted. It
// expands nothing, and drops the suffix that refuses if umpire gives no answer.
func splitCommand(line string) []string {
	line = strings.TrimSuffix(line, refuseUnanswered)
	var words []string
	var word strings.Builder
	started, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, started = c, true
		case quote == 0 && c == '\\' && i+1 < len(line) && line[i+1] == '\'':
			i++
			word.WriteByte('\'')
			started = true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteByte(c)
			started = true
		}
	}
	if started {
		words = append(words, word.String())
	}
	return words
}

// isOwnCommand recognises umpire's hook for a host by its program and arguments.
func isOwnCommand(command string, args []string, hostName string) bool {
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	name = strings.TrimSuffix(name, ".exe")
	if name != "umpire" && name != "umpire-hook" {
		return false
	}
	return len(args) >= 2 && args[0] == "hook" && args[1] == hostName
}
