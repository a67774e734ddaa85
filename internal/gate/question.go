package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// newQuestion returns the question about a call. position is its place in the batch, from 1.
func (be *backend) newQuestion(cond *conditions, j *judged, id umpire.BatchID, position, total int) *question {
	now := be.now()
	card := umpire.Pending{
		Request: newRequestID(), Call: j.call.ID, ArgsHash: j.hash, Batch: id, Position: position, Total: total,
		Session: cond.session.ID, Project: cond.session.Project, Agent: j.call.Agent, Tool: j.call.Tool,
		AskedAt: now, Extra: extraOf(j.extra),
	}
	card.Input, card.InputSize = j.input.Clip()
	if delete(card.Extra, umpire.ExtraDir); j.call.Dir != cond.session.Dir {
		card.Extra[umpire.ExtraDir] = data(be.maskText(j.call.Dir))
	}
	be.describeCall(&card, cond, j)
	card.Planned, card.AllowAll, card.CodeFiles = j.planned, cond.AllowAll, readCode(&j.decision, be.maskText)
	card.ShownDigest = shownDigest(&j.call, &j.decision, card.CodeFiles, card.Trial)
	if cond.settings.PendingTimeout > 0 {
		card.ExpiresAt = now.Add(cond.settings.PendingTimeout)
	}
	return &question{card: card, row: store.AskRow{
		Request: card.Request, Session: cond.session.ID, Batch: id, Call: j.call.ID, ArgsHash: j.hash,
		ShownDigest: card.ShownDigest, State: store.AskPending, AskedAt: now, ExpiresAt: card.ExpiresAt,
	}}
}

// describeCall fills in the card from the decision on the call.
func (be *backend) describeCall(card *umpire.Pending, cond *conditions, j *judged) {
	call, d := &j.call, &j.decision
	card.Accesses, card.TrialOffer = be.shownAccesses(j), d.Trial
	nobodyTries := cond.session.External && d.Trial == umpire.TrialOffered
	if nobodyTries || !cond.session.External && cond.confinement != nil && !cond.confinement.Trials {
		card.TrialOffer = umpire.NoTrial
	}
	if j.trial != nil {
		card.Trial, card.TrialOffer = new(j.trial.Trial), umpire.NoTrial
	}
	if card.Trial != nil && card.Trial.State == umpire.TrialWaiting {
		// The question is about the trial's effects; a rule for later is about the call.
		about := *j
		about.decision = j.trial.decision
		d, card.Accesses = &about.decision, be.shownAccesses(&about)
	}
	card.Type, card.Risk, card.Consequence, card.Warning = d.Type, d.Risk.Level(), d.Consequence, d.Warning
	card.Reason, card.Code, card.OutsideTask = be.maskPhrase(d.Reason), d.ReasonCode, d.OutsideTask
	card.Access, card.Paths = accessWord(call.Tool, card.Accesses), pathsOf(card.Accesses)
	card.Suggestions = []umpire.Suggestion{}
	for _, s := range j.alone.Suggestions {
		if len(be.offeredRules(call, &j.alone, s.Width)) > 0 {
			card.Suggestions = append(card.Suggestions, s)
		}
	}
	for _, s := range be.offeredRules(call, &j.alone, umpire.WidthExact) {
		card.Rules = append(card.Rules, policy.FormatShort(s.Rule()))
	}
	if j.trial == nil && (!d.RaiseTries || cond.confinement == nil || cond.confinement.Trials) {
		card.RaiseTo, card.RaiseTries = d.RaiseTo, d.RaiseTries
	}
	if missing := sandboxOf(&cond.settings, cond.confinement).Missing; missing != "" && call.Tool == bashTool {
		card.NoSandbox = missing
	}
	describeCommand(card)
	if degraded(&cond.session, &cond.settings) && cond.session.Mode == umpire.ModeAuto {
		card.Warning = true
	}
}

const bashTool = "Bash"

// pathsOf returns the paths that a call would touch, without duplicates.
func pathsOf(accesses []umpire.Access) (paths []string) {
	for i := range accesses {
		if a := &accesses[i]; a.Paths() && a.Target != "" && !slices.Contains(paths, a.Target) {
			paths = append(paths, a.Target)
		}
	}
	return paths
}

// describeCommand fills in the command of a card, if it is about one, from the card's other fields.
func describeCommand(card *umpire.Pending) {
	if card.Tool != bashTool {
		return
	}
	card.CommandSignature = policy.Command(card.Input)
	info := umpire.CommandInfo{Command: card.CommandSignature, Risk: card.Risk}
	if i := slices.IndexFunc(card.Accesses, func(a umpire.Access) bool { return a.Kind == umpire.KindExec }); i >= 0 {
		info.BaseCommand = card.Accesses[i].Program
	}
	if len(card.Suggestions) > 0 {
		s := card.Suggestions[0]
		info.Suggestion = policy.FormatShort(umpire.Rule{Tool: s.Tool, Match: s.Match})
	}
	card.CommandInfo = &info
}

