package egress

import (
	"net/netip"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// TestTrafficOfConnections: a destination's sums count all connections, and each of the first of a run is listed.
func TestTrafficOfConnections(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	first, second := netip.MustParseAddrPort("192.0.2.1:443"), netip.MustParseAddrPort("[2001:db8::1]:443")
	c := Connection{
		Destination: Destination{Host: "files.example", Port: 443}, Entry: Entry{Text: "files.example"},
		How: ByEntry, Address: first, Up: 10, Down: 200, Began: began, Lasted: 30 * time.Millisecond,
	}
	var traffic Traffic
	traffic.Note(c)
	c.Address, c.Reason = second, Idle
	const times = umpire.MaxConnections + 7
	for range times - 1 {
		traffic.Note(c)
	}
	reached, refused := traffic.Sum()
	if len(reached) != 1 || len(refused) != 0 {
		t.Fatalf("reached %v, refused %v", reached, refused)
	}
	r := reached[0]
	if r.Times != times || r.Sent != 10*times || r.Got != 200*times || r.Millis != 30*times ||
		r.Address != first.String() || r.Problem == "" {
		t.Errorf("sums: %+v", r)
	}
	if len(r.Each) != umpire.MaxConnections {
		t.Fatalf("%d connections are listed, want %d", len(r.Each), umpire.MaxConnections)
	}
	want := umpire.TrialConnection{At: began, Address: first.String(), Sent: 10, Got: 200, Millis: 30}
	if r.Each[0] != want {
		t.Errorf("first: %+v, want %+v", r.Each[0], want)
	}
	want.Address, want.Problem = second.String(), r.Problem
	if r.Each[1] != want {
		t.Errorf("second: %+v, want %+v", r.Each[1], want)
	}
}
