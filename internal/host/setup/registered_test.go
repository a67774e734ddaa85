package setup

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRegisteredClaude(t *testing.T) {
	t.Parallel()
	o := Hook{Command: "/opt/umpire", Args: []string{"hook", "claude", "--deadline", "595s"}, Timeout: 10 * time.Minute, OnFailureBlock: true}
	list, err := Claude.Registered([]byte(mustInstall(t, commented, o)))
	if err != nil || len(list) != len(claudeHooks.eventsOf("claude")) {
		t.Fatalf("%d handlers, error %v", len(list), err)
	}
	want := Registration{Event: "PreToolUse", Line: 7, Command: o.Command, Args: o.Args, Timeout: o.Timeout, OnFailureBlock: true}
	for _, got := range list {
		if got.Event == want.Event {
			got.Line = want.Line
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
	}
	if list, err := Claude.Registered([]byte(commented)); err != nil || list != nil {
		t.Errorf("a file without us: %v, %v", list, err)
	}
	if _, err := Claude.Registered([]byte(`{"a": }`)); err == nil {
		t.Error("a broken file gives no error")
	}
}
