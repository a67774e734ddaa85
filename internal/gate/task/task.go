// Package task reads and writes approvals of tasks. A person approves one text, and its lines then
// allow calls of one session until the task ends:
//
//	task: Fix the login test
//	for: 2h
//	may:
//	  20x  reversible  Edit(src/**)
//	   5x  none        Bash(go test:*)
//
// Each line says how many calls it may allow, the worst consequence of each, and the rule that it
// follows, in the short form of rules. Lines that begin with # are remarks. [Parse] reads a text,
// [Task.String] writes the one form that an approval is bound to, [Task.Grants] returns the grants
// that it stands for, and [Draft] proposes a task that would have allowed some calls.
package task

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// A Task is a set of calls that a person approves at once. The zero value allows nothing.
type Task struct {
	Title string
	// For is the time after which the approval ends, if its session does not end before.
	For   time.Duration
	Lines []Line
}

// A Line allows some calls of a task.
type Line struct {
	Times int
	Most  umpire.Consequence // the worst that it allows
	Tool  string
	Match umpire.Match
}

// The limits of a task.
const (
	MaxText  = 32 << 10 // bytes
	maxTitle = 120      // characters
	maxLines = 50
	maxTimes = 1000
	minFor   = time.Minute
	maxFor   = 24 * time.Hour
)

// Parse reads the text of a task. The error names the line that is wrong.
func Parse(text string) (Task, error) {
	if len(text) > MaxText {
		return Task{}, umpire.Errorf("the task has %d bytes; want at most %d", len(text), MaxText)
	}
	var t Task
	inLines := false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		key, value, isKey := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		var err error
		switch {
		case line == "" || line[0] == '#':
		case inLines:
			err = t.addLine(line)
		case isKey && key == "task":
			err = set(&t.Title, value, readTitle)
		case isKey && key == "for":
			err = set(&t.For, value, readFor)
		case isKey && key == "may" && value == "":
			inLines = true
		default:
			err = umpire.Errorf("%q: want task:, for: or may:", line)
		}
		if err != nil {
			return Task{}, umpire.Errorf("line %d: %w", i+1, err)
		}
	}
	switch {
	case t.Title == "":
		return Task{}, umpire.Errorf("the line \"task: TITLE\" is missing")
	case t.For == 0:
		return Task{}, umpire.Errorf("the line \"for: TIME\", such as 2h, is missing")
	case len(t.Lines) == 0:
		return Task{}, umpire.Errorf("no line below \"may:\" allows anything")
	}
	return t, nil
}

// set reads a value that may be given once.
func set[T comparable](to *T, text string, read func(string) (T, error)) (err error) {
	var none T
	if *to != none {
		return umpire.Errorf("it is given twice")
	}
	*to, err = read(text)
	return err
}

func readTitle(text string) (string, error) {
	switch {
	case text == "":
		return "", umpire.Errorf("the title is empty")
	case len([]rune(text)) > maxTitle:
		return "", umpire.Errorf("the title has more than %d characters", maxTitle)
	case !isPrintable(text):
		return "", umpire.Errorf("the title has characters that cannot be seen")
	}
	return text, nil
}

func readFor(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d != d.Truncate(time.Minute) || d < minFor || d > maxFor {
		return 0, umpire.Errorf("for %q: want a time between 1m and 24h in minutes, such as 90m or 2h", text)
	}
	return d, nil
}

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

func (t *Task) addLine(text string) error {
	times, rest, _ := strings.Cut(text, " ")
	most, rule, _ := strings.Cut(strings.TrimSpace(rest), " ")
	count, isCount := strings.CutSuffix(times, "x")
	n, err := strconv.Atoi(count)
	if rule = strings.TrimSpace(rule); !isCount || err != nil || rule == "" {
		return umpire.Errorf("%q: want TIMES CONSEQUENCE RULE, such as 5x reversible Edit(src/**)", text)
	}
	l := Line{Times: n}
	if err := l.Most.UnmarshalText([]byte(most)); err != nil {
		return err
	}
	r, err := policy.ParseShort(rule)
	if err != nil {
		return err
	}
	l.Tool, l.Match = r.Tool, r.Match
	switch {
	case n < 1 || n > maxTimes:
		return umpire.Errorf("%s: want between 1 and %d times", times, maxTimes)
	case !isPrintable(text):
		return umpire.Errorf("the rule has characters that cannot be seen")
	case l.Match == umpire.Match{} && !strings.HasPrefix(l.Tool, "mcp__"):
		return umpire.Errorf("%s allows every use of the tool; name a command, a path or a host", rule)
	case len(t.Lines) == maxLines:
		return umpire.Errorf("a task has at most %d lines", maxLines)
	case slices.ContainsFunc(t.Lines, func(has Line) bool { return has.Tool == l.Tool && has.Match == l.Match }):
		return umpire.Errorf("%s is given twice", rule)
	}
	t.Lines = append(t.Lines, l)
	return nil
}

// text returns the line as addLine reads it.
func (l *Line) text() string { return fmt.Sprintf("%dx %s %s", l.Times, l.Most, l.Rule()) }