// accessWord returns the level that older clients know: command for a command, else read, write, or
// all.
func accessWord(tool string, accesses []umpire.Access) string {
	if tool == bashTool {
		return "command"
	}
	word := "read"
	for i := range accesses {
		switch accesses[i].Kind {
		case umpire.KindRead:
		case umpire.KindWrite, umpire.KindDelete:
			word = "write"
		case umpire.KindExec, umpire.KindNetwork, umpire.KindInvoke, umpire.KindUnknown:
			return "all"
		}
	}
	return word
}

// extraOf reads the tool's extra fields; those that a card already has are dropped when it is
// written.
func extraOf(object json.RawMessage) map[string]json.RawMessage {
	extra := map[string]json.RawMessage{}
	_ = json.Unmarshal(object, &extra) // there may be none
	return extra
}

// expired reports whether the deadline for an answer has passed.
func expired(a *store.AskRow, now time.Time) bool {
	return !a.ExpiresAt.IsZero() && !a.ExpiresAt.After(now)
}

// readCard reads the card of a question; an unreadable card is returned empty.
func readCard(ask *store.AskRow) (card umpire.Pending) {
	if json.Unmarshal(ask.Shown, &card) != nil {
		return umpire.Pending{}
	}
	return card
}

// shownDigest binds an approval to the details shown: where the call runs, the paths it would touch
// with links resolved, the code it runs, its obligations, and the layer that is kept if a trial is
// waiting.
func shownDigest(call *umpire.Call, d *umpire.Decision, code []umpire.CodeFile, tried *umpire.Trial) string {
	sum := sha256.New()
	write := func(text string) { fmt.Fprintf(sum, "%d:%s", len(text), text) }
	write(call.Dir)
	write(fmt.Sprintf("%t %s %t", call.Background, d.Obligations.Sandbox, d.Obligations.Network))
	for i := range d.Accesses {
		a := &d.Accesses[i]
		write(a.Kind.String())
		write(a.Program)
		for _, arg := range a.Args {
			write(arg)
		}
		write(a.Target)
		write(a.Resolved)
		write(a.Place.String())
		write(string(a.Doubt))
	}
	for _, f := range code {
		write(f.Path)
		write(f.Digest)
	}
	if tried != nil && tried.State == umpire.TrialWaiting {
		write(string(tried.ID))
		write(tried.Effects.Digest)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// cardDigest binds an answer to the whole content of a card without a decision.
func cardDigest(card *umpire.Pending) string {
	sum := sha256.Sum256(data(card))
	return hex.EncodeToString(sum[:])
}

// offeredRules returns the rules of a width that may cover a call, or nil: a control file is
// approved one call at a time, a doubtful call only exactly as it is, and a secret is never written
// to a file.
func (sec secrets) offeredRules(call *umpire.Call, d *umpire.Decision, width umpire.Width) []umpire.Suggestion {
	var set []umpire.Suggestion
	for _, s := range policy.Suggested(d.Suggestions, width) {
		if !sec.mayBeWritten(call, s.Rule()) {
			return nil
		}
		set = append(set, s)
	}
	return set
}

// mayBeWritten reports whether a rule about a call may be written to a file: it contains no secret,
// including those that the call's command reveals elsewhere.
func (sec secrets) mayBeWritten(call *umpire.Call, r umpire.Rule) bool {
	text := policy.FormatShort(r)
	if sec.masker != nil && r.Match.Command+r.Match.CommandPrefix != "" &&
		sec.masker.Echoes([]string{text}, call.Input)[0] != text {
		return false
	}
	return len(text) <= maxRule && sec.maskText(text) == text
}

// shownAccesses returns a call's accesses with secrets hidden, also where a word of the command
// repeats a secret without the name that revealed it.
func (sec secrets) shownAccesses(j *judged) []umpire.Access {
	if j.input.Exact == nil {
		return judge.ClipArgs(sec.maskAccesses(j.decision.Accesses))
	}
	var words []string
	for i := range j.decision.Accesses {
		words = append(words, j.decision.Accesses[i].Args...)
	}
	words = sec.masker.Echoes(words, j.call.Input)
	shown := slices.Clone(j.decision.Accesses)
	for i := range shown {
		count := len(shown[i].Args)
		shown[i].Args, words = words[:count:count], words[count:]
	}
	return judge.ClipArgs(sec.maskAccesses(shown))
}
