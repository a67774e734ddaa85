package rulefile

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tailscale/hujson"

	"github.com/umpirehq/umpire"
)

const docs = "../../docs/"

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(docs + "rules.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	plain, err := hujson.Standardize([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// faultless reports whether a text loads without a remark.
func faultless(text string) bool {
	doc, problem := parseFile(Layer{Source: umpire.SourceUser}, []byte(text), testOptions())
	return problem == nil && len(doc.problems) == 0 && len(doc.remarks) == 0
}

// The schema and the loader accept and reject the same files.
func TestSchema(t *testing.T) {
	t.Parallel()
	s := schema(t)
	for _, text := range []string{
		emptyFile, `{"version": 1}`, rulesFile(allowTests, denyLocks, askFetch), `{"$schema": "x", "version": 1, "rules": []}`,
		rulesFile(`{"action": "allow", "tool": "mcp__github__*", "expires_at": "2027-01-01T00:00:00Z", "description": "d", "examples": {"match": ["x"], "not_match": []}}`),
		rulesFile(`{"action": "deny", "tool": "Bash", "match": {"command": "git push"}}`, `{"action": "allow", "tool": "Edit", "max_consequence": "reversible"}`),
		rulesFile(`{"action": "allow", "tool": "Bash", "match": {"commandPrefix": "git"}, "max_consequence": "lost", "options": "shown"}`),
		`{"version": 1, "hooks": {"PreToolUse": [{"id": "h1", "toolMatch": "Edit", "command": "./check.sh", "timeout": 5000, "onFailure": "block"}]}}`,
	} {
		if err := validate(t, s, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if !faultless(text) {
			t.Errorf("%s: right for the schema, wrong for the loader", text)
		}
	}
	for _, text := range []string{
		`[]`, `{}`, `{"version": 2}`, `{"version": "1"}`, `{"version": 1, "rules": {}}`,
		rulesFile(`7`), rulesFile(`{"tool": "Bash"}`), rulesFile(`{"action": "allow"}`), rulesFile(`{"action": "permit", "tool": "Bash"}`),
		rulesFile(`{"action": "allow", "tool": ""}`), rulesFile(`{"action": "allow", "tool": "Bash(x)"}`),
		rulesFile(`{"action": "allow", "tool": "Bash", "match": "x"}`), rulesFile(`{"action": "allow", "tool": "Bash", "match": {"prefix": "x"}}`),
		rulesFile(`{"action": "allow", "tool": "Bash", "match": {"commandPrefix": ""}}`), rulesFile(`{"action": "allow", "tool": "Bash", "match": {"domain": 1}}`),
		rulesFile(`{"action": "allow", "tool": "Bash", "examples": ["x"]}`), rulesFile(`{"action": "allow", "tool": "Bash", "examples": {"match": [1]}}`),
		rulesFile(`{"action": "allow", "tool": "Bash", "expires_at": "tomorrow"}`), rulesFile(`{"action": "allow", "tool": "Bash", "id": 1}`),
		rulesFile(`{"action": "allow", "tool": "Bash", "match": {"command": ""}}`), rulesFile(`{"action": "allow", "tool": "Bash", "max_consequence": "bad"}`),
		rulesFile(`{"action": "allow", "tool": "Bash", "match": {"command": "x"}, "options": "all"}`), rulesFile(`{"action": "allow", "tool": "Bash", "match": {"command": "x"}, "options": ""}`),
		rulesFile(`{"action": "allow", "tool": "Bash", "options": "shown"}`), rulesFile(`{"action": "allow", "tool": "Bash", "match": {"command": "x", "commandPrefix": "x"}}`),
		rulesFile(`{"action": "deny", "tool": "Bash", "max_consequence": "none"}`),
	} {
		if err := validate(t, s, text); err == nil {
			t.Errorf("%s: right for the schema", text)
		}
		if faultless(text) {
			t.Errorf("%s: wrong for the schema, right for the loader", text)
		}
	}
}

// Every example in the documentation is right, and the documentation names
// every key.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	s, page := schema(t), ""
	for _, name := range []string{"rules.md", "rule-files.md"} {
		data, err := os.ReadFile(docs + name)
		if err != nil {
			t.Fatal(err)
		}
		page += string(data)
	}
	blocks := regexp.MustCompile("(?s)```(jsonc?|yaml)\n(.*?)```").FindAllStringSubmatch(page, -1)
	seen := map[string]int{}
	for _, block := range blocks {
		text, format := block[2], FormatUmpire
		switch {
		case block[1] == "yaml":
			format = FormatClaudeYAML
		case strings.Contains(text, `"permissions"`):
			format = FormatClaudeSettings
		default:
			if err := validate(t, s, text); err != nil {
				t.Errorf("%s\n%v", text, err)
			}
		}
		seen[format.String()]++
		doc, problem := parseFile(Layer{Source: umpire.SourceProject, Format: format}, []byte(text), testOptions())
		if problem != nil || len(doc.problems)+len(doc.remarks) != 0 || len(doc.rules) == 0 {
			t.Errorf("%s\n%v %+v", text, problem, doc)
		}
	}
	if len(seen) != 3 {
		t.Errorf("formats shown: %v", seen)
	}
	for _, keys := range [][]string{topKeys[1:], ruleKeys, matchKeys, exampleKeys, hookEvents, hookKeys, yamlTopKeys, yamlEntryKeys} {
		for _, key := range keys {
			if !strings.Contains(page, "`"+key+"`") {
				t.Errorf("key %q is not described", key)
			}
		}
	}
}

// The writer's output is valid under the schema.
func TestSchemaOfWritten(t *testing.T) {
	t.Parallel()
	l := userLayer(t, emptyFile)
	if _, err := (Writer{Check: testCheck}).Add(l, npm("test")); err != nil {
		t.Fatal(err)
	}
	text := contentOf(t, l.Path)
	if err := validate(t, schema(t), text); err != nil {
		t.Error(err)
	}
	if !json.Valid([]byte(text)) {
		t.Error("a new file is not plain JSON")
	}
}
