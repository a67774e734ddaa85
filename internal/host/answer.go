package host

import (
	"cmp"
	"slices"

	"github.com/umpirehq/umpire"
)

// A Reply is umpire's reply to a host about a call. Only this package uses it; the core has three
// verdicts. The zero value denies.
type Reply uint8

// The replies.
const (
	Deny   Reply = iota
	Hold         // wait for a person's answer in umpire's inbox
	Ask          // let the host's own dialog ask, even if it would not by itself
	Allow        // run it without a question
	Silent       // no opinion: the host's own check goes on
)

var replyNames = [...]string{Deny: "deny", Hold: "hold", Ask: "ask", Allow: "allow", Silent: "silent"}

// String returns the reply's name; "deny" out of range.
func (r Reply) String() string {
	if int(r) < len(replyNames) {
		return replyNames[r]
	}
	return replyNames[Deny]
}

// Answer returns the reply to a host in a mode for a decision. A question is passed over in silence
// only if the host runs the call unasked in this mode, or asks by itself. Some calls are never
// passed over, not even with bypassPermissions: doubt, an error or degraded rules, a secret or
// forbidden path, a guarded place, a user's ask rule, umpire's own commands, anything that leaves
// the machine or cannot be undone, a write outside the project, or untrusted project code. The
// reasons of every access count, not only the one that settled the call.
func Answer(d umpire.Decision, m Mode) Reply {
	denied := func(a umpire.Access) bool { return a.Verdict == umpire.Deny }
	if d.Verdict != umpire.Deny && slices.ContainsFunc(d.Accesses, denied) {
		return Deny // only the built-in agent can omit a file from a list
	}
	switch d.Verdict {
	case umpire.Allow:
		return answerAllowed(&d, m)
	case umpire.Ask:
		return answerAsked(&d, m)
	case umpire.Deny:
	}
	if m.Permission == Plan && writesPlan(&d, m.Own) {
		return Silent
	}
	return Deny
}

// answerAllowed: an allow replaces the host's own check, so it is given only if umpire knows that
// the call is safe, or a person approved it. A mode that shows less than the default one, or an
// unknown mode, keeps its own check.
func answerAllowed(d *umpire.Decision, m Mode) Reply {
	if m.Permission == DontAsk && runsTrustedCode(d) {
		return Deny // unattended: project code then needs a rule
	}
	switch m.Permission {
	case Default, AcceptEdits, Auto, DontAsk:
		if vouched(d, m.Own) {
			return Allow
		}
	case Plan:
		if onlyReads(d) {
			return Allow
		}
	case Unknown, Bypass:
	}
	return Silent
}

// answerAsked returns the reply to a question. The host's own files are treated as part of the
// project.
func answerAsked(d *umpire.Decision, m Mode) Reply {
	asking := askingAccesses(d)
	all := func(is func(asked) bool) bool {
		return !slices.ContainsFunc(asking, func(q asked) bool { return !is(q) })
	}
	switch {
	case m.Permission == Unknown, len(asking) == 0, !all(func(q asked) bool { return !q.serious(m) }):
		return question(asking, m)
	case all(func(q asked) bool { return readsOwn(q.access, m.Own) }):
		return answerAllowed(d, m)
	case m.Silence == SilenceRuns:
		return question(asking, m)
	case all(func(q asked) bool { return q.runsUnasked(m) }):
		return Silent
	case m.Hold && !m.AsksAgain, m.Permission == Plan, m.Permission == DontAsk:
		return question(asking, m)
	}
	return Silent // the host asks by itself, and can remember the answer
}

// question decides the destination of a question: it is denied in a mode that never asks, and in
// plan mode if the call would change anything.
func question(asking []asked, m Mode) Reply {
	changes := func(q asked) bool { return q.access == nil || q.access.Changes() || q.access.Code }
	switch {
	case m.Permission == DontAsk, m.Permission == Plan && slices.ContainsFunc(asking, changes):
		return Deny
	case m.Hold:
		return Hold
	}
	return Ask
}

// asked is an access that a person would be asked about, with all its reasons.
type asked struct {
	access  *umpire.Access
	reasons []umpire.Reason
}

// askingAccesses returns the accesses that ask. An asking reason about the call as a whole counts
// as one without an access.
func askingAccesses(d *umpire.Decision) []asked {
	var all []asked
	for i := range d.Accesses {
		if d.Accesses[i].Verdict == umpire.Allow {
			continue
		}
		all = append(all, asked{&d.Accesses[i], reasonsOf(d, i)})
	}
	if whole := reasonsOf(d, -1); len(whole) > 0 {
		all = append(all, asked{reasons: whole})
	}
	return all
}

func reasonsOf(d *umpire.Decision, access int) []umpire.Reason {
	var all []umpire.Reason
	for _, r := range d.Reasons {
		if r.Access == access {
			all = append(all, r)
		}
	}
	return all
}

// codeOf returns the first reason code about an access, or "".
func codeOf(d *umpire.Decision, access int) umpire.ReasonCode {
	for i := range d.Reasons {
		if d.Reasons[i].Access == access {
			return d.Reasons[i].Code
		}
	}
	return ""
}

