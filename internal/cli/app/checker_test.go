package app

import (
	"strings"
	"testing"
)

func TestSplitRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		lists []string
		want  string
	}{
		{[]string{"Read,Write"}, "Read|Write"},
		{[]string{"Read,Bash"}, "Read|Bash"}, // C-10
		{[]string{"Read", "Bash(npm test:*), Edit({a,b}.md)"}, "Read|Bash(npm test:*)|Edit({a,b}.md)"},
		{[]string{"Bash(git log:*) Edit"}, "Bash(git log:*)|Edit"},
		{[]string{" , "}, ""},
		{[]string{"Edit(a,b"}, "Edit(a,b"},
	}
	for _, test := range tests {
		if got := strings.Join(SplitRules(test.lists), "|"); got != test.want {
			t.Errorf("%q: got %s, want %s", test.lists, got, test.want)
		}
	}
}
