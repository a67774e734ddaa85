package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/shell"
)

// Limits on the shown part of one text. The end is always shown, because a long
// harmless command may hide a harmful end.
const (
	cardHead = 6000 // runes from the beginning
	cardTail = 2000 // runes from the end
)

// fields shows the fields of a JSON object except for some, the important ones first.
func (c *Card) fields(object json.RawMessage, skip ...string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		c.block(c.text.Of("input"), string(object))
		return
	}
	names := slices.SortedFunc(maps.Keys(fields), func(a, b string) int {
		return cmp.Or(cmp.Compare(fieldRank(a), fieldRank(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		if !slices.Contains(skip, name) {
			c.block(name, c.valueText(fields[name]))
		}
	}
}

// valueText returns a string unchanged and any other value as JSON, in which escapes
// may hide characters.
func (c *Card) valueText(raw json.RawMessage) string {
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

// block shows a named text: on the same line if it is one line, or else below its name,
// with each line behind a bar that no text can forge.
func (c *Card) block(name, text string) {
	name = c.show(name)
	if short := middleOut(text); short != text && !c.whole {
		c.left = append(c.left, name)
		text = short
	}
	if !strings.Contains(text, "\n") {
		c.row(name, c.show(text))
		return
	}
	fmt.Fprintf(c.w, "  %s:\n", name)
	c.hidden = c.hidden || Hides(text)
	for _, line := range lines(text) {
		fmt.Fprintf(c.w, "    | %s\n", line)
	}
}

// lines makes the lines of a text safe to show.
func lines(text string) []string {
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range all {
		all[i] = Visible(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "))
	}
	return all
}

// middleOut omits the middle of a long text, and says how many characters are missing.
func middleOut(text string) string {
	runes := []rune(text)
	if len(runes) <= cardHead+cardTail {
		return text
	}
	head, left, tail := runes[:cardHead], len(runes)-cardHead-cardTail, runes[len(runes)-cardTail:]
	return fmt.Sprintf("%s\n[... %d characters left out ...]\n%s", string(head), left, string(tail))
}

// show makes a text safe to show, and remembers whether it had hidden characters.
func (c *Card) show(text string) string {
	c.hidden = c.hidden || Hides(text)
	return Visible(text)
}

// Hides reports whether a text has invisible characters, other than line ends and tabs.
func Hides(text string) bool {
	plain := plainBlanks.Replace(text)
	return !printable(plain)
}

var plainBlanks = strings.NewReplacer("\r\n", "", "\n", "", "\t", "")

// most returns how many of n items the card lists.
func most(c *Card, n, limit int) int {
	if c.whole {
		return n
	}
	return min(n, limit)
}

// maxPlanned is how many planned calls a card shows.
const maxPlanned = 200

// writePlanned shows the files that a plan would change, and the commands that it would run: the approval is
// about these.
func writePlanned(c *Card) {
	planned := c.Pending.Planned
	if len(planned) == 0 {
		return
	}
	fmt.Fprintf(c.w, "\n  %s\n", c.text.Of("what was planned"))
	for i := range planned[:most(c, len(planned), maxPlanned)] {
		if line := planned[i].Command; line != "" { // whole: it may run
			fmt.Fprintf(c.w, "    %s: %s\n", c.show(planned[i].Tool), c.show(line))
			continue
		}
		for k := range planned[i].Accesses {
			access := c.show(middleOut(cardAccess(c, &planned[i].Accesses[k])))
			fmt.Fprintf(c.w, "    %s: %s\n", c.show(planned[i].Tool), access)
		}
	}
	if left := len(planned) - most(c, len(planned), maxPlanned); left > 0 {
		c.left = append(c.left, c.text.Of("what was planned"))
		fmt.Fprintf(c.w, "    "+c.text.Of("... and %d more")+"\n", left)
	}
}

// writeOutside names the paths that leave the project, links resolved.
func writeOutside(c *Card) {
	for _, path := range c.Pending.Paths {
		leaves := func(a umpire.Access) bool { return a.Paths() && a.Target == path && a.Place == umpire.PlaceOutside }
		if slices.ContainsFunc(c.Pending.Accesses, leaves) {
			c.row(c.text.Of("outside"), c.show(foldersOf(c).path(path)))
		}
	}
}

// writeExtra shows the claims of the tool's own check.
func writeExtra(c *Card) {
	for _, name := range slices.Sorted(maps.Keys(c.Pending.Extra)) {
		if name == umpire.ExtraHeldBy || name == umpire.ExtraDir || name == umpire.ExtraShell {
			continue
		}
		c.block(name+" "+c.text.Of("(claimed)"), c.valueText(c.Pending.Extra[name]))
	}
}

// writeRemarks writes the warnings.
func (c *Card) writeRemarks() {
	remark := func(text string) {
		if c.colour {
			text = VerdictColour(umpire.Deny) + text + "\x1b[0m"
		}
		fmt.Fprintf(c.w, "\n  %s\n", text)
	}
	if size := c.Pending.InputSize; size > 0 {
		remark(fmt.Sprintf(c.text.Of("The call has %d bytes, and this shows only parts of it."), size))
	}
	if c.Pending.AllowAll {
		remark(c.text.Of("ALLOW ALL is on for this workspace: calls run unasked unless a rule or guard asks."))
	}
	if c.Pending.NoSandbox != "" {
		unheld := c.text.Of("NO SANDBOX: nothing will hold this command to what it was judged by.")
		remark(unheld + " " + c.show(c.text.Reason(c.Pending.NoSandbox)))
	}
	if c.Pending.Warning && c.Pending.Consequence.AtLeast(umpire.Outward) {
		remark(c.text.Of("Warning: this is known to be dangerous."))
	}
	if c.Pending.Indeterminate {
		remark(c.text.Of("It was started, but its outcome is unknown. Approve if it was done, deny if it was not: " +
			"it does not run again."))
	}
	if c.hidden {
		remark(c.text.Of("It contains hidden characters, shown here as escapes. It can be approved once only."))
	}
}

// AccessText is an access in a few words of a person's language. It is not made safe to
// show.
func AccessText(access *umpire.Access, text *catalogue.Language) string {
	kind := text.Word("access", access.Kind.String()) + " "
	if access.Kind == umpire.KindExec && access.Program != "" {
		return kind + CommandLine(append([]string{access.Program}, access.Args...))
	}
	return kind + cmp.Or(access.Target, "?")
}

// CommandLine returns a single argument unchanged, or several arguments quoted and joined.
func CommandLine(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shell.Quote(word)
	}
	return strings.Join(quoted, " ")
}