// plainCodes are the reasons that alone do not make a question serious: the mode asks, a path is
// outside, or the agent changed code that a person trusts. Every other code makes it serious, even
// one added later.
var plainCodes = []umpire.ReasonCode{umpire.CodeMode, umpire.CodeExternalDirectory, umpire.CodeWritten}

// plain reports whether a reason leaves the question harmless. In plan mode the last row refuses,
// after the ones that ask.
func plain(code umpire.ReasonCode, m Mode) bool {
	return slices.Contains(plainCodes, code) || m.Permission == Plan && code == umpire.CodeAutoDeny
}

// ownPrograms are umpire's own commands.
var ownPrograms = []string{"umpire", "umpire-hook"}

// serious reports whether a person has to be asked in every mode.
func (q asked) serious(m Mode) bool {
	a := q.access
	if a == nil || a.Doubt != "" || len(q.reasons) == 0 || slices.Contains(ownPrograms, a.Program) {
		return true
	}
	odd := func(r umpire.Reason) bool { return r.Verdict != umpire.Allow && !plain(r.Code, m) }
	if slices.ContainsFunc(q.reasons, odd) {
		return true
	}
	if folder := findFolder(m.Own, a); folder != nil {
		return a.Kind != umpire.KindRead && !folder.Writes
	}
	if a.Consequence.AtLeast(umpire.Outward) {
		return true
	}
	outside := a.Paths() && a.Place != umpire.PlaceInside && a.Place != umpire.PlaceHarmless
	reads := a.Kind == umpire.KindRead && a.Place == umpire.PlaceOutside
	return outside && !(reads && (m.Permission == Auto || m.Permission == Bypass))
}

// fileCommands are the commands that acceptEdits runs in the project.
var fileCommands = []string{"mkdir", "touch", "mv", "cp", "sed", "rm", "rmdir"}

// runsUnasked reports whether the host runs the access in its mode without asking.
func (q asked) runsUnasked(m Mode) bool {
	a := q.access
	if findFolder(m.Own, a) != nil {
		return true
	}
	switch m.Permission {
	case Auto, Bypass:
		return true
	case AcceptEdits:
		return a.Paths() || a.Kind == umpire.KindExec && slices.Contains(fileCommands, a.Program)
	case Unknown, Default, Plan, DontAsk:
	}
	return false
}

// vouched reports whether each access of an allowed call is known to be harmless or was approved by
// a person. A low risk alone is not enough to let a host reach the network or run the project's
// code. An approval for once covers the call as a whole.
func vouched(d *umpire.Decision, own []Folder) bool {
	if d.ReasonCode == umpire.CodeOnce {
		return true
	}
	for i := range d.Accesses {
		a := &d.Accesses[i]
		if readsOwn(a, own) {
			continue
		}
		code := cmp.Or(codeOf(d, i), d.ReasonCode) // a recorded decision has only the latter
		if code == umpire.CodeSafe &&
			(a.Kind == umpire.KindNetwork || a.Code || a.Consequence.AtLeast(umpire.Outward)) {
			return false
		}
	}
	return true
}

// runsTrustedCode reports whether project code would run because a person trusts this
// clone, and not because of a rule or a grant.
func runsTrustedCode(d *umpire.Decision) bool {
	for i := range d.Accesses {
		if codeOf(d, i) == umpire.CodeProjectCode {
			return true
		}
	}
	return d.ReasonCode == umpire.CodeProjectCode
}

// onlyReads reports whether every access is known and only reads.
func onlyReads(d *umpire.Decision) bool {
	for i := range d.Accesses {
		a := &d.Accesses[i]
		if a.Changes() || a.Risk != umpire.Safe || a.Doubt != "" || a.Code {
			return false
		}
	}
	return len(d.Accesses) > 0
}

// planCodes are the reasons behind the refusal of a plan file in plan mode.
var planCodes = []umpire.ReasonCode{umpire.CodePlan, umpire.CodeExternalDirectory, umpire.CodeMode, umpire.CodeAutoDeny}

// writesPlan reports whether a call only writes the host's own plan, and only plan mode objects to
// it.
func writesPlan(d *umpire.Decision, own []Folder) bool {
	for i := range d.Accesses {
		a := &d.Accesses[i]
		folder := findFolder(own, a)
		if folder == nil || !folder.Plan || a.Kind != umpire.KindWrite || a.Doubt != "" {
			return false
		}
	}
	for _, r := range d.Reasons {
		if !slices.Contains(planCodes, r.Code) || r.Access < 0 ||
			r.Code == umpire.CodeExternalDirectory && r.Verdict == umpire.Deny {
			return false
		}
	}
	return len(d.Accesses) > 0 && d.ReasonCode == umpire.CodePlan
}

func readsOwn(a *umpire.Access, own []Folder) bool {
	return a != nil && a.Kind == umpire.KindRead && a.Doubt == "" && findFolder(own, a) != nil
}
