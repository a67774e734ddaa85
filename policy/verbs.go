package policy

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// A VerbMark says who may use one of umpire's own commands. The zero value is VerbPerson, so
// unmarked commands are reserved for people.
type VerbMark uint8

// The marks.
const (
	VerbPerson VerbMark = iota // answers questions, or changes which calls ask: agents are denied
	VerbReads                  // shows something and changes nothing
	VerbRuns                   // runs the program on its line, which is judged like any other
)

// ownVerbs marks umpire's commands by their words. Those that answer questions, or change
// rules, modes, trust or settings, are a person's: an agent that could use them would approve
// itself. The same applies to unlisted commands. Some are listed before they exist.
var ownVerbs = [...]string{
	VerbPerson: "approve, deny, cancel, watch, chat, serve, console, console pair, console notify test, task, " +
		"task draft, task approve, task show, setup, setup uninstall, setup upgrade, task end, autonomy, undo, " +
		"rules trust, rules add, rules remove, rules import, rules grants, rules grants list, " +
		"rules grants revoke, config set, suggest, sessions mode, sessions end, sessions delete, " +
		"timeline prune, proxy mcp permission-prompt, try keep, try discard, secrets lease, secrets revoke",
	VerbReads: "check, status, pending, version, config, sessions, console notify, proxy, rules, rules list, " +
		"rules test, rules lint, rules prove, rules prove can, rules prove applies, rules prove conflict, " +
		"rules prove wider, timeline, timeline verify, timeline head, try show, why, stats, replay, " +
		"programs, programs list, programs show, programs lint, help, man, completion, completion bash, " +
		"completion zsh, completion fish, completion powershell, secrets, secrets leases",
	VerbRuns: "run, demo, hook, bench, doctor, conformance, try, exec, proxy mcp, proxy acp, proxy codex",
}

// movedVerbs are the former names of commands, which keep working, with the present ones.
var movedVerbs = map[string]string{
	"grants": "rules grants", "trust": "rules trust", "mode": "sessions mode",
	"pair": "console pair", "notify": "console notify",
	"init": "setup", "upgrade": "setup upgrade", "uninstall": "setup uninstall",
	"mcp": "proxy mcp", "acp": "proxy acp", "app-server": "proxy codex",
}

// PresentVerb returns the present name of one of umpire's commands by its former one, such as
// "rules trust" for "trust", or "" if the command has not moved.
func PresentVerb(former string) string { return movedVerbs[former] }

// VerbMarkOf returns the mark of one of umpire's commands, given by its words without options,
// such as "rules add". It returns VerbPerson and false if the command has no mark.
func VerbMarkOf(words string) (mark VerbMark, marked bool) {
	for mark = range VerbMark(len(ownVerbs)) {
		if slices.Contains(verbsOf(mark), words) {
			return mark, true
		}
	}
	return VerbPerson, false
}

// verbsOf returns the commands with a mark, in order.
func verbsOf(mark VerbMark) []string { return slices.Sorted(strings.SplitSeq(ownVerbs[mark], ", ")) }

// unmarkedVerb stands for every unmarked command.
const unmarkedVerb = ""

// usesPersonVerb reports whether a program is umpire with a person's verb, and which verb it
// is; unmarkedVerb stands for an unknown one.
func usesPersonVerb(a *umpire.Access) (verb string, uses bool) {
	if !isOwnProgram(a) || len(a.Words) == 0 {
		return "", false
	}
	return personVerbOf("", a.Words[1:])
}

// isOwnProgram reports whether a program has umpire's name.
func isOwnProgram(a *umpire.Access) bool {
	return a.Kind == umpire.KindExec &&
		(strings.EqualFold(a.Program, "umpire") || strings.EqualFold(a.Program, "umpire.exe"))
}

// personVerbOf looks for a verb below the one found so far. A word after an option may be its
// value or the verb: it counts as a verb if it is a known one.
func personVerbOf(above string, words []string) (verb string, uses bool) {
	for word, certain := range operandsOf(words) {
		path := strings.TrimSpace(above + " " + word.text)
		path = cmp.Or(movedVerbs[path], path)
		mark, marked := VerbMarkOf(path)
		switch {
		case !marked && certain && slices.Contains(verbsOf(VerbRuns), above):
			return "", false // a word of the command to run
		case !marked && certain:
			return unmarkedVerb, true
		case !marked:
			continue
		case mark == VerbPerson:
			return path, true
		}
		if hasSubverbs(path) {
			if verb, uses := personVerbOf(path, words[word.at+1:]); uses {
				return verb, true
			}
		}
		if certain {
			return "", false
		}
	}
	return "", false
}

// A verbWord is a word that may be a verb, and its position.
type verbWord struct {
	text string
	at   int
}

// operandsOf yields the words that are not options, and whether each is certainly not an
// option's value.
func operandsOf(words []string) iter.Seq2[verbWord, bool] {
	return func(yield func(verbWord, bool) bool) {
		mayBeValue := false
		for i, word := range words {
			if strings.HasPrefix(word, "-") {
				mayBeValue = !strings.Contains(word, "=")
				continue
			}
			if !yield(verbWord{word, i}, !mayBeValue) {
				return
			}
			mayBeValue = false
		}
	}
}

func hasSubverbs(path string) bool {
	below := func(verb string) bool { return strings.HasPrefix(verb, path+" ") }
	return slices.ContainsFunc(strings.Split(strings.Join(ownVerbs[:], ", "), ", "), below)
}
