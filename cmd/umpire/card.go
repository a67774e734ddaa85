package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// A card is what a person is shown of a question, all of it: an answer is bound to
// what the card says. Everything on it comes from calls, models or repositories,
// so nothing of it reaches the terminal raw.
type card struct {
	page

	pending umpire.Pending
	session umpire.Session
	now     time.Time
	// hidden says that something on the card is not what it looks like.
	hidden bool
}

// Limits on what a card shows of one text. The end is always shown: that is where
// a long harmless command stops being harmless.
const (
	cardHead = 6000 // runes from the beginning
	cardTail = 2000 // runes from the end
)

// newCard makes the card of a question.
func (a *app) newCard(w io.Writer, p umpire.Pending, s umpire.Session, colour bool) *card {
	return &card{page: page{w: w, text: a.text, colour: colour}, pending: p, session: s, now: a.now()}
}

// write shows the whole card.
func (c *card) write() {
	c.title()
	c.asker()
	c.input()
	c.accesses()
	c.outside()
	c.extra()
	c.remarks()
}

// title is the line that says how bad it is and why it is asked.
func (c *card) title() {
	p := &c.pending
	fmt.Fprintf(c.w, "\n%s  %s  %s\n\n", c.verdict(umpire.Ask), c.risk(p.Risk), c.show(c.text.reason(p.Reason)))
}

// risk writes a risk in the person's language, dangerous ones in red.
func (c *card) risk(level string) string {
	word := c.text.of("risk " + level)
	if c.colour && (level == umpire.High.String() || level == umpire.Critical.String()) {
		return verdictColours[umpire.Deny] + word + "\x1b[0m"
	}
	return word
}

// row writes a named value.
func (c *card) row(name, value string) {
	if name != "" {
		name += ":"
	}
	fmt.Fprintf(c.w, "  %s %s\n", padded(name, 14), value)
}

// padded fills a text up to a width, in which a Chinese character takes two.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-columns(text)))
}

// columns is how wide a text is on a terminal.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
			r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff) {
			n++
		}
	}
	return n
}

// asker says who asks, where, and how the question stands.
func (c *card) asker() {
	p, s := &c.pending, &c.session
	c.row(c.text.of("request"), fmt.Sprintf("%s, "+c.text.of("%d of %d in this message"), c.show(string(p.Request)), p.Position, p.Total))
	c.row(c.text.of("agent"), c.show(cmp.Or(p.Agent, "?")))
	c.row(c.text.of("session"), fmt.Sprintf("%s, "+c.text.of("mode %s"), c.show(string(p.Session)), s.Mode))
	c.row(c.text.of("project"), fmt.Sprintf("%s  %s", c.show(p.Project.Short()), c.show(s.Root)))
	if s.Dir != s.Root && s.Dir != "" {
		c.row(c.text.of("folder"), c.show(s.Dir))
	}
	asked := fmt.Sprintf(c.text.of("%s ago"), age(c.now.Sub(p.AskedAt)))
	if !p.ExpiresAt.IsZero() {
		asked += ", " + fmt.Sprintf(c.text.of("expires in %s"), age(p.ExpiresAt.Sub(c.now)))
	}
	c.row(c.text.of("asked"), asked)
	c.row(c.text.of("tool"), fmt.Sprintf("%s (%s)", c.show(p.Tool), c.show(string(p.Call))))
}

// age writes a duration as people say it.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// input shows what the call was given, field by field.
func (c *card) input() {
	c.fields(c.pending.Input)
}

