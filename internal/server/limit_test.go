package server

import (
	"fmt"
	"net"
	"net/http"
	"testing"
)

// TestLimitsLeaveDescriptors checks that with few descriptors, the combined limits leave
// enough for the gate.
func TestLimitsLeaveDescriptors(t *testing.T) {
	t.Parallel()
	for descriptors, want := range map[int]Limits{
		256:     {PerSecond: 2000, InFlight: 26, Watchers: 69, Idle: 13},
		1024:    {PerSecond: 2000, InFlight: 122, Watchers: 325, Idle: 61},
		1 << 20: {PerSecond: 2000, InFlight: 1024, Watchers: 16384, Idle: 1024},
	} {
		got := Limits{}.orDefault(descriptors)
		if got != want {
			t.Errorf("%d descriptors: %+v, want %+v", descriptors, got, want)
		}
		const credentials = 2
		if most := credentials*(got.Watchers+got.InFlight) + got.Idle + keptDescriptors; most > descriptors {
			t.Errorf("%d descriptors: %d may be taken", descriptors, most)
		}
	}
	if got := (Limits{}).orDefault(10); got.InFlight < 1 || got.Watchers < 1 || got.Idle < 1 {
		t.Errorf("nothing is let in: %+v", got)
	}
}

// A closable connection records whether it was closed.
type closable struct {
	net.Conn

	name   string
	closed *[]string
}

func (c *closable) Close() error {
	*c.closed = append(*c.closed, c.name)
	return nil
}

// TestIdleConnectionsMakeRoom checks that the oldest connections are closed, but none with an active request.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	idle, closed := newIdleList(3), []string{}
	conns := make([]*closable, 300)
	for i := range conns {
		conns[i] = &closable{name: fmt.Sprint(i), closed: &closed}
		idle.track(conns[i], http.StateNew)
		if i == 1 {
			idle.track(conns[i], http.StateActive)
		}
	}
	if len(closed) != len(conns)-1-3 || closed[0] != "0" || closed[1] != "2" {
		t.Errorf("%d were closed: %q", len(closed), closed)
	}
	idle.track(conns[1], http.StateIdle)
	idle.track(conns[299], http.StateClosed)
	if n := len(idle.at); n != 2 || idle.conns.Len() != n {
		t.Errorf("%d are held", n)
	}
}
