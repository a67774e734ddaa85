package host

import (
	"cmp"
	"errors"
	"maps"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// A form is the format of an answer to an event. Hosts drop an answer with an unknown field or
// word, and run the call. So a form lists every field and word of the answer.
type form struct {
	// within are the objects around the decision, from the outside in, or "". event names the event
	// in the outer one.
	within [2]string
	event  string
	// decision is the field of the decision, or "" if only the exit code decides. allow, deny and
	// ask are its values as JSON; "" cannot be expressed.
	decision         string
	allow, deny, ask string
	// reason is the field of the reason, and agentReason a second field with the same text. input
	// is the field for the call's new input, inside the object inputWithin if set.
	reason, agentReason, input, inputWithin string
	// silent is the value for hosts that require an answer; "" means no output.
	silent string
	// approved is the field that marks a call as approved by a person, or "". The host can then
	// skip its own question.
	approved string
	// message is a top-level field with a line for the user.
	message string
	// exit is the exit code of a denial.
	exit int
}

// A said is one answer to be written in a form.
type said struct {
	value, reason, message string
	input                  []byte
	approved               bool // by a person
}

// usualAnswer is the size in bytes that most answers stay below.
const usualAnswer = 512

// write writes an answer as one line of JSON.
func (f *form) write(event string, s said) []byte {
	out := append(make([]byte, 0, usualAnswer), '{')
	out = appendText(out, f.message, s.message)
	if s.value != "" {
		outer, inner := f.within[0], f.within[1]
		out = appendOpening(out, outer)
		out = appendText(out, f.event, event)
		out = appendOpening(out, inner)
		out = appendRaw(out, f.decision, []byte(s.value))
		out = appendText(out, f.reason, s.reason)
		out = appendText(out, f.agentReason, s.reason)
		if s.approved {
			out = appendRaw(out, f.approved, []byte("true"))
		}
		if f.inputWithin == "" || len(s.input) == 0 {
			out = appendRaw(out, f.input, s.input)
		} else {
			out = append(appendRaw(appendOpening(out, f.inputWithin), f.input, s.input), '}')
		}
		for _, name := range f.within {
			if name != "" {
				out = append(out, '}')
			}
		}
	}
	return append(out, '}', '\n')
}

func appendName(out []byte, name string) []byte {
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	return append(append(append(out, '"'), name...), '"', ':')
}

func appendOpening(out []byte, name string) []byte {
	if name == "" {
		return out
	}
	return append(appendName(out, name), '{')
}

func appendText(out []byte, name, text string) []byte {
	if name == "" || text == "" {
		return out
	}
	return appendRaw(out, name, encode(text))
}

func appendRaw(out []byte, name string, value []byte) []byte {
	if name == "" || len(value) == 0 {
		return out
	}
	return append(appendName(out, name), value...)
}

// Reply returns the reply to the host for a decision on e, in the mode that e was sent with.
// headless means that a question cannot be answered. Our allow never answers a dialog that is the
// whole point of a tool. If the host has no dialog for our questions, the gate holds them; without
// a gate they are denied.
func (e *Event) Reply(d umpire.Decision, m Mode, headless bool) Reply {
	if !e.Kind.Decides() {
		return Silent
	}
	if e.opensUnseen(&d) {
		return Deny
	}
	mode := e.Host.Mode(e.PermissionMode)
	m.Permission, m.Silence, m.AsksAgain = mode.Is, mode.Silence, !e.Host.Allows()
	if e.Host.silence != nil && d.Verdict == umpire.Ask {
		m.Silence = e.Host.silence(e, m.Silence)
	}
	reply := Answer(d, m)
	switch {
	case headless && d.Verdict == umpire.Ask && reply != Allow:
		return Deny
	case reply == Allow && e.isDialog():
		return Silent
	case reply == Ask && e.Kind == BeforeTool && !e.Host.asks() && m.Gate:
		return Hold
	case reply == Ask && e.Kind == BeforeTool && !e.Host.asks():
		return Deny
	}
	return reply
}

// Answer writes a reply to e in the host's format; d is the decision behind it.
//
//	           before a call        before the host's dialog
//	deny       deny, with a reason  the same
//	ask, hold  ask, else deny       nothing: the dialog stays
//	allow      allow, else nothing  the same
//	silent     nothing              nothing
//
// Every other event gets no output and exit 0. A reply out of range denies.
func (e *Event) Answer(d umpire.Decision, reply Reply) Output {
	f := e.form()
	if f == nil {
		return Output{}
	}
	switch reply {
	case Allow:
		return e.allow(f, d)
	case Ask, Hold:
		if e.Kind == BeforeDialog {
			return Output{}
		}
		if f.ask != "" {
			return Output{Stdout: f.write(e.Name, said{value: f.ask, reason: askText(e, d)})}
		}
	case Silent:
		return f.quiet(e.Name)
	case Deny:
	}
	return e.row().deny(e.denyText(d))
}

// quiet returns an answer without an opinion.
func (f *form) quiet(event string) Output {
	if f.silent == "" {
		return Output{}
	}
	return Output{Stdout: f.write(event, said{value: f.silent})}
}

// silence returns the answer to e without an opinion.
func (e *Event) silence() Output {
	if f := e.form(); f != nil {
		return f.quiet(e.Name)
	}
	return Output{}
}

// form returns the form of answers to the event, or nil for one that decides nothing.
func (e *Event) form() *form {
	if !e.Kind.Decides() {
		return nil
	}
	return e.row().form
}

// row returns the description of the event.
func (e *Event) row() HookEvent {
	if row, known := e.Host.Event(e.Name); known {
		return row
	}
	return e.Host.before()
}

// denyText returns the reason for a denial.
func (e *Event) denyText(d umpire.Decision) string {
	switch {
	case d.Verdict != umpire.Deny && e.opensUnseen(&d):
		return sentences("umpire: "+unseenCause, unseenStep)
	case d.Verdict != umpire.Ask:
		return denyText(e, d)
	case e.Host.asks():
		return headlessText(e, d)
	}
	return unaskedText(e, d)
}

func (e *Event) allow(f *form, d umpire.Decision) Output {
	if f.allow == "" {
		return f.quiet(e.Name)
	}
	s := said{value: f.allow}
	if e.Kind == BeforeTool {
		s.reason = view.Clip(view.Visible(cmp.Or(english(d.Reason), "Allowed by umpire")), maxReason)
	}
	return Output{Stdout: f.write(e.Name, s)}
}

// approve lets a call run that a person approved, and marks it as approved.
func (e *Event) approve() Output {
	f := e.form()
	return Output{Stdout: f.write(e.Name, said{value: f.allow, approved: true})}
}

// handBack answers an event before a call whose held question goes back to the host's own dialog.
// The dialog shows the message above it. A reply that is neither a question nor silence denies.
func (e *Event) handBack(d umpire.Decision, reply Reply, message string) Output {
	f := e.Host.before().form
	switch {
	case reply == Silent:
		return Output{Stdout: f.write(e.Name, said{message: message})}
	case f.ask != "" && (reply == Ask || reply == Hold):
		return Output{Stdout: f.write(e.Name, said{value: f.ask, reason: askText(e, d), message: message})}
	}
	return e.Answer(d, Deny)
}

// rewriteInput lets a call run with another command line.
func (e *Event) rewriteInput(line string) Output {
	input := maps.Clone(e.sent)
	row, _ := e.Host.tool(e.ToolName)
	input[cmp.Or(row.commandField(), "command")] = encode(line)
	f := e.Host.before().form
	return Output{Stdout: f.write(e.Name, said{
		value: f.rewritten(), reason: rewrittenText, input: encode(input),
	})}
}

// rewritten returns the decision that accompanies a new input.
func (f *form) rewritten() string { return cmp.Or(f.allow, `"allow"`) }

// rewrittenText is the reason of a call that umpire runs.
const rewrittenText = "umpire runs it: what it changes is looked at, and can be undone"

// Fail is the answer when umpire could not decide: the payload was unreadable, the gate failed, or
// the deadline is near. event is the name from the payload; when it is empty or unknown, the answer
// has the form of an event before a call.
//
// Events that decide nothing are not denied, because a host would throw away the user's prompt or
// keep the agent from stopping: the problem goes to stderr with exit 1, which is shown and changes
// nothing. A question of another agent is always refused.
func (h *Host) Fail(event string, problem error) Output {
	if h.own != nil {
		return h.own.fail(event, problem)
	}
	row, known := h.Event(event)
	if _, is := errors.AsType[*foreignError](problem); is {
		known = false // block it, whichever event it is
	}
	switch {
	case !known:
		row = h.before()
	case !row.Kind.Decides():
		return Output{Stderr: []byte(problemText("umpire missed a "+row.Name+" event", problem) + "\n"), Exit: 1}
	}
	return row.deny(problemText(undecided, problem))
}

// before returns the host's event before a call.
func (h *Host) before() HookEvent {
	if len(h.Decides) == 0 {
		return HookEvent{form: &form{}}
	}
	return h.Decides[0]
}

// deny denies in every way that the event supports: by the JSON and, if the host checks it, by the
// exit code with a reason, in case the JSON gets lost.
func (e HookEvent) deny(reason string) Output {
	out := Output{Stderr: []byte(reason + "\n"), Exit: e.form.exit}
	if e.form.decision != "" {
		out.Stdout = e.form.write(e.Name, said{value: e.form.deny, reason: reason})
	}
	return out
}
