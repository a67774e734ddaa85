package rulefile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

// Whatever a file says, reading it ends, and a rule that allows has been
// checked. Editing it changes one rule and nothing else.
func FuzzParse(f *testing.F) {
	for format, texts := range map[Format][]string{
		FormatUmpire: {
			rulesFile(allowTests, denyLocks, askFetch), `{"version": 1, "rules": [{"action": "allow"}, 7,],} // x`,
			"\xef\xbb\xbf{\"version\":1}", `{"version": 1, "rules": [/* a */]}`, "{\"version\": 1, // }\n\"rules\": []}",
		},
		FormatClaudeYAML:     {"always_deny:\n- tool: Bash\n  commands: [\"rm *\", a*b]\n", "a: &a [*a]"},
		FormatClaudeSettings: {`{"permissions": {"deny": ["Bash(a*)", "Read(/x/)", "Edit", "mcp__a", "(", "Bash("]}}`},
	} {
		for _, text := range texts {
			f.Add(uint8(format), []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, data []byte) {
		l := Layer{Source: umpire.SourceUser, Path: "f", Format: Format(format % 5)}
		doc, problem := parseFile(l, data, testOptions())
		if (doc == nil) == (problem == nil) {
			t.Fatalf("document %v, problem %v", doc, problem)
		}
		if problem != nil {
			if strings.ContainsAny(problem.Error(), "\x00\x1b\n") {
				t.Fatalf("problem %q", problem.Error())
			}
			return
		}
		for _, r := range doc.rules {
			if r.Source != umpire.SourceUser || r.ID == "" || (r.Action == umpire.Allow && (r.Tool == "" && l.Format == FormatUmpire || testCheck(r) != nil)) {
				t.Fatalf("rule %+v", r)
			}
		}
		if l.Format == FormatUmpire {
			fuzzEdit(t, l, data, doc)
		}
	})
}

func fuzzEdit(t *testing.T, l Layer, data []byte, doc *document) {
	e, err := newEdit(l.Path, bytes.Clone(data))
	if err != nil {
		t.Fatalf("understood, but not to be changed: %v", err)
	}
	r := npm("fuzz")
	r.ID, _ = freeID("fuzz", 1, e.has)
	added, err := e.addRule(r)
	if err != nil {
		t.Fatal(err)
	}
	more, problem := parseFile(l, added, testOptions())
	if problem != nil || len(more.rules) != len(doc.rules)+1 || more.rules[len(doc.rules)].ID != r.ID {
		t.Fatalf("added: %v\n%s", problem, added)
	}
	again, err := newEdit(l.Path, added)
	if err != nil {
		t.Fatal(err)
	}
	less, problem := parseFile(l, again.remove(again.findRule(r.ID)), testOptions())
	if problem != nil {
		t.Fatalf("removed: %v", problem)
	}
	if diff := cmp.Diff(brief(doc.rules), brief(less.rules)); diff != "" {
		t.Fatalf("added and removed:\n%s", diff)
	}
}

func BenchmarkLoad10000(b *testing.B) {
	lines := make([]string, 10_000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"id": "r%d", "action": "allow", "tool": "Bash", "match": {"commandPrefix": "tool-%d run"}}`, i, i)
	}
	l := userLayer(b, rulesFile(lines...))
	b.ReportAllocs()
	for b.Loop() {
		if set := Load([]Layer{l}, nil, testOptions()); len(set.Rules) != len(lines) {
			b.Fatal(len(set.Rules))
		}
	}
}
