package rulefile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

// maxRules is how many rules one file may hold.
const maxRules = 100_000

// A Check reports whether a rule is valid: its pattern compiles at bounded cost, and
// its own examples have the expected results.
type Check func(umpire.Rule) error

// errUnchecked rejects allow rules if there is no Check.
var errUnchecked = errors.New("the rule cannot be checked here")

// checkRule checks a rule. Without a Check only rules that restrict pass.
func (c Check) checkRule(r umpire.Rule) error {
	switch {
	case c != nil:
		return c(r)
	case r.Action == umpire.Allow:
		return errUnchecked
	default:
		return nil
	}
}

// A document is the parsed content of one file, before trust is considered. It does not
// change after reading.
type document struct {
	rules    []umpire.Rule
	hooks    []Hook
	asleep   int       // allow rules with an unknown key
	problems []Problem // errors
	remarks  []Problem // warnings
	degraded bool      // a restricting rule could not be read exactly
	blind    bool      // ... and there was no safe replacement
}

// An entry is one rule on its way from a file into a document.
type entry struct {
	rule umpire.Rule
	at   Problem // its position; Text is unused
	err  error   // the error in the rule, or nil
	// clear says that it is certain what the rule matches, despite err.
	clear bool
	// narrowing is a key that may be meant to narrow the rule and is not
	// understood. A rule that restricts is then wider, which is safe.
	narrowing string
}

// A reader turns one file into a document.
type reader struct {
	layer Layer
	check Check
	short func(string) (umpire.Rule, error)
	doc   document
	ids   map[umpire.RuleID]int // the line of each id
	alike map[umpire.RuleID]int // number of equal rules without an id
	// keep fills read, for callers that will change the file.
	keep bool
	read []named
}

// A named is a rule of a file, with its id.
type named struct {
	rule umpire.Rule
	// sound says that the rule was read without errors.
	sound bool
}

// admit takes an entry into the document as far as that is safe.
func (r *reader) admit(e entry) {
	e.rule.Source, e.rule.File, e.rule.Line = r.layer.Source, r.layer.shown(), e.at.Line
	r.name(&e)
	if e.err == nil {
		if e.err = r.check.checkRule(e.rule); e.err != nil {
			e.clear = false
		}
	}
	switch {
	case e.err == nil && e.narrowing != "" && e.rule.Action == umpire.Allow:
		r.doc.asleep++
		r.remark(e.at, fmt.Sprintf(
			"rule %q does not allow while %q, which may narrow it, is not understood", e.rule.ID, e.narrowing,
		))
	case e.err == nil:
		r.doc.rules = append(r.doc.rules, e.rule)
	case e.rule.Action == umpire.Allow:
		r.fault(e.at, fmt.Sprintf("rule %q never allows: %v", e.rule.ID, e.err))
	default:
		r.replace(e)
	}
}

// replace replaces a faulty restricting rule with one that is at least as cautious: the
// rule itself if its match is certain, or else a rule that asks about every use of its
// tool.
func (r *reader) replace(e entry) {
	r.doc.degraded = true
	if e.clear && r.check.checkRule(e.rule) == nil {
		r.doc.rules = append(r.doc.rules, e.rule)
		r.fault(e.at, fmt.Sprintf("rule %q: %v", e.rule.ID, e.err))
		return
	}
	instead := umpire.Rule{
		ID: e.rule.ID, Action: umpire.Ask, Tool: e.rule.Tool,
		Says:   umpire.Say("rule %s is faulty, so every use of its tool asks", e.rule.ID),
		Source: e.rule.Source, File: e.rule.File, Line: e.rule.Line,
	}
	if instead.Tool == "" || r.check.checkRule(instead) != nil {
		r.doc.blind = true
		r.fault(e.at, fmt.Sprintf("rule %q can not be applied: %v", e.rule.ID, e.err))
		return
	}
	r.doc.rules = append(r.doc.rules, instead)
	r.fault(e.at, fmt.Sprintf("rule %q asks about every use of %s instead: %v", e.rule.ID, instead.Tool, e.err))
}

