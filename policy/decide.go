package policy

import (
	"slices"

	"github.com/umpirehq/umpire"
)

// Decide judges a call. It collects every reason, including those after the one that settles an
// access. It does not fail: it denies a call that it cannot judge.
func Decide(p *Policy, q Query) umpire.Decision {
	d := decideVerdict(p, q)
	if d.Verdict == umpire.Ask {
		d.Warning = d.Risk.AtLeast(umpire.High)
		if len(d.Accesses) <= MaxPaths && !q.Brief { // each rule is tried on all of them
			d.Suggestions = suggestFor(p, q, &d)
		}
		d.Trial = offerTrial(p, &q, &d)
		if len(d.Suggestions) == 0 {
			d.OutsideTask = "" // a wider one could not cover the call
		}
	}
	return d
}

// suggestFor suggests rules, and tries them by deciding the call again.
func suggestFor(p *Policy, q Query, d *umpire.Decision) []umpire.Suggestion {
	return suggestRules(p, q.Call.Tool, d, func(tried []*compiled) bool {
		q.tried = tried
		return decideGranted(p, q).Verdict == umpire.Allow
	})
}

// decideVerdict is like Decide, but leaves out suggestions and trials. The approvals of tasks count
// one task at a time: two never allow together what neither allows.
func decideVerdict(p *Policy, q Query) umpire.Decision {
	d := decideGranted(p, q)
	for i := range q.Grants {
		if task := q.Grants[i].Task; task != "" && task != q.task && d.Verdict == umpire.Ask {
			q.task = task
			d.OutsideTask = task
			if by := decideGranted(p, q); by.Verdict == umpire.Allow {
				d = by
			}
		}
	}
	return d
}

func decideGranted(p *Policy, q Query) umpire.Decision {
	q.Facts.Accesses = slices.Clone(q.Facts.Accesses)
	for i := range q.Facts.Accesses {
		weighAccess(&q.Facts.Accesses[i])
		q.Facts.Accesses[i].Consequence = consequenceOf(&q.Facts.Accesses[i])
	}
	d := umpire.Decision{
		Risk: q.Facts.Risk(), Type: q.Facts.Type, Accesses: q.Facts.Accesses,
		Obligations: obligationsOf(&q),
	}
	d.Reasons = callReasons(p, &q)
	if p != nil {
		judgeAll(p, &q, &d)
		judgeGuesses(p, &q, &d)
	}
	settleVerdict(&d, EditsEach(q.Call.Tool))
	q.Facts.Accesses = d.Accesses
	d.Risk = q.Facts.Risk() // a hard stop has made its access critical
	d.Consequence = q.Facts.Consequence()
	return d
}

// callReasons returns the reasons about the call as a whole.
func callReasons(p *Policy, q *Query) []umpire.Reason {
	var reasons []umpire.Reason
	deny := func(code umpire.ReasonCode, text umpire.Phrase) {
		r := umpire.Reason{Row: rowInvalid, Verdict: umpire.Deny, Code: code, Text: text, Access: -1}
		reasons = append(reasons, r)
	}
	if p == nil && q.Invalid == "" {
		deny(umpire.CodeInvalid, "There is no policy")
	}
	if q.Invalid != "" {
		deny(umpire.CodeInvalid, umpire.Verbatim(q.Invalid))
	} else if q.Call.Tool == "" {
		deny(umpire.CodeInvalid, "The call names no tool")
	}
	if !q.Profile.Lists(q.Call.Tool) {
		deny(umpire.CodeProfile, umpire.Say("Tool %q is not in the agent's profile", q.Call.Tool))
	}
	if len(q.Facts.Accesses) == 0 {
		deny(umpire.CodeInvalid, "Nothing is known about the call")
	}
	return reasons
}

func newJudge(p *Policy, q *Query, d *umpire.Decision) judge {
	return judge{
		policy: p, tool: q.Call.Tool, given: &q.Conditions, passes: passesFor(q, &p.opts), accesses: d.Accesses,
		approval: umpire.Say("Tool %q requires approval (%s)", q.Call.Tool, umpire.Phrase(d.Risk.Class())),
	}
}

