package store_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// TestChainIsCanonical pins the hashed bytes, so others can verify a chain with a few
// lines of code.
func TestChainIsCanonical(t *testing.T) {
	t.Parallel()
	e := umpire.Event{
		Seq: 7, At: time.Date(2026, 1, 2, 5, 4, 5, 123456789, time.FixedZone("", 7200)), Kind: umpire.EventNotice, Session: "s",
		Verdict: new(umpire.Ask), Data: json.RawMessage(`{"z": 1.0, "a": [true, {"y": 1, "x": "é"}]}`), PrevHash: "p", Hash: "h",
	}
	const text = `{"at":"2026-01-02T03:04:05.123456Z","data":{"a":[true,{"x":"é","y":1}],"z":1.0},"kind":"Notice","session_id":"s","verdict":"ask"}`
	sum := sha256.Sum256([]byte("p" + text))
	got, err := store.Chain("p", e)
	if want := hex.EncodeToString(sum[:]); err != nil || got != want {
		t.Errorf("Chain = %q, %v, want %q", got, err, want)
	}
	e.Data = json.RawMessage(`{`)
	if _, err := store.Chain("p", e); err == nil {
		t.Error("an event whose data is no JSON has a hash")
	}
}

// TestChainCoversEveryField checks that all fields of an event are hashed in their public
// form, except for the three that follow from its place.
func TestChainCoversEveryField(t *testing.T) {
	t.Parallel()
	e := umpire.Event{
		Seq: 1, At: time.Unix(1, 0).UTC(), Kind: "k", Project: "p", Session: "s", Batch: "b", Call: "c", Request: "r", Agent: "a", Tool: "t",
		State: "st", Type: "ty", Risk: "ri", Blocked: &umpire.Blocked{Code: "co", Detail: "<d>"}, Verdict: new(umpire.Ask), Reason: "re", Code: "cd",
		Rule: "ru", Scope: new(umpire.ScopeProject), Actor: "ac", Accesses: []umpire.Access{{Kind: umpire.KindRead, Target: "/x"}},
		Data: json.RawMessage(`{"z":1,"a":2}`), PrevHash: "ph", Hash: "h",
	}
	if v := reflect.ValueOf(e); v.NumField() > 0 {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("the test says nothing of field %s", v.Type().Field(i).Name)
			}
		}
	}
	written, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(written))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"seq", "prev_hash", "hash"} {
		delete(fields, name)
	}
	sorted, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(append([]byte("ph"), sorted...))
	if got, err := store.Chain("ph", e); err != nil || got != hex.EncodeToString(sum[:]) {
		t.Errorf("Chain = %q, %v, and hashing every field by name gives another one", got, err)
	}
}

// chained makes a timeline of several streams.
func chained(t testing.TB, sessions ...umpire.SessionID) (events []umpire.Event) {
	t.Helper()
	last := map[umpire.SessionID]string{}
	for i, s := range sessions {
		e := umpire.Event{Seq: int64(10 * (i + 1)), At: time.Unix(int64(i), 0).UTC(), Kind: umpire.EventNotice, Session: s, Reason: "why", PrevHash: last[s]}
		hash, err := store.Chain(e.PrevHash, e)
		if err != nil {
			t.Fatal(err)
		}
		e.Hash, last[s] = hash, hash
		events = append(events, e)
	}
	return events
}

func walk(events []umpire.Event) iter.Seq2[umpire.Event, error] {
	return func(yield func(umpire.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestVerifyFindsEveryChange(t *testing.T) {
	t.Parallel()
	whole := chained(t, "s", "t", "s", "", "s", "t", "")
	if breaks, err := store.Verify(walk(whole)); err != nil || len(breaks) > 0 {
		t.Fatalf("Verify of a whole timeline: %v, %v", breaks, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		events := slices.Clone(whole)
		i := rapid.IntRange(0, len(events)-1).Draw(t, "event")
		e := &events[i]
		switch rapid.IntRange(0, 6).Draw(t, "change") {
		case 0:
			e.Reason += "!"
		case 1:
			e.At = e.At.Add(time.Microsecond)
		case 2:
			e.Verdict = new(umpire.Allow)
		case 3:
			e.Session += "x"
		case 4:
			e.Data = json.RawMessage(`{}`)
		case 5:
			e.Hash = strings.Repeat("0", 64)
		case 6:
			e.PrevHash = strings.Repeat("0", 64)
		}
		breaks, err := store.Verify(walk(events))
		if err != nil || !slices.ContainsFunc(breaks, func(b store.Break) bool { return b.Seq == e.Seq }) {
			t.Errorf("Verify after a change of event %d: %v, %v", e.Seq, breaks, err)
		}
	})
}

func TestVerifyFindsMissingEvents(t *testing.T) {
	t.Parallel()
	whole := chained(t, "s", "t", "s", "t", "s", "t")
	for i := range len(whole) - 2 { // the last one of each stream cannot be detected
		breaks, err := store.Verify(walk(slices.Delete(slices.Clone(whole), i, i+1)))
		if err != nil || len(breaks) != 1 || breaks[0].Seq != whole[i+2].Seq {
			t.Errorf("without event %d: %v, %v, want a break at %d", whole[i].Seq, breaks, err, whole[i+2].Seq)
		}
	}
	swapped := slices.Clone(whole)
	swapped[0], swapped[2] = swapped[2], swapped[0]
	if breaks, err := store.Verify(walk(swapped)); err != nil || len(breaks) < 2 {
		t.Errorf("two events in the wrong order: %v, %v", breaks, err)
	}
}
