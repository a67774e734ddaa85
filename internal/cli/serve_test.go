package cli

import (
	"context"
	"testing"
	"time"
)

// TestMemoryOfPeakGoesBack: an idle gate returns the memory that one large request used.
//
//nolint:paralleltest // it looks at the memory of the process
func TestMemoryOfPeakGoesBack(t *testing.T) {
	const peak = 512 << 20
	before := heldMemory()
	large := make([]byte, peak)
	for i := 0; i < peak; i += 4096 {
		large[i] = 1
	}
	if held := heldMemory(); held < before+peak/2 {
		t.Fatalf("%d bytes are held at the peak of %d, and %d before", held, len(large), before)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	go func() {
		defer close(ended)
		returnMemory(ctx, ticks)
	}()
	ticks <- time.Time{}
	ticks <- time.Time{} // once the first was acted on
	cancel()
	<-ended
	if held := heldMemory(); held > max(before, keptMemory)+peak/4 {
		t.Errorf("%d bytes are held, %d before", held, before)
	}
}
