package rulefile

import (
	"errors"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
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

// openYAML opens a YAML file.
func openYAML(data []byte) (*docedit.Doc, error) {
	if len(data) > maxYAMLSize {
		return nil, umpire.Errorf("larger than %d bytes", maxYAMLSize)
	}
	return docedit.Open(docedit.YAML, data)
}

// readYAML reads the lists always_allow, always_deny and always_ask, whose
// entries name a tool and the paths or the commands that are meant.
func (r *reader) readYAML(data []byte) error {
	d, err := openYAML(data)
	if err != nil {
		return err
	}
	for m, again := range d.Root.Members() {
		action, known := yamlActions[m.Key]
		switch err := wantKind(m, docedit.List, m.Key); {
		case !known:
			r.unknown(m, yamlTopKeys)
			continue
		case again:
			return m.KeyPos.Fault(docedit.DuplicateKey(m.Key))
		case m.Kind == docedit.Null:
			continue
		case err != nil:
			return m.Fault(err)
		}
		for _, item := range m.Items {
			r.yamlEntry(action, item)
			if len(r.doc.rules) > maxRules {
				return item.Fault(umpire.Errorf("more than %d rules", maxRules))
			}
		}
	}
	return nil
}

// yamlEntry reads one entry, which produces one rule per path or command, or one for
// the whole tool.
func (r *reader) yamlEntry(action umpire.Verdict, v *docedit.Value) {
	e := entry{rule: umpire.Rule{Action: action}, at: r.place(v.Pos)}
	paths, commands := r.yamlFields(&e, v)
	if e.err == nil && e.rule.Tool == "" {
		e.err = errors.New("tool is missing")
	}
	if e.err != nil || (paths == nil && commands == nil) {
		r.admit(e)
		return
	}
	for _, p := range paths {
		one := e
		one.at = r.place(p.Pos)
		r.admitPath(one, p.Text)
	}
	for _, c := range commands {
		one := e
		one.at = r.place(c.Pos)
		r.admitCommand(one, c.Text)
	}
}

// yamlFields reads an entry's keys.
func (r *reader) yamlFields(e *entry, v *docedit.Value) (paths, commands []*docedit.Value) {
	if v.Kind != docedit.Object {
		e.err = errors.New("want an entry with a tool")
		return nil, nil
	}
	for m, again := range v.Members() {
		var err error
		switch m.Key {
		case "tool":
			e.rule.Tool, err = wantText(m, m.Key)
		case "paths":
			paths, err = yamlTexts(m)
		case "commands":
			commands, err = yamlTexts(m)
		default:
			r.unknown(m, yamlEntryKeys)
			e.narrowing = m.Key
			continue
		}
		if again {
			e.failIf(false, docedit.DuplicateKey(m.Key))
		}
		e.failIf(false, err)
	}
	return paths, commands
}

// yamlTexts reads a list of strings. An empty list is an error, because it is
// ambiguous: it may mean all or none.
func yamlTexts(list *docedit.Value) ([]*docedit.Value, error) {
	if list.Kind != docedit.List || len(list.Items) == 0 {
		return nil, umpire.Errorf("%s: want a list that is not empty", list.Key)
	}
	for _, item := range list.Items {
		if item.Kind == docedit.Null || item.Text == "" {
			return nil, umpire.Errorf("%s: want strings", list.Key)
		}
	}
	return list.Items, nil
}
