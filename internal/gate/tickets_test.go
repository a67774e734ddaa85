package gate

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// newTicketGate has a call of a host that a ticket can be issued for.
func newTicketGate(t *testing.T) *testGate {
	t.Helper()
	d := newTestGate(t)
	d.hosted()
	must(d.Submit(t.Context(), single(command("c", "ls"))))(t)
	return d
}

// aTicket is one that usesIt fits.
func aTicket() umpire.Ticket {
	return umpire.Ticket{
		Session: "s1", Batch: "c", Call: "c", Action: umpire.TicketTrial, Line: "make test", Dir: "/p", User: 1000, Host: "machine:1:2",
	}
}

func useOf(secret string) umpire.TicketUse {
	return umpire.TicketUse{
		Secret: secret, Line: "make test", Dir: "/p", User: 1000, Above: []string{"machine:9:9", "machine:1:2"},
	}
}

// TestTicketIsBound: a ticket that does not fit is refused with the reason, and stays good
// for whom it was made.
func TestTicketIsBound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*umpire.TicketUse)
		after  time.Duration
		want   string
	}{
		"another one":        {func(u *umpire.TicketUse) { u.Secret += "x" }, 0, "unknown"},
		"none":               {func(u *umpire.TicketUse) { u.Secret = "" }, 0, "unknown"},
		"other bytes":        {func(u *umpire.TicketUse) { u.Line += " " }, 0, "another command line"},
		"no bytes":           {func(u *umpire.TicketUse) { u.Line = "" }, 0, "another command line"},
		"another folder":     {func(u *umpire.TicketUse) { u.Dir = "/p/sub" }, 0, "for the folder /p"},
		"another user":       {func(u *umpire.TicketUse) { u.User = 0 }, 0, "another user"},
		"another host":       {func(u *umpire.TicketUse) { u.Above = u.Above[:1] }, 0, "is gone"},
		"late":               {func(*umpire.TicketUse) {}, umpire.TicketLife, "older than"},
		"late, and wrong":    {func(u *umpire.TicketUse) { u.User = 0 }, umpire.TicketLife, "older than"},
		"right":              {func(*umpire.TicketUse) {}, 0, ""},
		"right, in the last": {func(*umpire.TicketUse) {}, umpire.TicketLife - time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTicketGate(t)
			secret := must(d.IssueTicket(t.Context(), aTicket()))(t)
			if len(secret) != 32 {
				t.Errorf("a ticket of %d digits", len(secret))
			}
			d.pass(c.after)
			u := useOf(secret)
			c.change(&u)
			got, err := d.tickets.Use(t.Context(), u)
			if c.want == "" {
				if err != nil || got.Call != "c" || got.Action != umpire.TicketTrial || got.Line != "make test" {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			if !errors.Is(err, umpire.ErrState) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
			if c.after == 0 {
				must(d.tickets.Use(t.Context(), useOf(secret)))(t)
			}
		})
	}
}

// TestTicketIsUsedOnce: only the first use succeeds.
func TestTicketIsUsedOnce(t *testing.T) {
	t.Parallel()
	d := newTicketGate(t)
	secret := must(d.IssueTicket(t.Context(), aTicket()))(t)
	var used, settled atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := d.tickets.Use(t.Context(), useOf(secret))
			switch {
			case err == nil:
				used.Add(1)
			case !strings.Contains(err.Error(), "used before"):
				t.Error(err)
			}
		})
	}
	all.Wait()
	for range 8 {
		all.Go(func() {
			if must(d.tickets.End(t.Context(), umpire.TicketEnd{Secret: secret}))(t).First {
				settled.Add(1)
			}
		})
	}
	all.Wait()
	if used.Load() != 1 || settled.Load() != 1 {
		t.Errorf("used %d times, settled %d times", used.Load(), settled.Load())
	}
}

// TestTicketStartsItsCall: the ticket is used by the transaction that starts the call, and a
// call that may not start uses none.
func TestTicketStartsItsCall(t *testing.T) {
	t.Parallel()
	d := newTicketGate(t)
	ticket := aTicket()
	ticket.Action = umpire.TicketUndo
	secret := must(d.IssueTicket(t.Context(), ticket))(t)
	must(d.tickets.Use(t.Context(), useOf(secret)))(t)
	kinds := d.kinds(umpire.Session{ID: "s1"})
	if got := count(kinds, umpire.EventCallStarted); got != 1 {
		t.Errorf("%d calls were started: %v", got, kinds)
	}
	if _, err := d.tickets.Use(t.Context(), useOf(secret)); !errors.Is(err, umpire.ErrState) {
		t.Errorf("used again: %v", err)
	}
	another := must(d.IssueTicket(t.Context(), ticket))(t)
	if _, err := d.tickets.Use(t.Context(), useOf(another)); !errors.Is(err, umpire.ErrState) {
		t.Errorf("the call started twice: %v", err)
	}
}

// TestLargeLineComesFromTheGate: it is kept sealed, and what the host hands over is not
// looked at.
func TestLargeLineComesFromTheGate(t *testing.T) {
	t.Parallel()
	d := newTicketGate(t)
	ticket := aTicket()
	ticket.Large, ticket.Line = true, strings.Repeat("true # ' \x00\xff\n", 10000)
	if _, err := d.IssueTicket(t.Context(), ticket); err == nil {
		t.Error("a line was kept without a key")
	}
	d.Gate.be.sealer = reverser{}
	secret := must(d.IssueTicket(t.Context(), ticket))(t)
	u := useOf(secret)
	u.Line = "true…"
	if got := must(d.tickets.Use(t.Context(), u))(t); got.Line != ticket.Line {
		t.Error("it is another line")
	}
}

// A reverser is a Sealer of a test's.
type reverser struct{}

func (reverser) Seal(label string, plain []byte) ([]byte, error) {
	sealed := append([]byte(label), plain...)
	slices.Reverse(sealed)
	return sealed, nil
}

func (reverser) Open(label string, sealed []byte) ([]byte, error) {
	plain := slices.Clone(sealed)
	slices.Reverse(plain)
	rest, ours := bytes.CutPrefix(plain, []byte(label))
	if !ours {
		return nil, errors.New("sealed elsewhere")
	}
	return rest, nil
}
