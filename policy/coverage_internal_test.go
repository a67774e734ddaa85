package policy

import (
	"context"
	"errors"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestCountStops checks that no further call is judged after the context has ended.
func TestCountStops(t *testing.T) {
	t.Parallel()
	p := &umpire.Pending{Tool: "Write", Call: "now"}
	for _, last := range []int{3, 15} { // among those judged as they are, and with more grants
		ctx, cancel := context.WithCancel(t.Context())
		judged := 0
		_, err := CountCoverage(ctx, p, make([]umpire.Call, 10), func(umpire.Call, []umpire.Grant) (d umpire.Decision) {
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
