package host

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// A Host is an agent of another vendor that asks umpire before it runs a call. It holds everything
// umpire knows about the agent: to support another one, add a Host, and a function if its payloads
// differ from all others.
type Host struct {
	// Caller holds the data that the hook's process needs: the host's name, the variable that names
	// its project, and the default time limit.
	*relay.Caller

	// Title is the product's name.
	Title string
	// Program are the executables to look for.
	Program  []string
	Settings Settings
	// Decides are the events that can stop a call, the usual one first. Reports are the others that
	// umpire is registered for, and Others are more that its payloads may bear: words with single
	// blanks between them, NAME or NAME=KIND, where KIND is Claude Code's name of the event.
	Decides         []HookEvent
	Reports, Others string
	// FailedRan is set if the real program reports an AfterFailure only for calls that ran, never for
	// denied ones.
	FailedRan bool
	// Marks are groups of fields that only its payloads have; "!name" is a field that they lack.
	Marks [][]string
	// Tools maps its tools to umpire's: words NAME, NAME=AS or NAME=AS?FIELD for a tool that is
	// unknown without that input. Special are the tools about which more is to be said. Tools
	// without a word or row keep their names, and are judged as unknown.
	Tools   string
	Special []Tool
	// StartsClaude is set if the host also starts the hooks in Claude Code's settings, with its own
	// payloads.
	StartsClaude bool
	// InShellDir is set if its hooks start in the folder of its shell. Other hosts with a variable
	// for the project start theirs in the project.
	InShellDir bool
	// Shells run its command lines. GitBash is set if that is Git's bash on Windows.
	Shells  Shells
	GitBash bool
	// Holds tells which calls of a message wait while umpire holds one of them.
	Holds Holds
	// Folders are its own, and Scratch is the prefix of its folder for temporary files, followed by
	// the user's number.
	Folders []Folder
	Scratch string
	// Holes are the calls that umpire cannot see or stop there.
	Holes []umpire.Phrase
	// Evidence is the source of this information, and Version the release it was checked against.
	Evidence Evidence
	Version  string

	// timeout is the time limit that umpire registers for its hook, 0 for 10 minutes, and unit the
	// unit of time limits in its settings, 0 for seconds.
	timeout, unit time.Duration
	// modes are its own. nil is a host that does not report its mode, and may be in one that asks
	// nothing.
	modes  []HostMode
	fields fields
	// eventOf derives the event from a payload that does not name it; it may be nil.
	eventOf func(strictjson.Object) string
	// complete fills in the parts of a call that the fields alone do not give; it may be nil.
	complete func(*Event, strictjson.Object) error
	// silence returns the meaning of silence for one call, if more than its mode is known; if nil,
	// the mode decides.
	silence func(e *Event, mode Silence) Silence
	// turnMessage is the field of the answer to the end of a turn that is shown to the user, or "".
	turnMessage string
	// unseen means that a running program can be typed into without umpire seeing it.
	unseen bool
	// own answers a protocol without events; nil means ordinary hooks.
	own *ownProtocol
}

// An ownProtocol is a protocol without events.
type ownProtocol struct {
	answer func(*Responder, context.Context, *run, *Question) Output
	// fail returns the answer without a decision, and about the topic of the payload.
	fail  func(about string, problem error) Output
	about func(payload []byte) string
	quiet string // an answer without an opinion
}

// Settings describe the file in which a host's hooks are registered.
type Settings struct {
	Format Format
	// User is the file below the person's home directory, and Project the one below a project, both
	// with slashes; "" means none.
	User, Project string
	// Dir is the variable that names a folder to use instead of the first of User, or "".
	Dir string
}

// A Format is the format of a settings file.
type Format uint8

// The formats.
const (
	FormatNone   Format = iota // nothing is written: the host starts the hook by itself
	FormatJSON                 // JSON, with comments where the host allows them
	FormatTOML                 // TOML
	FormatPlugin               // a program of umpire that starts the hook
)

// A HookEvent is an event of a host.
type HookEvent struct {
	Name string
	Kind EventKind
	// Again is set if the host has already reported the call by another event. umpire does not
	// register this event; if the user did, it gets the answer already given to the call.
	Again bool
	form  *form // of the answer, for events that decide
	// tool is the tool of an event whose payload does not name one, and single the payload field
	// that holds the whole input. quoted means that the input is the text of an object.
	tool, single string
	quoted       bool
}

// A HostMode is a mode of a host.
type HostMode struct {
	Word    string
	Is      Permission
	Silence Silence
}

// Silence is a host's reaction to a hook without an opinion.
type Silence uint8

// Meanings of silence. The zero value is the strictest.
const (
	SilenceRuns   Silence = iota // the call runs
	SilenceChecks                // the host's own check goes on
)

// Holds tells which part of a message waits while one of its calls is held.
type Holds uint8

// The parts of a message.
const (
	holdsCall Holds = iota // only the call: its siblings run
	holdsRest              // the calls from it on: those before it have run
	holdsAll               // every call of the message
)

// Meanwhile describes the other calls of a message while a question about one waits, and whether
// the host may ask that question again.
func (h *Host) Meanwhile() umpire.Phrase {
	if slices.Contains(h.Holes, holeAskedAgain) {
		return "all calls of the message wait with it; the agent may ask once more about what you approve"
	}
	return [...]umpire.Phrase{
		holdsCall: "the other calls of the message run",
		holdsRest: "the calls after it in the message wait with it; those before it have run",
		holdsAll:  "all calls of the message wait with it",
	}[h.Holds]
}

