package umpire_test

import (
	"testing"

	"github.com/umpirehq/umpire"
)

// A path is shortened only where it lies below the root itself: one that leaves, goes through a link
// or would read like another place is shown whole.
func TestTargetIn(t *testing.T) {
	t.Parallel()
	inside := umpire.PlaceInside
	for _, tt := range []struct {
		access umpire.Access
		want   string
	}{
		{umpire.Access{Target: "/p/src/a.go", Resolved: "/p/src/a.go", Place: inside}, "src/a.go"},
		{umpire.Access{Target: "/p/src/a.go", Place: inside}, "src/a.go"}, // as clients read it
		{umpire.Access{Target: "/p", Place: inside}, "."},
		{umpire.Access{Target: "/p/..data", Place: inside}, "..data"},
		{umpire.Access{Target: "/p/a.go"}, "/p/a.go"}, // nobody knows where it lies
		{umpire.Access{Target: "/p/link", Resolved: "/etc/passwd", Place: umpire.PlaceOutside}, "/p/link"},
		{umpire.Access{Target: "/p/link", Resolved: "/p/a.go", Place: inside}, "/p/link"},
		{umpire.Access{Target: "/p/sub/../a.go", Place: inside}, "/p/sub/../a.go"},
		{umpire.Access{Target: "/px/a.go", Place: inside}, "/px/a.go"},
		{umpire.Access{Target: "/added/a.go", Place: inside}, "/added/a.go"},
		{umpire.Access{Target: "/p/~/a.go", Place: inside}, "/p/~/a.go"},
		{umpire.Access{Target: "example.com"}, "example.com"},
		{umpire.Access{Place: inside}, ""},
	} {
		if got := tt.access.TargetIn("/p"); got != tt.want {
			t.Errorf("%+v is shown as %q, want %q", tt.access, got, tt.want)
		}
		if got := tt.access.TargetIn(""); got != tt.access.Target {
			t.Errorf("without a root %q is shown as %q", tt.access.Target, got)
		}
	}
}
