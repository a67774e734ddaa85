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
var ownVerbs = map[string]VerbMark{
	"approve": VerbPerson, "deny": VerbPerson, "cancel": VerbPerson, "watch": VerbPerson, "chat": VerbPerson,
	"serve": VerbPerson, "console": VerbPerson, "console pair": VerbPerson, "console notify test": VerbPerson,
	"setup": VerbPerson, "setup uninstall": VerbPerson, "setup upgrade": VerbPerson,
	"autonomy": VerbPerson, "undo": VerbPerson, "rules trust": VerbPerson,
	"rules add": VerbPerson, "rules remove": VerbPerson, "rules import": VerbPerson,
	"rules grants": VerbPerson, "rules grants list": VerbPerson, "rules grants revoke": VerbPerson,
	"config set": VerbPerson, "suggest": VerbPerson, "sessions mode": VerbPerson,
	"sessions end": VerbPerson, "sessions delete": VerbPerson, "timeline prune": VerbPerson,
	"proxy mcp permission-prompt": VerbPerson, "try keep": VerbPerson, "try discard": VerbPerson,

	"check": VerbReads, "status": VerbReads, "pending": VerbReads, "version": VerbReads,
	"config": VerbReads, "sessions": VerbReads, "console notify": VerbReads, "proxy": VerbReads,
	"rules": VerbReads, "rules list": VerbReads, "rules test": VerbReads, "rules lint": VerbReads,
	"timeline": VerbReads, "timeline verify": VerbReads, "timeline head": VerbReads,
	"try show": VerbReads, "why": VerbReads, "stats": VerbReads, "replay": VerbReads,
	"programs": VerbReads, "programs list": VerbReads, "programs show": VerbReads, "programs lint": VerbReads,
	"help": VerbReads, "man": VerbReads, "completion": VerbReads, "completion bash": VerbReads,
	"completion zsh": VerbReads, "completion fish": VerbReads, "completion powershell": VerbReads,

	"run": VerbRuns, "demo": VerbRuns, "hook": VerbRuns, "bench": VerbRuns, "doctor": VerbRuns,
	"conformance": VerbRuns, "try": VerbRuns, "exec": VerbRuns,
	"proxy mcp": VerbRuns, "proxy acp": VerbRuns, "proxy codex": VerbRuns,
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
	mark, marked = ownVerbs[words]
	return mark, marked
}

// personVerbs returns the commands marked as a person's, in order.
func personVerbs() []string {
	var verbs []string
	for verb, mark := range ownVerbs {
		if mark == VerbPerson {
			verbs = append(verbs, verb)
		}
	}
	slices.Sort(verbs)
	return verbs
}

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
		mark, marked := ownVerbs[path]
		switch {
		case !marked && certain && above != "" && ownVerbs[above] == VerbRuns:
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
	for verb := range ownVerbs {
		if strings.HasPrefix(verb, path+" ") {
			return true
		}
	}
	return false
}