// Rule returns the line's rule in short form.
func (l *Line) Rule() string { return policy.FormatShort(umpire.Rule{Tool: l.Tool, Match: l.Match}) }

// String returns the text that an approval is bound to. Parse reads the same task back.
func (t *Task) String() string {
	times, most := 0, 0
	for i := range t.Lines {
		times = max(times, len(strconv.Itoa(t.Lines[i].Times)))
		most = max(most, len(t.Lines[i].Most.String()))
	}
	var b strings.Builder
	minutes := int(t.For / time.Minute)
	fmt.Fprintf(&b, "task: %s\nfor: %s\nmay:\n", t.Title, formatFor(minutes))
	for i := range t.Lines {
		l := &t.Lines[i]
		fmt.Fprintf(&b, "  %*dx  %-*s  %s\n", times, l.Times, most, l.Most, l.Rule())
	}
	return b.String()
}

func formatFor(minutes int) string {
	if minutes%60 == 0 {
		return fmt.Sprintf("%dh", minutes/60)
	}
	return fmt.Sprintf("%dm", minutes)
}

// Digest returns the digest of the text that an approval is bound to, in hex.
func (t *Task) Digest() string {
	sum := sha256.Sum256([]byte(t.String()))
	return hex.EncodeToString(sum[:])
}

// Accept reads the text of a task that a person approved by its digest. It refuses a changed text,
// and one whose lines allow too much.
func Accept(text, digest string, o policy.Options) (Task, error) {
	t, err := Parse(text)
	if err == nil && digest != t.Digest() {
		return Task{}, umpire.Errorf("text: %w", umpire.ErrChanged)
	}
	if err == nil {
		err = t.checkReach(o)
	}
	if err != nil {
		return Task{}, umpire.Errorf("text: %w: %w", err, umpire.ErrInvalid)
	}
	return t, nil
}

// checkReach refuses a line that allows too much to be read as a line of a task: any command, or a folder
// that holds the project, a home, umpire's files or an agent's settings.
func (t *Task) checkReach(o policy.Options) error {
	for i := range t.Lines {
		l := &t.Lines[i]
		made, err := policy.New([]umpire.Rule{{
			ID: "task", Action: umpire.Allow, Tool: l.Tool, Match: l.Match, Source: umpire.SourceSession,
		}}, o)
		if err != nil {
			return umpire.Errorf("%s: %w", l.Rule(), err)
		}
		if len(made.Stripped(umpire.ModeAuto)) > 0 {
			return umpire.Errorf("%s allows any command; name the command that it runs", l.Rule())
		}
		pattern := l.Match.PathGlob
		if below, ok := strings.CutPrefix(pattern, "~/"); ok && o.Home != "" {
			pattern = path.Join(o.Home, below)
		}
		if !strings.HasPrefix(pattern, "/") || !strings.ContainsAny(pattern, "*?[{") {
			continue
		}
		at := umpire.Access{Kind: umpire.KindRead, Resolved: pattern, Place: umpire.PlaceOutside, Glob: true}
		if folder, ok := policy.GrantableFolder(&at, &o); !ok {
			return umpire.Errorf("%s reaches too much below %s; name a smaller folder", l.Rule(), folder)
		}
	}
	return nil
}

// Most returns the worst consequence that a line allows.
func (t *Task) Most() umpire.Consequence {
	most := umpire.Harmless
	for i := range t.Lines {
		most = umpire.WorseConsequence(most, t.Lines[i].Most)
	}
	return most
}

// Grant returns the grant of a line. A rule for many commands covers only options that do no more
// than those that it names.
func (l *Line) Grant(id string) umpire.Grant {
	g := umpire.Grant{
		Scope: umpire.ScopeSession, Task: id, Tool: l.Tool, Match: l.Match, Cap: umpire.Cap{MaxConsequence: l.Most},
	}
	if l.Match.CommandPrefix != "" {
		g.Options = umpire.OptionsShown
	}
	return g
}

// idDigits is the number of digits of a task's digest in its id.
const idDigits = 8

// NewID returns the id of an approval of the task. unique tells it from others of the same text.
func (t *Task) NewID(unique string) string { return "k" + t.Digest()[:idDigits] + unique }

// ReadBound reads the text of an approval with an id. ok is false unless it is the text that the id belongs to.
func ReadBound(text, id string) (t Task, ok bool) {
	if text == "" { // as of most grants
		return Task{}, false
	}
	t, err := Parse(text)
	return t, err == nil && text == t.String() && strings.HasPrefix(id, t.NewID(""))
}

// Binds reports whether a line stands for a grant. If not, the grant must not count.
func (t *Task) Binds(g *umpire.Grant) bool {
	at := slices.IndexFunc(t.Lines, func(l Line) bool { return l.Tool == g.Tool && l.Match == g.Match })
	return at >= 0 && t.Lines[at].Grant(g.Task).Cap == g.Cap && g.Exact == "" && g.Scope == umpire.ScopeSession
}

// compareLines orders lines by the rule, the narrowest tool first.
func compareLines(a, b Line) int {
	return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Rule(), b.Rule()))
}
