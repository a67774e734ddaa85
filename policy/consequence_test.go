package policy_test

import (
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// The consequence for a path or a host follows from the kind of access and the place.
func TestConsequenceOfPathsAndHosts(t *testing.T) {
	t.Parallel()
	const inside, outside = umpire.PlaceInside, umpire.PlaceOutside
	for _, tt := range []struct {
		name   string
		access umpire.Access
		want   umpire.Consequence
	}{
		{"read", umpire.Access{Kind: umpire.KindRead, Place: outside}, umpire.Harmless},
		{"write inside", umpire.Access{Kind: umpire.KindWrite, Place: inside}, umpire.Reversible},
		{"write outside", umpire.Access{Kind: umpire.KindWrite, Place: outside, Consequence: umpire.Harmless}, umpire.Lost},
		{"write to nowhere", umpire.Access{Kind: umpire.KindWrite, Place: umpire.PlaceHarmless}, umpire.Harmless},
		{"write in doubt", umpire.Access{Kind: umpire.KindWrite, Place: inside, Doubt: "?"}, umpire.Lost},
		{"unresolved write", umpire.Access{Kind: umpire.KindWrite}, umpire.Lost},
		{"delete", umpire.Access{Kind: umpire.KindDelete, Place: inside}, umpire.Lost},
		{"move away", umpire.Access{Kind: umpire.KindDelete, Place: inside, Consequence: umpire.Reversible}, umpire.Reversible},
		{"move away outside", umpire.Access{Kind: umpire.KindDelete, Place: outside, Consequence: umpire.Reversible}, umpire.Lost},
		{"network", umpire.Access{Kind: umpire.KindNetwork, Consequence: umpire.Harmless}, umpire.Outward},
		{"program", umpire.Access{Kind: umpire.KindExec, Risk: umpire.High, Consequence: umpire.Reversible}, umpire.Reversible},
		{"program that nobody judged", umpire.Access{Kind: umpire.KindExec, Risk: umpire.Medium}, umpire.Lost},
		{"program in doubt", umpire.Access{Kind: umpire.KindExec, Risk: umpire.Medium, Consequence: umpire.Harmless, Doubt: "?"}, umpire.Lost},
		{"critical program", umpire.Access{Kind: umpire.KindExec, Consequence: umpire.Harmless}, umpire.Lost},
		{"unknown kind", umpire.Access{Consequence: umpire.Harmless}, umpire.Lost},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.access.Target == "" {
				tt.access.Target = "/p/x"
			}
			q := policy.Query{Call: umpire.Call{Tool: "Bash"}, Facts: umpire.Facts{Accesses: []umpire.Access{tt.access}}}
			d := policy.Decide(nil, q)
			if d.Consequence != tt.want || d.Accesses[0].Consequence != tt.want {
				t.Errorf("the access is %v, the decision %v; want %v", d.Accesses[0].Consequence, d.Consequence, tt.want)
			}
		})
	}
}

// A call has the worst consequence of its accesses. Without known accesses it has the worst of
// all.
func TestConsequenceOfACallIsTheWorst(t *testing.T) {
	t.Parallel()
	read := umpire.Access{Kind: umpire.KindRead, Target: "/p/a", Place: umpire.PlaceInside}
	reach := umpire.Access{Kind: umpire.KindNetwork, Target: "example.com"}
	for _, tt := range []struct {
		accesses []umpire.Access
		want     umpire.Consequence
	}{
		{nil, umpire.Lost},
		{[]umpire.Access{read}, umpire.Harmless},
		{[]umpire.Access{read, reach}, umpire.Outward},
		{[]umpire.Access{reach, read}, umpire.Outward},
	} {
		d := policy.Decide(nil, policy.Query{Call: umpire.Call{Tool: "Bash"}, Facts: umpire.Facts{Accesses: tt.accesses}})
		if d.Consequence != tt.want {
			t.Errorf("%d accesses: %v, want %v", len(tt.accesses), d.Consequence, tt.want)
		}
	}
}
