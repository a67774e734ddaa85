package rulefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/umpirehq/umpire"
)

// maxYAMLSize bounds YAML files, which take far longer to read than JSON.
const maxYAMLSize = 256 << 10

// yamlActions are the lists of the YAML format.
var yamlActions = map[string]umpire.Verdict{
	"always_allow": umpire.Allow, "always_deny": umpire.Deny, "always_ask": umpire.Ask,
}

var (
	yamlTopKeys   = []string{"always_allow", "always_deny", "always_ask"}
	yamlEntryKeys = []string{"tool", "paths", "commands"}
)

// readYAML reads the lists always_allow, always_deny and always_ask, whose
// entries name a tool and the paths or the commands that are meant.
func (r *reader) readYAML(data []byte) *Problem {
	top, problem := r.yamlTop(data)
	if problem != nil || top == nil {
		return problem
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, list := top.Content[i], top.Content[i+1]
		action, known := yamlActions[key.Value]
		switch {
		case !known:
			r.remark(r.yamlAt(key), unknownKey(key.Value, yamlTopKeys))
			continue
		case seen[key.Value]:
			return r.yamlProblem(key, fmt.Sprintf("key %q stands twice", key.Value))
		case list.Kind == yaml.ScalarNode && list.Tag == "!!null":
			continue
		case list.Kind != yaml.SequenceNode:
			return r.yamlProblem(list, key.Value+": want a list")
		}
		seen[key.Value] = true
		for _, item := range list.Content {
			r.yamlEntry(action, item)
			if len(r.doc.rules) > maxRules {
				return r.yamlProblem(item, fmt.Sprintf("more than %d rules", maxRules))
			}
		}
	}
	return nil
}

// yamlTop returns the mapping that a file consists of, or nil for an empty one.
func (r *reader) yamlTop(data []byte) (*yaml.Node, *Problem) {
	if len(data) > maxYAMLSize {
		return nil, &Problem{File: r.layer.Path, Text: fmt.Sprintf("larger than %d bytes", maxYAMLSize)}
	}
	if !utf8.Valid(data) {
		src := &source{path: r.layer.Path, data: data}
		return nil, src.problem(invalidUTF8(data), "invalid UTF-8")
	}
	var document, second yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, &Problem{File: r.layer.Path, Text: escapeControl(err.Error())}
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, &Problem{File: r.layer.Path, Text: "more than one document"}
	}
	if alias := findAlias(&document, 0); alias != nil {
		return nil, r.yamlProblem(alias, "aliases and deep nesting are not read here")
	}
	top := document.Content[0]
	switch {
	case top.Kind == yaml.ScalarNode && top.Tag == "!!null":
		return nil, nil
	case top.Kind != yaml.MappingNode:
		return nil, r.yamlProblem(top, "want a mapping")
	}
	return top, nil
}

// findAlias returns an alias node, or one that is nested too deeply. A few lines of
// aliases can expand to gigabytes.
func findAlias(n *yaml.Node, depth int) *yaml.Node {
	if n.Kind == yaml.AliasNode || depth > maxDepth {
		return n
	}
	for _, child := range n.Content {
		if found := findAlias(child, depth+1); found != nil {
			return found
		}
	}
	return nil
}

func (r *reader) yamlAt(n *yaml.Node) Problem {
	return Problem{File: r.layer.Path, Line: n.Line, Column: n.Column}
}

func (r *reader) yamlProblem(n *yaml.Node, text string) *Problem {
	p := r.yamlAt(n)
	p.Text = escapeControl(text)
	return &p
}

// yamlEntry reads one entry, which produces one rule per path or command, or one for
// the whole tool.
func (r *reader) yamlEntry(action umpire.Verdict, n *yaml.Node) {
	e := entry{rule: umpire.Rule{Action: action}, at: r.yamlAt(n)}
	paths, commands := r.yamlFields(&e, n)
	if e.err == nil && e.rule.Tool == "" {
		e.err = errors.New("tool is missing")
	}
	if e.err != nil || (paths == nil && commands == nil) {
		r.admit(e)
		return
	}
	for _, p := range paths {
		one := e
		one.at = r.yamlAt(p)
		r.admitPath(one, p.Value)
	}
	for _, c := range commands {
		one := e
		one.at = r.yamlAt(c)
		r.admitCommand(one, c.Value)
	}
}

// yamlFields reads an entry's keys.
func (r *reader) yamlFields(e *entry, n *yaml.Node) (paths, commands []*yaml.Node) {
	if n.Kind != yaml.MappingNode {
		e.err = errors.New("want an entry with a tool")
		return nil, nil
	}
	var seen []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if slices.Contains(seen, key) {
			e.failIf(false, umpire.Errorf("key %q stands twice", key))
		}
		var err error
		switch key {
		case "tool":
			e.rule.Tool = value.Value
			if value.Kind != yaml.ScalarNode || value.Tag != "!!str" {
				err = errors.New("tool: want a string")
				e.rule.Tool = ""
			}
		case "paths":
			paths, err = yamlTexts(key, value)
		case "commands":
			commands, err = yamlTexts(key, value)
		default:
			r.remark(r.yamlAt(n.Content[i]), unknownKey(key, yamlEntryKeys))
			e.narrowing = key
			continue
		}
		seen = append(seen, key)
		e.failIf(false, err)
	}
	return paths, commands
}

// yamlTexts reads a list of strings. An empty list is an error, because it is
// ambiguous: it may mean all or none.
func yamlTexts(key string, n *yaml.Node) ([]*yaml.Node, error) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return nil, umpire.Errorf("%s: want a list that is not empty", key)
	}
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.Value == "" || item.Tag == "!!null" {
			return nil, umpire.Errorf("%s: want strings", key)
		}
	}
	return n.Content, nil
}
