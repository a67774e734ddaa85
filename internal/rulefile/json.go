package rulefile

import (
	"slices"

	"github.com/tailscale/hujson"

	"github.com/umpirehq/umpire"
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

// knownKeys maps the keys, in quotes, to themselves.
var knownKeys = func() map[string]string {
	known := map[string]string{}
	for _, keys := range [][]string{topKeys, ruleKeys, matchKeys, exampleKeys, hookEvents, hookKeys} {
		for _, key := range keys {
			known[`"`+key+`"`] = key
		}
	}
	return known
}()

// A jsonReader reads umpire's own format.
type jsonReader struct {
	*reader
	src *source
}

// readJSON reads umpire's own format.
func (r *reader) readJSON(data []byte) *Problem {
	src := newSource(r.layer.Path, data)
	if r.readPlain(src) {
		return nil
	}
	return r.readTree(src)
}

// readTree reads any file, and returns its first fatal problem.
func (r *reader) readTree(src *source) *Problem {
	top, problem := src.parseTree()
	if problem != nil {
		return problem
	}
	j := jsonReader{reader: r, src: src}
	rules, problem := j.readTop(top)
	if problem != nil {
		return problem
	}
	if len(rules) > maxRules {
		return src.problem(rules[maxRules].StartOffset, "more than %d rules", maxRules)
	}
	r.doc.rules = make([]umpire.Rule, 0, len(rules))
	r.ids = make(map[umpire.RuleID]int, len(rules))
	for i := range rules {
		j.readRule(&rules[i])
	}
	return nil
}

// readTop checks the file's version and other top-level keys, and returns its rules.
func (j jsonReader) readTop(top *hujson.Object) ([]hujson.Value, *Problem) {
	var rules []hujson.Value
	versioned := false
	seen := map[string]bool{}
	for i := range top.Members {
		m := &top.Members[i]
		key := keyOf(m)
		if seen[key] && slices.Contains(topKeys, key) {
			return nil, j.src.problem(m.Name.StartOffset, "key %q stands twice", key)
		}
		seen[key] = true
		switch key {
		case "version":
			if string(hujsonBytes(m.Value)) != "1" {
				return nil, j.src.problem(m.Value.StartOffset, "version: want 1")
			}
			versioned = true
		case "rules":
			list, ok := m.Value.Value.(*hujson.Array)
			if !ok {
				return nil, j.src.problem(m.Value.StartOffset, "rules: want a list, not %s", kindOf(m.Value))
			}
			rules = list.Elements
		case "hooks":
			j.readHooks(m.Value)
		case "$schema":
		default:
			j.unknown(m.Name, key, topKeys)
		}
	}
	if !versioned {
		return nil, j.src.problem(0, "version is missing: want 1")
	}
	return rules, nil
}

// hujsonBytes returns a literal's bytes, or nil for a list or an object.
func hujsonBytes(v hujson.Value) []byte {
	literal, _ := v.Value.(hujson.Literal)
	return literal
}

// readRule reads one element of the list of rules.
func (j jsonReader) readRule(v *hujson.Value) {
	e := entry{at: j.src.place(v.StartOffset), clear: true}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		e.err = umpire.Errorf("a rule is an object, not %s", kindOf(*v))
		e.clear = false
		j.admit(e)
		return
	}
	acted, seen := false, make([]string, 0, len(ruleKeys))
	for i := range object.Members {
		m := &object.Members[i]
		key := keyOf(m)
		if slices.Contains(seen, key) {
			e.noteError(false, umpire.Errorf("key %q stands twice", key))
			continue
		}
		// Bounded, although linear: unknown keys are not remembered.
		if slices.Contains(ruleKeys, key) {
			seen = append(seen, key)
		}
		acted = acted || key == "action"
		j.readField(&e, m, key)
	}
	if !acted {
		e.noteError(false, umpire.Errorf("action is missing: want allow, ask or deny"))
	}
	if e.rule.Tool == "" {
		e.noteError(false, umpire.Errorf("tool is missing"))
	}
	if e.err != nil && slices.Contains(seen, "action") && duplicateAction(object) {
		e.rule.Action = umpire.Deny // two actions: the rule counts as restricting
	}
	j.admit(e)
}

