package rulefile

import (
	"cmp"
	"errors"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

// The keys of umpire's own format. Other keys are kept and mentioned.
var (
	topKeys  = []string{"$schema", "version", "rules", "hooks"}
	ruleKeys = []string{
		"id", "action", "tool", "match", "description", "examples", "expires_at", "max_consequence", "options",
		"source",
	}
	matchKeys   = []string{"command", "commandPrefix", "pathGlob", "domain"}
	exampleKeys = []string{"match", "not_match"}
	hookEvents  = []string{"PreToolUse", "PostToolUse"}
	hookKeys    = []string{"id", "toolMatch", "command", "timeout", "onFailure"}
)

// readJSON reads umpire's own format.
func (r *reader) readJSON(data []byte) error {
	if r.readPlain(data) {
		return nil
	}
	return r.readTree(data)
}

// readTree reads any file, and returns its first fatal problem.
func (r *reader) readTree(data []byte) error {
	d, err := docedit.Open(docedit.JSON, data)
	if err != nil {
		return err
	}
	versioned, rules := false, &docedit.Value{}
	for m, again := range d.Root.Members() {
		if again && slices.Contains(topKeys, m.Key) {
			return m.KeyPos.Fault(docedit.DuplicateKey(m.Key))
		}
		switch m.Key {
		case "version":
			if versioned = m.Kind == docedit.Number && m.Text == "1"; !versioned {
				return m.Fault(errors.New("version: want 1"))
			}
		case "rules":
			if err := wantKind(m, docedit.List, "rules"); err != nil {
				return m.Fault(err)
			}
			rules = m
		case "hooks":
			r.readHooks(m)
		case "$schema":
		default:
			r.unknown(m, topKeys)
		}
	}
	if !versioned {
		return d.Root.Fault(errors.New("version is missing: want 1"))
	}
	return r.readRules(rules)
}

func (r *reader) readRules(list *docedit.Value) error {
	if len(list.Items) > maxRules {
		return list.Items[maxRules].Fault(umpire.Errorf("more than %d rules", maxRules))
	}
	r.doc.rules = make([]umpire.Rule, 0, len(list.Items))
	r.ids = make(map[umpire.RuleID]int, len(list.Items))
	for _, item := range list.Items {
		r.readRule(item)
	}
	return nil
}

// readRule reads one element of the list of rules.
func (r *reader) readRule(v *docedit.Value) {
	e := entry{at: r.place(v.Pos), clear: true}
	if err := wantKind(v, docedit.Object, "rule"); err != nil {
		e.failIf(false, err)
		r.admit(e)
		return
	}
	actions := 0
	for m, again := range v.Members() {
		if m.Key == "action" {
			actions++
		}
		if again && slices.Contains(ruleKeys, m.Key) {
			e.failIf(false, docedit.DuplicateKey(m.Key))
			continue
		}
		r.readField(&e, m)
	}
	if actions == 0 {
		e.failIf(false, errors.New("action is missing: want allow, ask or deny"))
	}
	if e.rule.Tool == "" {
		e.failIf(false, errors.New("tool is missing"))
	}
	if actions > 1 {
		e.rule.Action = umpire.Deny // two actions: the rule counts as restricting
	}
	r.admit(e)
}

// failIf records the first error in an entry. Sure means that it is certain what the rule matches.
func (e *entry) failIf(sure bool, err error) {
	if err == nil {
		return
	}
	e.err = cmp.Or(e.err, err)
	e.clear = e.clear && sure
}

// readField reads one member of a rule.
func (r *reader) readField(e *entry, m *docedit.Value) {
	switch {
	case m.Key == "match":
		e.failIf(false, r.readMatch(e, m))
	case m.Key == "examples":
		e.failIf(true, r.readExamples(&e.rule.Examples, m))
	case m.Key == "source":
		r.remark(r.place(m.KeyPos), "source is ignored: it follows from where the file stands")
	case isTextField(m.Key):
		text, err := wantText(m, m.Key)
		if err == nil {
			err = setText(&e.rule, m.Key, text)
		}
		e.failIf(m.Key == "id" || m.Key == "description" || m.Key == "expires_at", err)
	default:
		r.unknown(m, ruleKeys)
		if e.narrowing == "" && mayNarrow(m.Key) {
			e.narrowing = m.Key
		}
	}
}

// isTextField reports a key of a rule whose value is a string.
func isTextField(key string) bool {
	switch key {
	case "id", "action", "tool", "description", "expires_at", "max_consequence", "options":
		return true
	}
	return false
}

// setText sets the field of a rule that such a key names.
func setText(r *umpire.Rule, key, s string) (err error) {
	switch key {
	case "id":
		r.ID = umpire.RuleID(s)
	case "action":
		err = r.Action.UnmarshalText([]byte(s))
	case "tool":
		r.Tool = s
	case "description":
		r.Description = s
	case "expires_at":
		r.ExpiresAt, err = parseTime(s)
	case "max_consequence":
		err = r.MaxConsequence.UnmarshalText([]byte(s))
	case "options":
		if s == "" {
			err = umpire.Errorf(`options is empty: want "shown"`)
		}
		r.Options = umpire.OptionLimit(s)
	}
	return err
}

// matchField returns the field of a match that a key names, or nil.
func matchField(m *umpire.Match, key string) *string {
	switch key {
	case "command":
		return &m.Command
	case "commandPrefix":
		return &m.CommandPrefix
	case "pathGlob":
		return &m.PathGlob
	case "domain":
		return &m.Domain
	}
	return nil
}

// exampleField returns the list of examples that a key names, or nil.
func exampleField(examples *umpire.Examples, key string) *[]string {
	switch key {
	case "match":
		return &examples.Match
	case "not_match":
		return &examples.NotMatch
	}
	return nil
}

// narrowingGuesses are keys that people write when they mean to narrow a rule or
// to end it.
var narrowingGuesses = []string{
	"command", "commands", "prefix", "path", "paths", "glob", "pattern", "url", "host", "args", "only", "when",
	"if", "except", "unless", "cwd", "expires", "expiry", "until", "ttl",
}

// mayNarrow reports whether an unknown key of a rule looks like an attempt to
// narrow it. An allow rule must not do more than its author meant.
func mayNarrow(key string) bool {
	meant := docedit.Nearest(key, ruleKeys)
	return meant == "match" || meant == "expires_at" || docedit.Nearest(key, matchKeys) != "" ||
		slices.Contains(narrowingGuesses, docedit.PlainKey(key))
}

// wantKind returns an error if a field has another kind of value.
func wantKind(v *docedit.Value, kind docedit.Kind, field string) error {
	if err := v.Want(kind); err != nil {
		return umpire.Errorf("%s: %w", field, err)
	}
	return nil
}

// wantText returns the string in a field.
func wantText(v *docedit.Value, field string) (string, error) {
	if err := wantKind(v, docedit.String, field); err != nil {
		return "", err
	}
	return v.Text, nil
}

// readMatch reads the conditions of a rule. An unknown key may be meant as another
// condition.
func (r *reader) readMatch(e *entry, v *docedit.Value) error {
	if err := wantKind(v, docedit.Object, "match"); err != nil {
		return err
	}
	for m, again := range v.Members() {
		field := matchField(&e.rule.Match, m.Key)
		if field == nil {
			r.unknown(m, matchKeys)
			e.narrowing = m.Key
			continue
		}
		text, err := wantText(m, "match."+m.Key)
		switch {
		case again:
			return umpire.Errorf("%s: %w", "match", docedit.DuplicateKey(m.Key))
		case err != nil:
			return err
		case text == "":
			// An empty pattern would match everything, and is almost certainly a
			// mistake.
			return umpire.Errorf("match.%s is empty", m.Key)
		}
		*field = text
	}
	return nil
}

func (r *reader) readExamples(examples *umpire.Examples, v *docedit.Value) error {
	if err := wantKind(v, docedit.Object, "examples"); err != nil {
		return err
	}
	for m, again := range v.Members() {
		if again {
			return umpire.Errorf("%s: %w", "examples", docedit.DuplicateKey(m.Key))
		}
		texts, field := exampleField(examples, m.Key), "examples."+m.Key
		if texts == nil {
			r.unknown(m, exampleKeys)
			continue
		}
		if err := wantKind(m, docedit.List, field); err != nil {
			return err
		}
		*texts = make([]string, len(m.Items))
		for i, item := range m.Items {
			var err error
			if (*texts)[i], err = wantText(item, field); err != nil {
				return err
			}
		}
	}
	return nil
}
