package history

import (
	"encoding/json"
	"testing"

	"github.com/umpirehq/umpire"
)

func told(kind umpire.EventKind, data string) umpire.Event {
	return umpire.Event{Kind: kind, Data: json.RawMessage(data)}
}

func planned(id, target string) umpire.Event {
	return umpire.Event{
		Kind: umpire.EventPermissionRejected, Code: umpire.CodePlan, Call: umpire.CallID(id), Tool: "Write",
		Accesses: []umpire.Access{{Kind: umpire.KindWrite, Target: target}}, Data: json.RawMessage(`{"files":{"` + target + `":"absent"}}`),
	}
}

// C-72: a plan knows the mode before it, and holds each call once.
func TestPlanOf(t *testing.T) {
	t.Parallel()
	opened, plan := told(umpire.EventSessionOpened, `{"mode":"auto"}`), told(umpire.EventModeChanged, `{"mode":"plan","from":"auto"}`)
	denied := planned("c9", "/p/x")
	denied.Code = umpire.CodeDenied
	p := ReadSessionPlan([]umpire.Event{
		opened, planned("c0", "/p/before"), plan, planned("c1", "/p/a"), denied, planned("c2", "/p/b"), planned("c3", "/p/a"),
		told(umpire.EventModeChanged, `{"allow_all":true}`), plan,
	})
	if !p.Active || p.Before == nil || *p.Before != umpire.ModeAuto || len(p.Calls) != 2 || p.Calls[0].Call != "c3" || p.Calls[1].Call != "c2" ||
		p.Calls[1].Files["/p/b"] != "absent" {
		t.Errorf("got %+v", p)
	}
	for name, events := range map[string][]umpire.Event{
		"left":          {opened, plan, planned("c1", "/p/a"), told(umpire.EventModeChanged, `{"mode":"ask"}`)},
		"never":         {opened},
		"nothing":       nil,
		"not an object": {told(umpire.EventModeChanged, `[]`)},
	} {
		if p := ReadSessionPlan(events); p.Active || p.Calls != nil {
			t.Errorf("%s: got %+v", name, p)
		}
	}
	if p := ReadSessionPlan([]umpire.Event{told(umpire.EventSessionOpened, `{"mode":"plan"}`)}); !p.Active || p.Before != nil {
		t.Errorf("opened in plan mode: %+v", p)
	}
}