// judgeAll applies every row to every access.
func judgeAll(p *Policy, q *Query, d *umpire.Decision) {
	j := newJudge(p, q, d)
	j.all = p.findHits(q, d.Accesses)
	d.Reasons = slices.Grow(d.Reasons, 2*len(d.Accesses)) // most accesses have one deciding reason and the mode's
	for i := range d.Accesses {
		a := &d.Accesses[i]
		j.subject, j.hits = j.all[i].subject, &j.all[i]
		j.outside, j.search = liesOutside(a), nil
		reasons := j.reasons()
		for r := range reasons {
			reasons[r].Access = i
		}
		a.Verdict = reasons[0].Verdict
		raiseHardStop(a, &reasons[0])
		d.Reasons = append(d.Reasons, reasons...)
	}
}

// judgeGuesses adds refused guesses and guesses that ask to the decision.
func judgeGuesses(p *Policy, q *Query, d *umpire.Decision) {
	if len(q.Facts.Guesses) == 0 {
		return
	}
	read, written := slices.Clone(q.Facts.Guesses), slices.Clone(q.Facts.Guesses)
	for i := range read {
		weighAccess(&read[i])
		if read[i].Kind == umpire.KindRead {
			written[i].Kind = umpire.KindWrite
		}
	}
	asRead, asWritten := p.findHits(q, read), p.findHits(q, written)
	j := newJudge(p, q, d)
	for i := range read {
		a := read[i]
		j.subject, j.hits = asRead[i].subject, &asRead[i]
		reasons := j.guessed(asWritten[i].rows[rowControl])
		if len(reasons) == 0 {
			continue
		}
		a.Verdict = reasons[0].Verdict
		raiseHardStop(&a, &reasons[0])
		for r := range reasons {
			reasons[r].Access = len(d.Accesses)
		}
		d.Accesses, d.Reasons = append(d.Accesses, a), append(d.Reasons, reasons...)
	}
}

// liesOutside counts an unresolved path as outside. An unknown path does not count, because its
// doubt already asks.
func liesOutside(a *umpire.Access) bool {
	if !a.Paths() || a.Target == "" {
		return false
	}
	return a.Place == umpire.PlaceOutside || a.Place == umpire.PlaceUnknown && a.Doubt == ""
}

// reasons applies the rows to one access. The mode's row always has a reason. The next call
// overwrites the result.
func (j *judge) reasons() []umpire.Reason {
	reasons := j.found[:0]
	for _, row := range order {
		reasons = append(reasons, row(j)...)
	}
	j.found = reasons
	if at := settlingReason(reasons); at > 0 {
		first := reasons[at]
		reasons = slices.Insert(slices.Delete(reasons, at, at+1), 0, first)
	}
	if reasons[0].Verdict == umpire.Ask {
		refuseUnasked(j.given, &reasons[0])
	}
	return reasons
}

// settlingReason returns the index of the reason that settles an access: usually the first one.
// But a question of rows 6, 7 and 15 to 17 does not prevent a later refusal. Otherwise adding
// an ask rule could permit a denied call.
func settlingReason(reasons []umpire.Reason) int {
	row := reasons[0].Row
	switch row {
	case rowControl, rowAskRule, rowSandbox, rowDegraded, rowCode:
	default:
		return 0
	}
	next := slices.IndexFunc(reasons, func(r umpire.Reason) bool { return r.Row != row })
	if next < 0 {
		return 0
	}
	if at := next + settlingReason(reasons[next:]); reasons[at].Verdict < reasons[0].Verdict {
		return at
	}
	return 0
}

// OutsideProject is the reason of a path outside the project. Its argument is the path.
const OutsideProject = "Path is outside the project: %q"

// NobodyConfirms is the reason of a question that is refused because no person can answer. Its argument is the reason
// for asking.
const NobodyConfirms = "non_interactive confirmation required: %s"

// refuseUnasked turns a question into a refusal if there is no person to ask.
func refuseUnasked(c *Conditions, r *umpire.Reason) {
	switch {
	case c.Headless:
		r.Text = umpire.Say(NobodyConfirms, r.Text)
	case c.Mode == umpire.ModeReject:
		r.Text = umpire.Say("Reject mode asks nobody: %s", r.Text)
	default:
		return
	}
	r.Verdict, r.Code = umpire.Deny, umpire.CodeAutoDeny
}