// name gives a rule without an id one that follows from its content, and
// reports ids that occur twice.
func (r *reader) name(e *entry) {
	if r.ids == nil {
		r.ids = map[umpire.RuleID]int{}
	}
	if e.rule.ID == "" {
		e.rule.ID = r.derive(e.rule)
	} else if line := r.ids[e.rule.ID]; line != 0 {
		r.remark(e.at, fmt.Sprintf("rule id %q stands on line %d already", e.rule.ID, line))
	}
	r.ids[e.rule.ID] = max(e.at.Line, 1)
	if r.keep {
		r.read = append(r.read, named{rule: e.rule, sound: e.err == nil && e.narrowing == ""})
	}
}

// derive returns the id of a rule without one: the same on every load.
func (r *reader) derive(rule umpire.Rule) umpire.RuleID {
	if r.alike == nil {
		r.alike = map[umpire.RuleID]int{}
	}
	id := derivedID(rule)
	free, n := freeID(id, 1+r.alike[id], func(id umpire.RuleID) bool { return r.ids[id] != 0 })
	r.alike[id] = n
	return free
}

func (r *reader) fault(at Problem, text string) {
	at.Text = escapeControl(text)
	if len(r.doc.problems) < maxProblems {
		r.doc.problems = append(r.doc.problems, at)
	}
}

func (r *reader) remark(at Problem, text string) {
	at.Text = escapeControl(text)
	if len(r.doc.remarks) < maxProblems {
		r.doc.remarks = append(r.doc.remarks, at)
	}
}

// derivedID names a rule by its effect, so the name is the same on every load and
// machine.
func derivedID(r umpire.Rule) umpire.RuleID {
	parts := []string{r.Action.String(), r.Tool, r.Match.CommandPrefix, r.Match.PathGlob, r.Match.Domain}
	if r.Match.Command != "" || r.Cap != (umpire.Cap{}) { // ids of older rules do not change
		parts = append(parts, r.Match.Command, r.MaxConsequence.String(), string(r.Options))
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return umpire.RuleID(r.Action.String() + "-" + hex.EncodeToString(sum[:4]))
}

// freeID returns id with the first number from n on that is not taken, and that
// number. The number 1 is not written.
func freeID(id umpire.RuleID, n int, taken func(umpire.RuleID) bool) (umpire.RuleID, int) {
	for ; ; n++ {
		free := id
		if n > 1 {
			free += umpire.RuleID("-" + strconv.Itoa(n))
		}
		if !taken(free) {
			return free, n
		}
	}
}

// sameRule reports whether two rules have the same effect, ignoring their ids.
func sameRule(a, b umpire.Rule) bool {
	return a.Action == b.Action && a.Tool == b.Tool && a.Match == b.Match && a.ExpiresAt.Equal(b.ExpiresAt)
}

// parseTime parses the expiry time of a rule.
func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, umpire.Errorf("expires_at %q: want a time such as 2027-01-01T00:00:00Z", s)
	}
	return t, nil
}

// parseFile reads the text of a file in the layer's format. A *Problem means that
// the file as a whole can not be understood.
func parseFile(l Layer, data []byte, o Options) (*document, *Problem) {
	r := &reader{layer: l, check: o.Check, short: o.Short}
	read := map[Format]func([]byte) error{
		FormatUmpire: r.readJSON, FormatMuse: r.readJSON,
		FormatClaudeYAML: r.readYAML, FormatClaudeSettings: r.readSettings,
	}[l.Format]
	if read == nil {
		return nil, &Problem{File: l.Path, Text: "the format of the file is not known"}
	}
	if err := read(data); err != nil {
		return nil, problemOf(l.Path, err)
	}
	return &r.doc, nil
}

// place returns a position without a problem's text.
func (r *reader) place(at docedit.Pos) Problem {
	return Problem{File: r.layer.Path, Line: at.Line, Column: at.Column}
}
