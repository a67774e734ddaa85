package rulefile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
)

// For any input, parsing ends, and all allow rules have been checked. An edit changes
// one rule and nothing else.
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
			sameAsTree(t, l, data)
			fuzzEdit(t, l, data, doc)
		}
	})
}

// sameAsTree compares the reader of plain files with the one for all files.
func sameAsTree(t *testing.T, l Layer, data []byte) (plain bool) {
	t.Helper()
	quick, slow := &reader{layer: l, check: testCheck, keep: true}, &reader{layer: l, check: testCheck, keep: true}
	if !quick.readPlain(data) {
		return false
	}
	if err := slow.readTree(data); err != nil {
		t.Fatalf("a plain file with a problem: %v\n%s", err, data)
	}
	if diff := cmp.Diff(slow.said(), quick.said(), cmp.AllowUnexported(document{}, named{})); diff != "" {
		t.Fatalf("read otherwise than as a tree:\n%s\n%s", diff, data)
	}
	return true
}

// TestCommentsHideNoRule: a comment cannot hide a rule that some editors show on a separate line.
func TestCommentsHideNoRule(t *testing.T) {
	t.Parallel()
	for _, separator := range []string{"\u2028", "\u2029"} {
		text := rulesFile(allowTests, "// the locks"+separator+denyLocks+"\n"+askFetch)
		_, problem := parseFile(Layer{Source: umpire.SourceUser, Path: "f"}, []byte(text), testOptions())
		if problem == nil {
			t.Errorf("a file with %q in a comment is read without a problem", separator)
		}
	}
}

// said returns all results of a reader.
func (r *reader) said() any { return []any{r.doc, r.read, r.ids} }

// TestPlainFilesAreReadAsTrees: the one-pass reader for files without faults gives the same result. The
// files are random combinations of pieces, so most of them have a fault.
func TestPlainFilesAreReadAsTrees(t *testing.T) {
	t.Parallel()
	whole := rulesFile(allowTests, denyLocks, askFetch, `{"id": "a", "action": "allow", "tool": "Bash", // x
		"description": "\"\\u00e4\"", "match": {"command": "git \"x\""}, "expires_at": "2027-01-01T00:00:00Z", /* y */
		"max_consequence": "none", "options": "shown", "examples": {"match": ["git x", "a"], "not_match": []},}`,
		`{"id": "a", "action": "allow", "tool": "Bash", "match": {"commandPrefix": "bad"}}`, `{"action": "deny", "tool": "LS"}`,
		`{"action": "deny", "tool": "LS"}`)
	if !sameAsTree(t, Layer{Source: umpire.SourceUser, Path: "f"}, []byte(whole)) {
		t.Fatal("a file without faults is read as a tree")
	}
	rapid.Check(t, func(r *rapid.T) {
		text := []byte(whole)
		for range rapid.IntRange(0, 3).Draw(r, "changes") {
			from := rapid.IntRange(0, len(text)).Draw(r, "from")
			to := min(len(text), from+rapid.IntRange(0, 12).Draw(r, "length"))
			piece := rapid.SampledFrom([]string{
				"", " ", ",", "\"", "\\", "{", "}", "[", "]", "//", "/* */", "\n", `"tool": "LS", `, `"id": "", `, "1", "\x00", "\xff", "null",
				`"hooks": {}, `, `{"action": "ask", "tool": "Read"},`, `"unknown": 1,`, `"match": {},`, string(text[from:to]),
				"//\u2028\n", "/*\u2029*/",
			}).Draw(r, "piece")
			text = slices.Concat(text[:from], []byte(piece), text[to:])
		}
		sameAsTree(t, Layer{Source: umpire.SourceUser, Path: "f"}, text)
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
	removed, err := again.remove(again.findRule(r.ID))
	if err != nil {
		t.Fatal(err)
	}
	// A list that the edit has made stays.
	if _, listed := e.list(); listed && !bytes.Equal(data, removed) {
		t.Fatalf("added and removed:\n%s", cmp.Diff(string(data), string(removed)))
	}
	less, problem := parseFile(l, removed, testOptions())
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