// findHits finds the rules for every access: the policy's, and those sent with the request.
func (p *Policy) findHits(q *Query, accesses []umpire.Access) []hits {
	tight, bad := compileTightening(q.Tighten, &p.opts)
	all := make([]hits, len(accesses))
	for i, subject := range newSubjects(&q.Call, accesses, &p.opts) {
		subject.lookForSecrets(q.Search, &p.opts)
		subject.below = q.Below
		h := &all[i]
		*h = hits{subject: subject, opts: &p.opts, now: q.Now, narrow: q.Mode == umpire.ModeAuto}
		p.builtin.find(h)
		p.index.find(h)
		h.offer(q.tried)
		h.offer(tight)
		if bad != nil {
			h.rows[rowAskRule] = insertRule(h.rows[rowAskRule], bad)
		}
	}
	return all
}

// programsIn returns the hits of the programs in a part of the command line.
func programsIn(j *judge, part int) []*hits {
	if j.byPart == nil {
		j.byPart = map[int][]*hits{}
		for i := range j.all {
			if a := j.all[i].subject.access; a.Kind == umpire.KindExec {
				j.byPart[a.Part] = append(j.byPart[a.Part], &j.all[i])
			}
		}
	}
	return j.byPart[part]
}

// settleVerdict takes the strictest verdict and names the most informative row with it. partial
// says that the tool skips files that the suffix limit or a deny rule refuses; such a file does
// not refuse the call while another one remains.
func settleVerdict(d *umpire.Decision, partial bool) {
	settling := settlingReasons(d.Reasons, partial)
	if len(settling) == 0 {
		return
	}
	strictest := settling[0]
	for _, r := range settling[1:] {
		if r.Verdict < strictest.Verdict || r.Verdict == strictest.Verdict && saysMore(r, strictest) {
			strictest = r
		}
	}
	d.Verdict, d.Reason, d.ReasonCode, d.Rule = strictest.Verdict, strictest.Text, strictest.Code, strictest.Rule
	if strictest.Row == rowExternal {
		d.Type = umpire.ExternalDirectory
	}
}

// saysMore compares two rows with the same verdict. For a refusal or a question it prefers the
// higher row, which is harder to lift: a control file says more than a mode. For a permission
// it prefers the lower row, without which the call would not run: a rule says more than a low
// risk.
func saysMore(r, than umpire.Reason) bool {
	if r.Verdict == umpire.Allow {
		return r.Row > than.Row
	}
	return r.Row < than.Row
}

// settlingReasons returns the reasons about the call and the first one of every access.
func settlingReasons(reasons []umpire.Reason, partial bool) []umpire.Reason {
	all := make([]umpire.Reason, 0, len(reasons))
	seen := -1
	for _, r := range reasons {
		if r.Access < 0 || r.Access != seen {
			all = append(all, r)
		}
		seen = max(seen, r.Access)
	}
	if !partial {
		return all
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(r umpire.Reason) bool {
		return r.Row == rowSuffix || r.Row == rowDenyRule
	})
	if len(kept) == 0 {
		return all
	}
	return kept
}

// obligationsOf returns the obligations of a call. A call that changes anything may write in
// its workspace, others may not, and only calls that need the network get it. The query's
// sandbox can restrict this or say that there is no sandbox. Plan mode permits neither writes
// nor the network.
func obligationsOf(q *Query) umpire.Obligations {
	if q.Sandbox.Mode == umpire.SandboxFullAccess && (!runsInPlan(q) || q.Sandbox.Absent) ||
		runsBare(q.Call.Tool, &q.Sandbox) {
		return umpire.Obligations{Sandbox: umpire.SandboxFullAccess, Network: true}
	}
	o := umpire.Obligations{
		Sandbox: umpire.SandboxReadOnly,
		Network: !runsInPlan(q) && (q.Sandbox.Network || needsNetwork(q.Facts.Accesses)),
	}
	if runsInPlan(q) || q.Sandbox.Mode == umpire.SandboxReadOnly {
		return o
	}
	for i := range q.Facts.Accesses {
		a := &q.Facts.Accesses[i]
		if a.Changes() || a.Code {
			o.Sandbox = umpire.SandboxWorkspaceWrite
		}
	}
	return o
}

// runsInPlan reports whether a call is a command in plan mode. Other tools run in umpire
// itself, and leaving the mode does not affect them.
func runsInPlan(q *Query) bool {
	return q.Mode == umpire.ModePlan && toolOf(q.Call.Tool).shape == shapeShell
}
