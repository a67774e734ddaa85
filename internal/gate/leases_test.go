package gate

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// TestLeasesAreRecorded: leases and their uses are events, with their author, in the session that they are for.
func TestLeasesAreRecorded(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	ana := umpire.Actor{Name: "ana"}
	lease := umpire.SecretLease{
		Dir: d.project, Name: "API_TOKEN", Host: "api.example.com", Methods: []string{"GET"}, Paths: []string{"/me/*"},
		Session: s.ID, ExpiresAt: time.Now().Add(time.Hour), By: ana,
	}
	revoked := lease
	revoked.Revoked = true
	use := umpire.SecretUses{Dir: d.project, Session: s.ID, Command: "curl x", By: ana, Reached: []umpire.TrialReach{{
		Target: "api.example.com:443", Secrets: []umpire.SecretUse{{Name: "API_TOKEN", Request: "GET /me/x", Times: 2}},
	}}}
	for _, err := range []error{
		d.grants.RecordLease(t.Context(), lease), d.grants.RecordUse(t.Context(), use), d.grants.RecordLease(t.Context(), revoked),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	events := must(d.Events(t.Context(), umpire.Filter{Session: s.ID, Last: 3}))(t)
	kinds := []umpire.EventKind{umpire.EventSecretLeased, umpire.EventSecretUsed, umpire.EventSecretRevoked}
	for i, e := range events {
		if e.Kind != kinds[i] || e.Actor != "ana" || !strings.Contains(string(e.Data), "API_TOKEN") {
			t.Errorf("got %+v %s", e, e.Data)
		}
	}
	lease.Session = "sNone"
	if err := d.grants.RecordLease(t.Context(), lease); !errors.Is(err, umpire.ErrNotFound) {
		t.Errorf("for no session: %v", err)
	}
	use.Refused = slices.Repeat([]string{"x"}, maxListedPaths+1)
	for _, err := range []error{
		d.grants.RecordLease(t.Context(), umpire.SecretLease{Dir: d.project}), d.grants.RecordUse(t.Context(), use),
	} {
		if !errors.Is(err, umpire.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	}
}
