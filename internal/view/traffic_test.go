package view_test

import (
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TestTrafficNamesSecrets: each leased secret is named once, with the number of its requests.
func TestTrafficNamesSecrets(t *testing.T) {
	t.Parallel()
	r := umpire.TrialReach{Target: "api.example.com:443", By: "lease A", Times: 1, Secrets: []umpire.SecretUse{
		{Name: "A", Request: "GET /x", Times: 2}, {Name: "B", Request: "GET /x", Times: 1}, {Name: "A", Request: "POST /x", Times: 1},
	}}
	want := "api.example.com:443 (lease A), 1 connection, 0 B sent, 0 B received, A: 3 requests, B: 1 request"
	if got := view.TrafficText(&r, catalogue.English); got != want {
		t.Errorf("got %s", got)
	}
}