func duplicateAction(object *hujson.Object) bool {
	n := 0
	for i := range object.Members {
		if keyOf(&object.Members[i]) == "action" {
			n++
		}
	}
	return n > 1
}

// noteError records the first error in an entry. Sure means that it is certain what the
// rule matches.
func (e *entry) noteError(sure bool, err error) {
	if e.err == nil {
		e.err = err
	}
	e.clear = e.clear && sure
}

// readField reads one member of a rule.
func (j jsonReader) readField(e *entry, m *hujson.ObjectMember, key string) {
	switch key {
	case "match":
		e.failIf(false, j.readMatch(e, m.Value))
	case "examples":
		e.failIf(true, j.readExamples(&e.rule.Examples, m.Value))
	case "source":
		j.remark(j.src.place(m.Name.StartOffset), "source is ignored: it follows from where the file stands")
	default:
		if isTextField(key) {
			s, err := wantText(m.Value, key)
			if err == nil {
				err = setText(&e.rule, key, s)
			}
			e.failIf(key == "id" || key == "description" || key == "expires_at", err)
			return
		}
		j.unknown(m.Name, key, ruleKeys)
		if e.narrowing == "" && mayNarrow(key) {
			e.narrowing = key
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
	meant := nearestKey(key, ruleKeys)
	return meant == "match" || meant == "expires_at" || nearestKey(key, matchKeys) != "" ||
		slices.Contains(narrowingGuesses, plainKey(key))
}

func (e *entry) failIf(sure bool, err error) {
	if err != nil {
		e.noteError(sure, err)
	}
}

func wantText(v hujson.Value, key string) (string, error) {
	s, ok := textOf(v)
	if !ok {
		return "", umpire.Errorf("%s: want a string, not %s", key, kindOf(v))
	}
	return s, nil
}

// readMatch reads the conditions of a rule. An unknown key may be meant as another
// condition.
func (j jsonReader) readMatch(e *entry, v hujson.Value) error {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return umpire.Errorf("match: want an object, not %s", kindOf(v))
	}
	for i := range object.Members {
		m := &object.Members[i]
		key := keyOf(m)
		field := matchField(&e.rule.Match, key)
		if field == nil {
			j.unknown(m.Name, key, matchKeys)
			e.narrowing = key
			continue
		}
		if *field != "" {
			return umpire.Errorf("match: key %q stands twice", key)
		}
		s, err := wantText(m.Value, key)
		if err != nil {
			return umpire.Errorf("match.%w", err)
		}
		if s == "" {
			// An empty pattern would match everything, and is almost certainly a
			// mistake.
			return umpire.Errorf("match.%s is empty", key)
		}
		*field = s
	}
	return nil
}

func (j jsonReader) readExamples(examples *umpire.Examples, v hujson.Value) error {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return umpire.Errorf("examples: want an object, not %s", kindOf(v))
	}
	seen := map[string]bool{}
	for i := range object.Members {
		m := &object.Members[i]
		key := keyOf(m)
		if seen[key] {
			return umpire.Errorf("examples: key %q stands twice", key)
		}
		seen[key] = true
		texts := exampleField(examples, key)
		if texts == nil {
			j.unknown(m.Name, key, exampleKeys)
			continue
		}
		var err error
		if *texts, err = wantTexts(m.Value, "examples."+key); err != nil {
			return err
		}
	}
	return nil
}

func wantTexts(v hujson.Value, key string) ([]string, error) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, umpire.Errorf("%s: want a list, not %s", key, kindOf(v))
	}
	texts := make([]string, 0, len(list.Elements))
	for _, element := range list.Elements {
		s, err := wantText(element, key)
		if err != nil {
			return nil, err
		}
		texts = append(texts, s)
	}
	return texts, nil
}
