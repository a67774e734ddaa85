package docedit

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

type decoded struct {
	Text    string                `key:"text"`
	On      bool                  `key:"on"`
	Count   *int64                `key:"count"`
	Wait    time.Duration         `key:"wait"`
	Mode    umpire.Mode           `key:"mode"`
	List    []string              `key:"list"`
	Servers map[string]decoded    `key:"servers"`
	Events  map[umpire.RuleID]int `key:"events"`
	Words   []string              `key:"words,words"`
	Any     *Value                `key:"any"`
	own     int
}

func TestDecode(t *testing.T) {
	t.Parallel()
	want := decoded{
		Text: "12", On: true, Count: new(int64), Wait: 90 * time.Second, Mode: umpire.ModePlan, List: []string{"a", "true"},
		Servers: map[string]decoded{"x": {Text: "y", List: []string{}}}, Events: map[umpire.RuleID]int{"e": 16}, own: 1,
	}
	*want.Count = 1000
	got := decoded{List: []string{"before"}, own: 1}
	want.Words = []string{"a", "b", "1"}
	text := "{words: a b  1, any: [x], text: 12, on: yes, count: 1_000, wait: 90s, mode: plan, list: [a, true], servers: {x: {text: 'y', list: []}}, events: {e: 0x10}}"
	if err := open(t, YAML, text).Root.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Any.Items[0].Text != "x" {
		t.Errorf("any: %+v", got.Any)
	}
	got.Any = nil
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(decoded{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := open(t, YAML, "{text: , list: , count: , servers: }").Root.Decode(&got); err != nil || got.Text != "12" || got.List != nil || got.Count != nil || got.Servers != nil {
		t.Errorf("nulls: %+v, %v", got, err)
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	const known = "; want one of text, on, count, wait, mode, list, servers, events, words, any"
	for text, want := range map[string]string{
		"a: 1":                              `line 1, column 1: unknown key "a"` + known,
		"text: a\nservers:\n  x:\n    b: 1": `line 4, column 5: servers.x: unknown key "b"` + known,
		"servers: {x: {tex: 1}}":            `line 1, column 15: servers.x: unknown key "tex"; did you mean "text"?`,
		"'': 1":                             `line 1, column 1: unknown key ""` + known,
		"text: a\ntext: b":                  `line 2, column 1: duplicate key "text"`,
		"servers: {a: {}, a: {}}":           `line 1, column 18: servers: duplicate key "a"`,
		"text: [a]":                         "line 1, column 7: text: want a string, not a list",
		"list: a":                           "line 1, column 7: list: want a list, not a string",
		"list: [a, {b: c}]":                 "line 1, column 11: list[1]: want a string, not an object",
		"servers: [a]":                      "line 1, column 10: servers: want an object, not a list",
		"on: maybe":                         "line 1, column 5: on: want true or false, not a string",
		"on: 1":                             "line 1, column 5: on: want true or false, not a number",
		"count: 1.5":                        "line 1, column 8: count: want a whole number",
		"count: '1'":                        "line 1, column 8: count: want a whole number",
		"count: 9999999999999999999":        "line 1, column 8: count: want a whole number",
		"wait: soon":                        "line 1, column 7: wait: want a duration such as 90s or 10m",
		"wait: [1s]":                        "line 1, column 7: wait: want a duration such as 90s or 10m",
		"mode: none":                        `line 1, column 7: mode: `,
		"mode: [plan]":                      "line 1, column 7: mode: want a string, not a list",
		"words: [a, b c]":                   "line 1, column 8: words: want words without spaces",
	} {
		if err := open(t, YAML, text).Root.Decode(&decoded{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	// JSON tells texts from numbers.
	if err := open(t, JSON, `{"text": 12}`).Root.Decode(&decoded{}); err == nil {
		t.Error("a number is a text")
	}
}
