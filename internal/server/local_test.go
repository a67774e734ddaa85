package server_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
)

// TestLocalGateWatches checks that a watched session must exist and belong to the named project.
func TestLocalGateWatches(t *testing.T) {
	t.Parallel()
	fake := newFake()
	local := server.Local(fake, "cli")
	fake.tell(notice("s1"))
	n := 0
	for e, err := range local.Watch(t.Context(), umpire.Filter{Session: "s1", Project: "p1"}) {
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(int64(3*n+3), e.Seq); diff != "" {
			t.Error(diff)
		}
		if n++; n == 3 {
			break
		}
		fake.tell(notice("s1"))
	}
	for f, want := range map[umpire.Filter]error{
		{Session: "unknown"}: umpire.ErrNotFound, {Session: "s1", Project: "p2"}: umpire.ErrOtherProject, {Session: "\u200b"}: umpire.ErrInvalid,
	} {
		if _, err := local.Events(t.Context(), f); !errors.Is(err, want) {
			t.Errorf("events of %+v: %v, want %v", f, err, want)
		}
		for _, err := range local.Watch(t.Context(), f) {
			if !errors.Is(err, want) {
				t.Errorf("watching %+v: %v, want %v", f, err, want)
			}
		}
	}
}

// TestLocalGateSigns checks that the record names this process's user, regardless of the request.
func TestLocalGateSigns(t *testing.T) {
	t.Parallel()
	fake := newFake()
	local := server.Local(fake, "cli")
	answer := umpire.Answer{Request: "r1", Choice: umpire.Approve, Actor: "somebody", Channel: "elsewhere", By: umpire.Actor{Name: "somebody"}}
	_, err := local.Resolve(t.Context(), answer)
	if err != nil {
		t.Fatal(err)
	}
	if a := fake.last("Resolve").(umpire.Answer); a.By.Client != "cli" || *a.By.PID != os.Getpid() || a.Actor != a.By.Name || a.Channel != "local" {
		t.Errorf("the answer is signed %+v, by %s over %s", a.By, a.Actor, a.Channel)
	}
	if _, err := local.Sessions().SetMode(t.Context(), umpire.ModeChange{Session: "s1"}); err != nil {
		t.Fatal(err)
	}
	if m := fake.last("SetMode").(umpire.ModeChange); m.By.Client != "cli" {
		t.Errorf("the change is signed %+v", m.By)
	}
	for name, id := range map[string]umpire.SessionID{"long": umpire.SessionID(strings.Repeat("a", umpire.MaxID+1)), "invisible": "\u200b"} {
		if _, err := local.Sessions().Get(t.Context(), id); !errors.Is(err, umpire.ErrInvalid) {
			t.Errorf("%s id: %v", name, err)
		}
		if _, err := local.Sessions().Continue(t.Context(), umpire.Resumption{ID: id}); !errors.Is(err, umpire.ErrInvalid) {
			t.Errorf("continue, %s id: %v", name, err)
		}
	}
}
