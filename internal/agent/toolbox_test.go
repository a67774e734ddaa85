package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// claimed are tools that somebody says something of.
type claimed struct{ fakeTools }

func (*claimed) Extra(name string) map[string]json.RawMessage {
	return map[string]json.RawMessage{"of": json.RawMessage(`"` + name + `"`)}
}

func names(tools Tools) string {
	var all []string
	for _, t := range tools.Tools() {
		all = append(all, t.Name)
	}
	return strings.Join(all, " ")
}

func TestToolboxIsOneSet(t *testing.T) {
	t.Parallel()
	first, second := &fakeTools{}, &claimed{}
	box := Toolbox{
		Only(first, func(name string) bool { return name == "Read" }),
		Only(second, func(name string) bool { return name != "Bash" }),
	}
	if got := names(box); got != "Read Write" {
		t.Errorf("tools are %s", got)
	}
	for _, name := range []string{"Read", "Write", "Bash"} {
		r := box.Run(t.Context(), umpire.Started{Go: true, Call: umpire.Call{ID: umpire.CallID(name), Tool: name}})
		if ok := r.Status == umpire.ResultOK; ok != (name != "Bash") {
			t.Errorf("%s gave %+v", name, r)
		}
	}
	if first.all() != "Read" || second.all() != "Write" {
		t.Errorf("the first set ran %q, the second %q", first.all(), second.all())
	}
	claims := func(name string) string { return string(claimsOf(box, name)["of"]) }
	if claims("Read") != "" || claims("Write") != `"Write"` || claims("Bash") != "" {
		t.Errorf("claims: %s, %s, %s", claims("Read"), claims("Write"), claims("Bash"))
	}
	if box.Stop(); first.stopped != 1 || second.stopped != 1 {
		t.Error("not every set was stopped")
	}
}

// The claims about a tool go to the gate with its call.
func TestClaimsGoToTheGate(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.agent.Tools = Toolbox{&claimed{}}
		extra := ""
		s.gate.decide = func(c umpire.Call) umpire.Verdict { extra = string(c.Extra["of"]); return umpire.Allow }
		s.begin("go").finish()
		if extra != `"Read"` {
			t.Errorf("the call came with %s", extra)
		}
	}, say(use("c1", "Read")))
}
