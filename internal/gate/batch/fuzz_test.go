package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// fuzzed returns batches with possible next events.
func fuzzed(t *testing.T) []*history {
	t.Helper()
	two := submit3(umpire.CallAsked, umpire.CallApproved)
	paths := [][]umpire.Event{
		nil, {two}, {two, asked("c1", "q1")}, {two, asked("c1", "q1"), approved("c1", "q1")},
		{submit3(umpire.CallApproved, umpire.CallDenied)},
		{submit3(umpire.CallApproved, umpire.CallDenied), started("c1")},
		{submit3(umpire.CallDenied), finished("c1", umpire.ResultDenied)},
	}
	var all []*history
	for _, path := range paths {
		h := newHistory()
		for _, e := range path {
			if fits, err := h.take(e); !fits || err != nil {
				t.Fatal(e.Kind, fits, err)
			}
		}
		all = append(all, h)
	}
	return all
}

// For any data, an event is either legal and preserves the invariants of a batch, or
// illegal and changes nothing.
func FuzzApply(f *testing.F) {
	kinds := []umpire.EventKind{
		umpire.EventBatchSubmitted, umpire.EventPermissionAsked, umpire.EventPermissionApproved, umpire.EventPermissionRejected,
		umpire.EventBatchResumed, umpire.EventCallStarted, umpire.EventCallFinished, umpire.EventCallIndeterminate,
		umpire.EventBatchCancelled, umpire.EventBatchFinished, umpire.EventBatchDelivered, umpire.EventPermissionBypassedByRule,
		umpire.EventTrialStarted, umpire.EventTrialRan, umpire.EventEffectsKept, umpire.EventEffectsDiscarded,
		umpire.EventEffectsConflicted,
	}
	for i, text := range []string{
		`{"lane":"l","turn":1,"calls":[{"call_id":"c1","tool":"Bash","args_hash":"h","state":"asked","verdict":"ask"},{"call_id":"c2","state":"denied"}]}`,
		`{"version":1}`, ``, `null`, `{"epoch":1}`, `{"attempt":1,"runner":"r","epoch":3}`, `{"status":"ok","output":"x","size":1}`, `{"version":2}`, `{}`, `[]`, `"x"`, `}`, `{"trial_id":"t"}`,
	} {
		f.Add(uint8(i), "c1", "q1", []byte(text))
	}
	f.Fuzz(func(t *testing.T, kind uint8, call, request string, data []byte) {
		e := about(kinds[int(kind)%len(kinds)], umpire.CallID(call), umpire.RequestID(request), nil)
		e.Data = data
		for i, h := range fuzzed(t) {
			fits, err := h.take(e)
			if err == nil {
				err = h.replays()
			}
			if err != nil {
				t.Fatalf("batch %d: %v", i, err)
			}
			if again, _ := h.take(e); fits && again && e.Kind == umpire.EventBatchSubmitted {
				t.Fatalf("batch %d was submitted twice", i)
			}
		}
	})
}

// A canonical form has the same meaning, results from every spelling, and is its own
// canonical form.
func FuzzCanonical(f *testing.F) {
	for _, text := range []string{
		``, `{}`, `null`, `{"b":1,"a":[1.0,"é\ud83d\ude00",-0,1e400]}`, `{"a":1,"a":2}`, `{"a":1}}`, `"\ud800"`, "\"\xff\"", `{"a":"\\ud800"}`,
		`{"command":"git log && ls <x >y"}`, strings.Repeat("[", 200) + strings.Repeat("]", 200),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		kept := bytes.Clone(input)
		canonical, err := Canonical(input)
		if !bytes.Equal(kept, input) {
			t.Fatal("the input changed")
		}
		if err != nil {
			if !errors.Is(err, umpire.ErrInvalid) || canonical != nil {
				t.Fatalf("%s, %v", canonical, err)
			}
			return
		}
		again, err := Canonical(canonical)
		if err != nil || !bytes.Equal(again, canonical) {
			t.Fatalf("%s became %s, %v", canonical, again, err)
		}
		if len(bytes.TrimSpace(input)) == 0 {
			return
		}
		if !reflect.DeepEqual(decoded(t, input), decoded(t, canonical)) { // go-cmp takes 2^depth steps in nested lists
			t.Fatalf("%s means something else", canonical)
		}
		var wide bytes.Buffer
		if err := json.Indent(&wide, input, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		if hash(t, "x", wide.String()) != hash(t, "x", string(input)) {
			t.Fatalf("blanks matter in %s", input)
		}
	})
}

func decoded(t *testing.T, text []byte) (value any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}
