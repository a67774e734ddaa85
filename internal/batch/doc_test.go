package batch

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

var arrow = regexp.MustCompile(`(?m)^ +(\S+) --> (\S+?)(:.*)?$`)

// TestDrawn: docs/batch.md draws the transitions that there are, and no others.
func TestDrawn(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/batch.md")
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]bool{}
	for _, m := range arrow.FindAllStringSubmatch(string(text), -1) {
		if m[2] != "[*]" {
			drawn[m[1]+" --> "+m[2]] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(transitions())), slices.Sorted(maps.Keys(drawn))); diff != "" {
		t.Errorf("transitions (-real +drawn):\n%s", diff)
	}
	for kind := range steps {
		if !strings.Contains(string(text), "| `"+string(kind)+"` ") {
			t.Errorf("no row for %s", kind)
		}
	}
}

// transitions are those of the table of moves: of the batch and of the call.
func transitions() map[string]bool {
	all := map[string]bool{}
	for from, moves := range legal(umpire.EffectPure) {
		for name, to := range moves {
			oldBatch, oldCall := parts(from)
			newBatch, newCall := parts(to)
			if oldBatch != newBatch {
				all[oldBatch+" --> "+newBatch] = true
			}
			if oldCall != newCall || name == "start" && oldCall == "executing" {
				all[oldCall+" --> "+newCall] = true
			}
		}
	}
	return all
}

// parts splits a state's name; neither the mark of a cancelled batch nor whether
// the first question was put yet is drawn.
func parts(state string) (ofBatch, ofCall string) {
	ofBatch, ofCall, _ = strings.Cut(strings.Replace(state, "!", "", 1), "/")
	if state == "none" {
		return "[*]", "[*]"
	}
	if ofCall == "unasked" {
		ofCall = "asked"
	}
	return ofBatch, ofCall
}
