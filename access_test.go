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
		{umpire.Access{Target: "/p/", Resolved: "/p", Place: inside}, "."},
		{umpire.Access{Target: "/p//dev/null", Resolved: "/p/dev/null", Place: inside}, "dev/null"},
		{umpire.Access{Target: "/p/./a.go", Resolved: "/p/a.go", Place: inside}, "a.go"},
		{umpire.Access{Target: "/p/sub/../~/a.go", Resolved: "/p/~/a.go", Place: inside}, "/p/sub/../~/a.go"},
		{umpire.Access{Target: "/p/-", Resolved: "/p/-", Place: inside}, "/p/-"},
		{umpire.Access{Target: "/p/ /etc/passwd", Resolved: "/p/ /etc/passwd", Place: inside}, "/p/ /etc/passwd"},
		{umpire.Access{Target: "/p/∕etc/passwd", Resolved: "/p/∕etc/passwd", Place: inside}, "/p/∕etc/passwd"},
		{umpire.Access{Target: "/p/$HOME/a.go", Resolved: "/p/$HOME/a.go", Place: inside}, "/p/$HOME/a.go"},
		{umpire.Access{Target: "/p/\xff", Resolved: "/p/\xff", Place: inside}, "/p/\xff"},
		{umpire.Access{Target: "/p/文档.md", Resolved: "/p/文档.md", Place: inside}, "文档.md"},
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
