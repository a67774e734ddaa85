package run

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Each agent's lines have its label, also the last one of an agent that ends without a newline.
func TestLabelledLines(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	var line sync.Mutex
	one, two := &labelledLines{mu: &line, to: &out, label: "one"}, &labelledLines{mu: &line, to: &out, label: "two"}
	fmt.Fprint(one, "a\nb")
	fmt.Fprint(two, "c\n")
	fmt.Fprint(one, "d")
	for _, lines := range []*labelledLines{one, two, one} {
		if err := lines.writeRest(); err != nil {
			t.Error(err)
		}
	}
	if got, want := out.String(), "one      a\ntwo      c\none      bd\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
