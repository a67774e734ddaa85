package judge

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// yamlSamples are files that are read, and the stuff of which others are made.
var yamlSamples = []string{
	"version: '3'\ntasks:\n  test: go test ./...\n  lint:\n    desc: \"a b\" # c\n    cmds:\n      - gofmt -l .\n      - task: vet\n        silent: true\n  vet:\n    deps: [a, b:c]\n    cmd: go vet ./...\n",
	"---\ntasks:\n  a:\n  - x\n  - cmd: y # z\n  'b c':\n    cmds:\n    - |\n      one\n        two\n\n      # three\n    - last\n# end\n  c: |-\n    text\n",
	"a: -x\nb: \"it's\"\nc: 'a: b'\nd: []\ne:\nf: a#b # c\n",
	"a: [ go test ./..., \"x, [y]\" , 'z' ] # c\nb: [a:b,]\n",
}

// hostileYAML means something else to a reader that takes it line by line.
var hostileYAML = []string{
	"a: x\n  y\n", "a: &b x\n", "a: *b\n", "a: !!str x\n", "a: {b: c}\n", "<<: x\n", "'<<': x\n", "a: \"x\\n\"\n", "a: >\n  x\n", "a: |2\n   x\n", "a: |+\n  x\n\n", "? a\n: b\n",
	"a: x\na: y\n", "a: b: c\n", "a: b:\n", "a: x\n---\nb: y\n", "a: x\n...\nb: y\n", "%YAML 1.2\n---\na: x\n", "a:\tx\n", "a: \"x\n  y\"\n", "a: 'x\n  y'\n", "a: [x,\n  y]\n", "a: [x: y]\n",
	"- x\n", "x\n", "a: ~\n", "a: null\n", "null: x\n", "a: x\r\n", "a: x\u0085b: y\n", "a: x\u2028b: y\n", "\ufeffa: x\n", "a: 'x' y\n", "a: \"x\"#y\n", "a: ''''\n", "a: - x\n", "a:\n  - - x\n", "a:\n  -\n    x\n",
	"  a: x\n", "a:\n    b: x\n  c: y\n", "a:\n  - x\n  b: y\n", "a:\n  b: x\n  - y\n", "a: @x\n", "a: `x`\n", "a: |\n\n  x\n", "a: |\n", "a: |\n  x\n y\n", "a: x\n b: y\n", "a: 'it''s'\n",
}

// decoded is a value as the whole reader of YAML shows it.
func decoded(v value) any {
	switch {
	case v.text != nil:
		return *v.text
	case v.list != nil:
		out := []any{}
		for _, one := range v.list {
			out = append(out, decoded(one))
		}
		return out
	case v.fields != nil:
		out := map[string]any{}
		for name, one := range v.fields {
			out[name] = decoded(one)
		}
		return out
	}
	return nil
}

// nodeOf returns the value according to the full YAML parser, with texts as written.
func nodeOf(n *yaml.Node) any {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Value == "":
		return nil
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		return n.Value
	case n.Kind == yaml.SequenceNode:
		out := []any{}
		for _, one := range n.Content {
			out = append(out, nodeOf(one))
		}
		return out
	case n.Kind == yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = nodeOf(n.Content[i+1])
		}
		return out
	case n.Kind == yaml.DocumentNode:
		return nodeOf(n.Content[0])
	}
	return n.Kind
}

// agrees checks that the parsed value means the same to the full parser, and reports whether
// anything was parsed.
func agrees(t *testing.T, text string) bool {
	t.Helper()
	v, err := parseYAML(text)
	if err != nil {
		return false
	}
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Errorf("%q: is read, and is not YAML: %v", text, err)
		return true
	}
	if diff := cmp.Diff(nodeOf(&n), decoded(v)); diff != "" {
		t.Errorf("%q:\n%s", text, diff)
	}
	return true
}

func TestYAML(t *testing.T) {
	t.Parallel()
	for _, text := range yamlSamples {
		if !agrees(t, text) {
			t.Errorf("%q: is not read", text)
		}
	}
	for _, text := range hostileYAML {
		if agrees(t, text) {
			t.Errorf("%q: is read", text)
		}
	}
}

// TestYAMLMeansTheSame changes files at random: every file that is still parsed means the same to
// the full parser.
func TestYAMLMeansTheSame(t *testing.T) {
	t.Parallel()
	parts := strings.SplitAfter(strings.Join(append(yamlSamples, hostileYAML...), ""), "\n")
	bits := []string{" ", "  ", "\n", "- ", ": ", ":", "#", " #", "'", `"`, "|", "|-", "[", "]", ",", "&", "*", "!", "{", "}", ">", "%", "?", "~", "a", "\\", "-", "---", "null", "x: "}
	dice, read := rand.New(rand.NewPCG(1, 2)), 0
	for range 40_000 {
		text := ""
		if dice.IntN(2) == 0 {
			text = yamlSamples[dice.IntN(len(yamlSamples))]
		} else {
			for range 1 + dice.IntN(5) {
				text += parts[dice.IntN(len(parts))]
			}
		}
		for range dice.IntN(4) {
			from := dice.IntN(len(text) + 1)
			to := min(from+dice.IntN(3), len(text))
			text = text[:from] + bits[dice.IntN(len(bits))] + text[to:]
		}
		if agrees(t, text) {
			read++
		}
		if t.Failed() {
			return
		}
	}
	if read < 2000 {
		t.Errorf("only %d files were read", read)
	}
}