// fields shows the fields of a JSON object, the ones that matter first.
func (c *card) fields(object json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		c.block(c.text.of("input"), string(object))
		return
	}
	names := slices.SortedFunc(maps.Keys(fields), func(a, b string) int {
		return cmp.Or(cmp.Compare(fieldRank(a), fieldRank(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		c.block(name, c.valueText(fields[name]))
	}
}

// valueText is a string as it is and any other value as JSON, in which escapes may
// hide what a string would show.
func (c *card) valueText(raw json.RawMessage) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return string(raw)
	}
	if text, ok := value.(string); ok {
		return text
	}
	for text := range stringsIn(value) {
		c.show(text)
	}
	return string(raw)
}

// stringsIn yields the strings within a JSON value, keys included.
func stringsIn(value any) iter.Seq[string] {
	return func(yield func(string) bool) { eachString(value, yield) }
}

func eachString(value any, yield func(string) bool) bool {
	switch value := value.(type) {
	case string:
		return yield(value)
	case []any:
		for _, item := range value {
			if !eachString(item, yield) {
				return false
			}
		}
	case map[string]any:
		for name, item := range value {
			if !yield(name) || !eachString(item, yield) {
				return false
			}
		}
	}
	return true
}

// shownFirst are the inputs that a person looks for.
var shownFirst = []string{"command", "file_path", "path", "url"}

func fieldRank(name string) int {
	if i := slices.Index(shownFirst, name); i >= 0 {
		return i
	}
	return len(shownFirst)
}

// block shows a named text of any length: in place when it is one line, else below
// its name, each line behind a bar that no text can forge.
func (c *card) block(name, text string) {
	name = c.show(name)
	text = middleOut(text)
	if !strings.Contains(text, "\n") {
		c.row(name, c.show(text))
		return
	}
	fmt.Fprintf(c.w, "  %s:\n", name)
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(c.w, "    | %s\n", c.show(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    ")))
	}
}

// middleOut leaves out the middle of a long text, and says how much.
func middleOut(text string) string {
	runes := []rune(text)
	if len(runes) <= cardHead+cardTail {
		return text
	}
	left := len(runes) - cardHead - cardTail
	return fmt.Sprintf("%s\n[... %d characters left out ...]\n%s", string(runes[:cardHead]), left, string(runes[len(runes)-cardTail:]))
}

// show makes a text safe to show, and notes when it holds what is not seen. The
// ends of lines and tabs hide nothing.
func (c *card) show(text string) string {
	if plain := plainBlanks.Replace(text); visible(plain) != plain {
		c.hidden = true
	}
	return visible(text)
}

var plainBlanks = strings.NewReplacer("\n", "", "\t", "")

// accesses shows what the call would do, part by part.
func (c *card) accesses() {
	if len(c.pending.Accesses) == 0 {
		return
	}
	fmt.Fprintf(c.w, "\n  %s\n", c.text.of("what it would do"))
	for i := range c.pending.Accesses {
		access := &c.pending.Accesses[i]
		fmt.Fprintf(c.w, "    %s  %-8s  %s\n", c.verdict(access.Verdict), access.Risk, c.show(middleOut(accessText(access))))
		var why []string
		if access.Reason != "" {
			why = append(why, c.text.of(access.Reason))
		}
		if access.Doubt != "" && access.Doubt != access.Reason {
			why = append(why, c.text.of("in doubt")+": "+access.Doubt)
		}
		if len(why) > 0 {
			fmt.Fprintf(c.w, "                     %s\n", c.show(strings.Join(why, "; ")))
		}
	}
}

// outside names the paths that leave the project.
func (c *card) outside() {
	for _, path := range c.pending.Paths {
		if !c.within(path) {
			c.row(c.text.of("outside"), c.show(path))
		}
	}
}

// within reports whether a path lies below the session's folders, as it is written.
// What a link leads to is in the question's reason.
func (c *card) within(path string) bool {
	if !filepath.IsAbs(path) {
		return true
	}
	folders := append([]string{c.session.Root, c.session.Worktree}, c.session.AddDirs...)
	return slices.ContainsFunc(folders, func(dir string) bool {
		rest, err := filepath.Rel(dir, path)
		return dir != "" && err == nil && filepath.IsLocal(rest)
	})
}

// extra shows what the tool's own check claims.
func (c *card) extra() {
	for _, name := range slices.Sorted(maps.Keys(c.pending.Extra)) {
		c.block(name+" "+c.text.of("(claimed)"), c.valueText(c.pending.Extra[name]))
	}
}

// remarks are what must not be overlooked.
func (c *card) remarks() {
	remark := func(text string) {
		if c.colour {
			text = verdictColours[umpire.Deny] + text + "\x1b[0m"
		}
		fmt.Fprintf(c.w, "\n  %s\n", text)
	}
	if c.pending.Warning {
		remark(c.text.of("Warning: this is known to be dangerous."))
	}
	if c.pending.Indeterminate {
		remark(c.text.of("It was started, and nobody knows whether it ran. Approving says that it was done, denying that it was not; it does not run again."))
	}
	if c.hidden {
		remark(c.text.of("It contains hidden characters, shown here as escapes. It can be approved once only."))
	}
}

// reach says what an approval with a scope covers, line by line.
func (c *card) reach(scope umpire.Scope, rule string) []string {
	switch scope {
	case umpire.ScopeOnce:
		return []string{c.text.of("this call only")}
	case umpire.ScopeSession:
		return c.sessionReach(rule)
	case umpire.ScopeProject:
		return c.ruleReach(rule, filepath.Join(c.session.Root, ".umpire", "permissions.json"))
	case umpire.ScopeGlobal:
		return c.ruleReach(rule, filepath.Join("~", ".umpire", "permissions.json"))
	}
	return nil
}

// sessionReach says it for the session: the very command, the paths outside that
// were shown, or the tool inside the project.
func (c *card) sessionReach(rule string) []string {
	p := &c.pending
	head := c.text.of("until this session ends: ")
	if rule != "" {
		return []string{head + c.show(rule)}
	}
	if p.Access == "command" {
		return []string{head + c.text.of("exactly this command")}
	}
	var lines []string
	if p.Code != umpire.CodeExternalDirectory && p.Code != umpire.CodeRule {
		lines = append(lines, head+fmt.Sprintf(c.text.of("every call of %s inside the project"), c.show(p.Tool)))
	}
	for _, s := range p.Suggestions {
		if s.Match.PathGlob != "" && s.Scope == umpire.ScopeSession {
			lines = append(lines, head+c.show(policy.FormatShort(umpire.Rule{Tool: s.Tool, Match: s.Match})))
		}
	}
	return lines
}

// ruleReach names the rules that would be written, and the file.
func (c *card) ruleReach(rule, file string) []string {
	rules := c.pending.Rules
	if rule != "" {
		rules = []string{rule}
	}
	var lines []string
	for _, r := range rules {
		lines = append(lines, fmt.Sprintf(c.text.of("writes the rule: allow %s to %s"), c.show(r), c.show(file)))
	}
	return lines
}
