package gate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/gate/userhook"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// judgeStored judges an earlier call again under current conditions.
func (ps *Projects) judgeStored(cond *conditions, row *store.CallRow) (*judged, error) {
	call, err := ps.exactCall(row)
	if err != nil {
		return nil, err
	}
	call.Extra = extraOf(row.Extra)
	return ps.judgeCall(cond, call)
}

// judgeCall decides one call by its exact original input.
func (ps *Projects) judgeCall(cond *conditions, call umpire.Call) (*judged, error) {
	canonical, err := batch.Canonical(call.Input)
	if err != nil {
		return nil, umpire.Errorf("call %q: %w", call.ID, err)
	}
	j := &judged{call: call}
	j.call.Input, j.call.Dir = canonical, cmp.Or(call.Dir, cond.session.Dir)
	j.call.Session, j.call.Agent = cond.session.ID, cmp.Or(call.Agent, cond.session.Agent)
	j.hash = batch.CanonicalHash(call.Tool, canonical)
	if j.input, err = ps.sealJSON(callLabel(cond.session.ID, call.ID), canonical); err != nil {
		return nil, umpire.Errorf("call %q: %w", call.ID, err)
	}
	j.input.Pack()
	if len(call.Extra) > 0 {
		j.extra = ps.maskJSON(data(call.Extra))
	}
	ps.decideCall(cond, j)
	j.alone = j.decision
	if j.decision.ReasonCode == umpire.CodePlan {
		j.before = fingerprintFiles(&j.decision)
	}
	return j, nil
}

// decideCall decides the call under the given conditions.
func (ps *Projects) decideCall(cond *conditions, j *judged) {
	began := time.Now()
	j.decision = ps.decide(cond, j.call)
	j.took += time.Since(began)
	j.effect = effectOf(&j.decision)
	j.unasked = cond.Headless && j.decision.Verdict == umpire.Deny && j.decision.ReasonCode == umpire.CodeAutoDeny &&
		ps.asksOtherwise(cond, j.call)
	if j.state = stateOf(j.decision.Verdict); j.unasked {
		j.state = umpire.CallAsked
	}
}

// stateOf returns the first state of a call with a verdict.
func stateOf(v umpire.Verdict) umpire.CallState {
	switch v {
	case umpire.Ask:
		return umpire.CallAsked
	case umpire.Allow:
		return umpire.CallApproved
	case umpire.Deny:
	}
	return umpire.CallDenied
}

// asksOtherwise reports whether the call is denied only because the session is headless.
func (ps *Projects) asksOtherwise(cond *conditions, call umpire.Call) bool {
	attended := *cond
	attended.Headless = false
	d := ps.decide(&attended, call)
	return d.Verdict == umpire.Ask
}

// decideAttended decides a call as if somebody could be asked.
func (ps *Projects) decideAttended(cond *conditions, j *judged) umpire.Decision {
	if !j.unasked {
		return j.decision
	}
	asking := *cond
	asking.Headless = false
	asking.tighten = append(slices.Clip(cond.tighten), objections(j.hooks)...)
	return ps.decide(&asking, j.call)
}

// decide decides a call under the conditions of its session.
func (ps *Projects) decide(cond *conditions, call umpire.Call) umpire.Decision {
	q := policy.Query{Call: call, Conditions: cond.Conditions}
	q.Tighten, q.Sandbox = cond.tightenFor(&call), sandboxOf(&cond.settings, cond.confinement)
	return enforce(&cond.settings, ps.decideWith(cond.session.Root, cond.session.AddDirs, q))
}

// Decide decides one call in the project of a folder, or of the call's own folder if project is "".
// It reads the file system but runs neither the call nor hooks. If umpire itself fails, it denies
// the call and the gate keeps running.
func (ps *Projects) Decide(project string, q policy.Query) umpire.Decision {
	return ps.decideWith(project, nil, q)
}

// DecideEffects decides whether the effects of a call's trial may be kept, as Decide does for the
// call.
func (ps *Projects) DecideEffects(project string, q policy.Query, e *umpire.TrialEffects) umpire.Decision {
	find := func() (*judge.Judge, error) { return ps.judgeOf(cmp.Or(project, q.Call.Dir), nil) }
	return judge.DecideEffects(find, q, e, ps.config.Now)
}

