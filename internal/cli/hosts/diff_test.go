package hosts

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, before, after, want string }{
		{"from nothing", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"to nothing", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"in the middle", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
			"@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
		{"far apart", "a\n1\n2\n3\n4\n5\n6\n7\n8\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\n8\nB\n",
			"@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -7,4 +7,4 @@\n 6\n 7\n 8\n-b\n+B\n"},
		{"common lines between", "a\nb\nc\n", "x\nb\ny\n", "@@ -1,3 +1,3 @@\n-a\n+x\n b\n-c\n+y\n"},
		{"what a terminal would obey", "", "\x1b[2J\t\n", "@@ -0,0 +1 @@\n+\\x1b[2J\t\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := settingsChange{path: "f", before: []byte(tt.before), after: []byte(tt.after), existed: true}
			if got := strings.TrimPrefix(c.diff(), "--- f\n+++ f\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
