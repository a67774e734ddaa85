package umpire_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// D-34: extra fields from a tool's own check appear next to the gate's fields but never replace
// one, even if the gate omits its own, and whatever their case. Otherwise an agent could show
// the person a different question from the one it asks.
func TestExtraFieldsAreNoFieldsOfTheGate(t *testing.T) {
	t.Parallel()
	claim := json.RawMessage(`"claimed"`)
	extra := map[string]json.RawMessage{"customMeta": claim}
	for field := range reflect.TypeFor[umpire.Pending]().Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "-" {
			extra[name], extra[strings.ToUpper(name)], extra[strings.ReplaceAll(name, "s", "ſ")] = claim, claim, claim
		}
	}
	text, err := json.Marshal(umpire.Pending{Request: "q", Extra: extra})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "claimed"); n != 1 {
		t.Errorf("%d of %d claims are in %s", n, len(extra), text)
	}
	var read umpire.Pending
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if names := slices.Collect(maps.Keys(read.Extra)); !slices.Equal(names, []string{"customMeta"}) {
		t.Errorf("read as extra fields: %v", names)
	}
}
