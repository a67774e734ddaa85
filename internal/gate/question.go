package gate

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/batch"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// A question is what a person is asked about one call, ready to be stored.
type question struct {
	row  store.AskRow
	card umpire.Pending
}

// ask makes the question about a call. Position is its place in the batch, from 1.
func (g *Gate) ask(sc *scene, j *judged, id umpire.BatchID, position, total int) *question {
	now := g.now()
	card := umpire.Pending{
		Request: newRequestID(), Call: j.call.ID, ArgsHash: j.hash, Batch: id, Position: position, Total: total,
		Session: sc.session.ID, Project: sc.session.Project, Agent: j.call.Agent, Tool: j.call.Tool,
		Input: json.RawMessage(j.input.Shown), AskedAt: now, Extra: extraOf(j.extra),
	}
	g.describe(&card, sc, j)
	card.Planned, card.AllowAll = j.planned, sc.allowAll
	card.CodeFiles = g.codeFiles(&j.decision)
	card.ShownDigest = shownDigest(&j.call, &j.decision, card.CodeFiles)
	if sc.settings.PendingTimeout > 0 {
		card.ExpiresAt = now.Add(sc.settings.PendingTimeout)
	}
	return &question{card: card, row: store.AskRow{
		Request: card.Request, Session: sc.session.ID, Batch: id, Call: j.call.ID, ArgsHash: j.hash,
		ShownDigest: card.ShownDigest, State: store.AskPending, AskedAt: now, ExpiresAt: card.ExpiresAt,
	}}
}

// describe fills in what the decision says of the call.
func (g *Gate) describe(card *umpire.Pending, sc *scene, j *judged) {
	call, d := &j.call, &j.decision
	card.Accesses = g.shownAccesses(j)
	card.Type, card.Risk, card.Consequence, card.Warning = d.Type, d.Risk.Level(), d.Consequence, d.Warning
	card.Reason, card.Code = g.maskText(d.Reason), d.ReasonCode
	card.Access, card.Paths = accessWord(call.Tool, card.Accesses), pathsOf(card.Accesses)
	card.Suggestions = []umpire.Suggestion{}
	for _, s := range d.Suggestions {
		if len(g.offered(call, d, s.Width)) > 0 {
			card.Suggestions = append(card.Suggestions, s)
		}
	}
	for _, s := range g.offered(call, &j.alone, umpire.WidthExact) {
		card.Rules = append(card.Rules, policy.FormatShort(s.Rule()))
	}
	if missing := sandboxOf(&sc.settings, sc.sandbox).Missing; missing != "" && call.Tool == bashTool {
		card.NoSandbox = missing
	}
	if call.Tool == bashTool {
		describeCommand(card, g.maskText(policy.Exact(*call)))
	}
	if degraded(&sc.session, &sc.settings) && sc.session.Mode == umpire.ModeAuto {
		card.Warning = true
	}
}

const bashTool = "Bash"

// pathsOf are the paths that a call would touch, each once.
func pathsOf(accesses []umpire.Access) (paths []string) {
	for i := range accesses {
		if a := &accesses[i]; a.Paths() && a.Target != "" && !slices.Contains(paths, a.Target) {
			paths = append(paths, a.Target)
		}
	}
	return paths
}

// describeCommand tells of a command by what the card has of it already.
func describeCommand(card *umpire.Pending, command string) {
	card.CommandSignature = command
	info := umpire.CommandInfo{Command: command, Risk: card.Risk}
	for i := range card.Accesses {
		if card.Accesses[i].Kind == umpire.KindExec {
			info.BaseCommand = card.Accesses[i].Program
			break
		}
	}
	if len(card.Suggestions) > 0 {
		s := card.Suggestions[0]
		info.Suggestion = policy.FormatShort(umpire.Rule{Tool: s.Tool, Match: s.Match})
	}
	card.CommandInfo = &info
}

// accessWord is the level that older clients know: command for a command, else
// read, write, or all.
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

// extraOf reads the tool's own fields; those that a card has already are dropped
// when it is written.
func extraOf(object json.RawMessage) map[string]json.RawMessage {
	if len(object) == 0 {
		return nil
	}
	extra := map[string]json.RawMessage{}
	if json.Unmarshal(object, &extra) != nil {
		return nil
	}
	return extra
}

// put stores the question for a round of its call.
func (q *question) put(tx *store.Tx, round int) error {
	q.card.Version, q.row.Round = round, round
	q.row.Shown = data(q.card)
	return tx.InsertAsk(q.row)
}

// event is the question's event on the timeline.
func (q *question) event(kind umpire.EventKind) umpire.Event {
	return umpire.Event{
		Kind: kind, Call: q.card.Call, Request: q.card.Request, Agent: q.card.Agent, Tool: q.card.Tool,
		State: umpire.StateWaiting, Type: q.card.Type, Risk: q.card.Risk, Verdict: new(umpire.Ask),
		Reason: q.card.Reason, Code: q.card.Code, Accesses: q.card.Accesses,
		Blocked: &umpire.Blocked{Code: q.card.Code, Detail: q.card.Reason},
	}
}

func (q *question) detail() batch.Asked {
	return batch.Asked{
		Version: q.card.Version, Input: q.card.Input, Paths: q.card.Paths, CommandSignature: q.card.CommandSignature,
		Position: q.card.Position, Total: q.card.Total, Warning: q.card.Warning,
	}
}

// expired reports whether the time for an answer is over.
func expired(a *store.AskRow, now time.Time) bool {
	return !a.ExpiresAt.IsZero() && !a.ExpiresAt.After(now)
}