// MeanwhileIn returns these texts for a session's agent; none if umpire runs the calls itself.
func MeanwhileIn(s *umpire.Session) []umpire.Phrase {
	if h := Find(s.Agent); s.External && h != nil && h.own == nil {
		return []umpire.Phrase{h.Meanwhile()}
	}
	return nil
}

// Evidence is the source of our knowledge of a host.
type Evidence uint8

// The kinds of evidence.
const (
	Documented Evidence = iota // its makers say so
	Recorded                   // its payloads were recorded
	Driven                     // tests drive the real program
)

// Find returns a host by its name, or nil if it is unknown. It also finds hosts that start no hook,
// though they are not listed.
func Find(name string) *Host {
	named := func(h *Host) bool { return h.Name == name }
	for _, list := range [][]*Host{Hosts, proxied} {
		if i := slices.IndexFunc(list, named); i >= 0 {
			return list[i]
		}
	}
	return nil
}

// Names returns the names of all hosts.
func Names() []string {
	var names []string
	for _, h := range Hosts {
		names = append(names, h.Name)
	}
	return names
}

// Timeout returns the time limit that umpire registers for its hook.
func (h *Host) Timeout() time.Duration { return cmp.Or(h.timeout, 10*time.Minute) }

// Unit returns the unit of time limits in the host's settings.
func (h *Host) Unit() time.Duration { return cmp.Or(h.unit, time.Second) }

// oneMode are the modes of a host that does not report its mode.
var oneMode = []HostMode{{"", Default, SilenceRuns}}

// Modes returns the host's own modes.
func (h *Host) Modes() []HostMode {
	if h.modes == nil {
		return oneMode
	}
	return h.modes
}

// Mode returns the meaning of a host's mode. An unknown mode is the strictest.
func (h *Host) Mode(word string) HostMode {
	for _, m := range h.Modes() {
		if m.Word == word {
			return m
		}
	}
	return HostMode{Word: word}
}

// Event returns the description of an event, and whether umpire is registered for it.
func (h *Host) Event(name string) (HookEvent, bool) {
	for i := range h.Decides {
		if h.Decides[i].Name == name {
			return h.Decides[i], true
		}
	}
	kind, known := lookUp(h.Reports, name)
	return HookEvent{Name: name, Kind: kindNamed(kind)}, known
}

// Events lists the events that umpire is registered for, those that decide first.
func (h *Host) Events() []HookEvent {
	all := slices.Clone(h.Decides)
	for word := range strings.FieldsSeq(h.Reports) {
		name, _, _ := strings.Cut(word, "=")
		e, _ := h.Event(name)
		all = append(all, e)
	}
	return all
}

// Relayed reports whether the host's questions go to a running gate. A host with its own protocol
// names no session.
func (h *Host) Relayed() bool { return h.own == nil }

// StartedIn returns the folder that the host was started in, from a variable or from the hook's own
// folder. It returns "" if that is unknown, or if the payload contains it.
func (h *Host) StartedIn(getenv func(string) string, dir string) string {
	switch {
	case h.Project != "":
		return getenv(h.Project)
	case h.fields.project != "":
		return ""
	}
	return dir
}

// asks reports whether the host's own dialog asks when a hook wants it to.
func (h *Host) asks() bool { return h.before().form.ask != "" }

// Allows reports whether the host stops asking about a call that umpire allows.
func (h *Host) Allows() bool {
	return slices.ContainsFunc(h.Decides, func(e HookEvent) bool { return e.form.allow != "" })
}

// Holes of several hosts.
const (
	holeBadAnswer umpire.Phrase = "if its hook prints something that is not an answer and exits with 0, the call runs"
	holeNoMode    umpire.Phrase = "it does not tell its mode, so umpire asks wherever its rules say so"
	// holeAskedAgain is of hosts whose own dialog may ask again about a call that a person approved.
	holeAskedAgain umpire.Phrase = "its own dialog may ask again about a call that was approved in umpire's inbox"
	holeEqualCalls umpire.Phrase = "a result may be taken for that of an equal call"
	holeLate       umpire.Phrase = "a call runs if its hook is late, or killed with its shell"
	holeACP        umpire.Phrase = "no hook runs while an editor drives it by ACP"
	holeNoPlugins  umpire.Phrase = "nothing is seen when it is started without plugins"
	// holeNoRewrite is of hosts whose commands umpire does not replace.
	holeNoRewrite umpire.Phrase = "commands are not tried first and cannot be undone, " +
		"since umpire does not replace them there"
	// HoleEndsAtDenial is of hosts whose run ends at the first denied call.
	HoleEndsAtDenial umpire.Phrase = "a call that is denied ends the agent's run: " +
		"the rest of the message does not run, and its model is told nothing"
)

// Rewrites reports whether a hook may replace the command of a call.
func (h *Host) Rewrites() bool { return h.before().form.input != "" }

// Replaced reports whether umpire replaces commands of the host: not if umpire cannot read the
// host's own rules, since those would only see the new line.
func (h *Host) Replaced() bool { return h.Rewrites() && !slices.Contains(h.Holes, holeNoRewrite) }
