package coverage

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/umpirehq/umpire"
)

// TestCountStops checks that no further call is judged after the context has ended.
func TestCountStops(t *testing.T) {
	t.Parallel()
	p := &umpire.Pending{Tool: "Write", Call: "now"}
	for _, last := range []int{3, 15} { // among those judged as they are, and with more grants
		ctx, cancel := context.WithCancel(t.Context())
		judged := 0
		_, err := Count(ctx, p, make([]umpire.Call, 10), func(umpire.Call, []umpire.Grant) (d umpire.Decision) {
			if judged++; judged == last {
				cancel()
			}
			return d
		})
		if judged != last || !errors.Is(err, context.Canceled) {
			t.Errorf("%d calls were judged after %d: %v", judged, last, err)
		}
	}
}

// A slowGate takes longer than any caller waits.
type slowGate struct{ umpire.Answerer }

func (slowGate) Pending(ctx context.Context, _ umpire.PendingQuery) ([]umpire.Pending, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestLoadGivesUp checks that a card does not wait for a slow result, nor for a person who has left.
func TestLoadGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if all, err := Load(t.Context(), slowGate{}, &umpire.Pending{}); all != nil || err != nil {
			t.Errorf("%v, %v", all, err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, slowGate{}, &umpire.Pending{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a person who has gone: %v", err)
	}
}
