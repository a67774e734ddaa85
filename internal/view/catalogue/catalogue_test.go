package catalogue

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

var codeForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// TestCodesFit: every line is a code of older versions with its text, in order.
func TestCodesFit(t *testing.T) {
	t.Parallel()
	before, count := "", 0
	for line := range strings.Lines(codes) {
		code, text, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !found || text == "" || !codeForm.MatchString(code) || strings.Contains(text, "\t") {
			t.Errorf("%q is not a code and its text", line)
		}
		if code <= before {
			t.Errorf("%q stands after %q", code, before)
		}
		before = code
		count++
		if got := English.Text(umpire.Phrase(code)); got != text {
			t.Errorf("%s is looked up as %q", code, got)
		}
	}
	if count != 1468 {
		t.Errorf("%d codes: the table is frozen", count)
	}
}

// TestIn: what goes out says texts, and what it was made of stays as it was.
func TestIn(t *testing.T) {
	t.Parallel()
	type outer struct {
		Decision *umpire.Decision          `json:"decision"`
		Events   map[string][]umpire.Event `json:"events"`
		Any      any                       `json:"any"`
		Nothing  *umpire.Event             `json:"nothing"`
	}
	safe := umpire.Say("Denied by rule: %s", "safe")
	value := outer{
		Decision: &umpire.Decision{Reason: safe, Reasons: []umpire.Reason{{Text: safe}}, Accesses: []umpire.Access{{Doubt: safe}}},
		Events:   map[string][]umpire.Event{"a": {{Reason: safe, Blocked: &umpire.Blocked{Detail: safe}}}},
		Any:      umpire.Reason{Text: safe},
	}
	before, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(In(English, value))
	if err != nil || strings.Contains(string(got), string(safe)) ||
		strings.Count(string(got), "Denied by rule: safe") != 6 {
		t.Errorf("%v %s", err, got)
	}
	if after, _ := json.Marshal(value); string(after) != string(before) {
		t.Errorf("the value became %s", after)
	}
}

// TestInEvent: what a batch's submission says of its calls is in its data, whose form stays.
func TestInEvent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind       umpire.EventKind
		data, want string
	}{
		{umpire.EventBatchSubmitted,
			`{"lane":"l","turn":4,"calls":[{"call_id":"c","tool":"Bash","args_hash":"h","background":true,` +
				`"effect":"pure","state":"asked","verdict":"ask","reason":"outside-the-project(\"/a\")","reason_code":"mode",` +
				`"took_us":7},{"call_id":"d","tool":"Read","args_hash":"h","state":"approved","verdict":"allow"}]}`,
			`{"lane":"l","turn":4,"calls":[{"call_id":"c","tool":"Bash","args_hash":"h","background":true,` +
				`"effect":"pure","state":"asked","verdict":"ask","reason":"Path is outside the project: \"/a\"","reason_code":"mode",` +
				`"took_us":7},{"call_id":"d","tool":"Read","args_hash":"h","state":"approved","verdict":"allow"}]}`},
		{umpire.EventBatchSubmitted, `{"of":"another form"}`, `{"of":"another form"}`},
		{umpire.EventBatchSubmitted, `{"calls":[{"reason":1}]}`, `{"calls":[{"reason":1}]}`},
		{umpire.EventModeChanged, `{"reason":"tool-is-safe"}`, `{"reason":"tool-is-safe"}`},
	} {
		e := umpire.Event{Kind: tt.kind, Data: json.RawMessage(tt.data)}
		if got := In(English, []umpire.Event{e}); string(got[0].Data) != tt.want || string(e.Data) != tt.data {
			t.Errorf("%s became\n%s, want\n%s", tt.data, got[0].Data, tt.want)
		}
	}
}

func BenchmarkText(b *testing.B) {
	said := umpire.Say("Cannot be judged: %s", umpire.Say("%s is not a program that is known", "nosuch"))
	b.ReportAllocs()
	for b.Loop() {
		English.Text(said)
	}
}