// decideWith is Decide with added folders that count as inside, in addition to those of the settings.
func (ps *Projects) decideWith(project string, added []string, q policy.Query) umpire.Decision {
	find := func() (*judge.Judge, error) { return ps.judgeOf(cmp.Or(project, q.Call.Dir), added) }
	return judge.Decide(find, q, ps.config.Now)
}

// JudgeOf returns the judge of calls in the project of a folder.
func (ps *Projects) JudgeOf(dir string) (*judge.Judge, error) { return ps.judgeOf(dir, nil) }

func (ps *Projects) judgeOf(dir string, added []string) (*judge.Judge, error) {
	at, err := ps.projectOf(dir, added)
	if err != nil {
		return nil, err
	}
	rules := at.rules()
	return &judge.Judge{
		Bounds: &at.Bounds, Policy: rules.policy, Degraded: rules.set.Degraded, Home: ps.config.UserHome,
		Programs: ps.known.Known, Sandbox: sandboxOf(&at.settings, nil), Code: ps.config.Code(),
		Written: ps.writtenIn(at.Project), Git: gitdir.Foresee,
		Shown: sandbox.Sees(ps.config.UserHome, append([]string{at.Root}, at.Added...), at.settings.SandboxShow),
		Made:  ps.config.scratch().Made,
	}, nil
}

// effectOf reports whether a call may run again after a crash. A call that only reads may, and so
// may a sub-agent: it continues in its own session, which accounts for each of its calls. Project
// code may not, even if it is harmless to start.
func effectOf(d *umpire.Decision) umpire.Effect {
	if d.Type == umpire.Task {
		return umpire.EffectIdempotent
	}
	for i := range d.Accesses {
		if a := &d.Accesses[i]; a.Changes() || a.Code || a.Doubt != "" {
			return umpire.EffectUnknown
		}
	}
	if len(d.Accesses) == 0 {
		return umpire.EffectUnknown
	}
	return umpire.EffectPure
}

// objections turns hook verdicts into rules.
func objections(all []userhook.Ran) []umpire.Rule {
	var rules []umpire.Rule
	for i := range all {
		ran := &all[i]
		if v := ran.Verdict(); v != umpire.Allow {
			rules = append(rules, umpire.Rule{
				ID: umpire.RuleID(ran.Hook.ID), Action: v, Tool: "*", Says: ran.Reason,
				Source: ran.Hook.Source, File: ran.Hook.File, Line: ran.Hook.Line,
			})
		}
	}
	return rules
}

// triesFirst reports whether the runner tries a call before a person is asked, which means it is
// not a question yet. In a headless session the call itself is decided as if attended; its trial's
// effects are not.
func (ps *Projects) triesFirst(cond *conditions, j *judged) bool {
	if !cond.canTry() || j.state != umpire.CallAsked || j.denied != nil {
		return false
	}
	d := ps.decideAttended(cond, j)
	if d.Trial != umpire.TrialFirst {
		return false
	}
	j.decision, j.unasked = d, false
	return true
}

// Check decides a call and stores nothing. If the call names a session, the session's conditions
// apply, otherwise the configuration.
func (g *Gate) Check(ctx context.Context, call umpire.Call) (umpire.Decision, error) {
	if call.Dir != "" || call.Session == "" {
		if err := checkDir("cwd", call.Dir); err != nil {
			return umpire.Decision{}, err
		}
	}
	if call.Session == "" {
		settings, err := g.projects.settingsOf(call.Dir)
		if err != nil {
			return umpire.Decision{}, err
		}
		q := policy.Query{Call: call, Conditions: policy.Conditions{Mode: settings.Mode}}
		return enforce(&settings, g.projects.Decide("", q)), nil
	}
	cond, err := readIn(ctx, g.be.view, func(tx *store.Tx) (*conditions, error) {
		return g.projects.readConditions(tx, g.be.conditionsAhead(tx, call.Session, ""))
	})
	if err != nil {
		return umpire.Decision{}, err
	}
	if err := g.projects.completeConditions(cond); err != nil {
		return umpire.Decision{}, err
	}
	call.Dir = cmp.Or(call.Dir, cond.session.Dir)
	return g.projects.decide(cond, call), nil
}
