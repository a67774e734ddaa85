package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestListsAreReadInTurns checks that only some lists are read at a time, because reading
// takes memory, and that a canceled request leaves the queue.
func TestListsAreReadInTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lists, goOn := make(turns, maxLists), make(chan struct{})
		began, ended := make(chan struct{}, 20), make(chan error, 20)
		read := func(ctx context.Context) {
			_, _, err := readPage(ctx, lists, 1, true, func(*int, int) ([]int, error) {
				began <- struct{}{}
				<-goOn
				return nil, nil
			})
			ended <- err
		}
		for range 10 {
			go read(t.Context())
		}
		synctest.Wait()
		if len(began) != maxLists {
			t.Errorf("%d lists are read at a time, want %d", len(began), maxLists)
		}
		gone, leave := context.WithCancel(t.Context())
		go read(gone)
		leave()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("who left got %v", err)
		}
		close(goOn)
		synctest.Wait()
		if len(began) != 10 || len(ended) != 10 {
			t.Errorf("%d of 10 lists were read, and %d ended", len(began), len(ended))
		}
	})
}
