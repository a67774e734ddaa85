package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/umpirehq/umpire/internal/view"
)

// show writes a result as JSON, or for a person.
func (a *App) show(asJSON bool, result any, forPerson func() error) error {
	if asJSON {
		return failed(a.showJSON(result))
	}
	return failed(forPerson())
}

// showJSON writes on one line, and laid out on a terminal.
func (a *App) showJSON(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if a.toTerminal {
		var laid bytes.Buffer
		if err := json.Indent(&laid, text, "", "  "); err != nil {
			return err
		}
		text = laid.Bytes()
	}
	_, err = a.stdout.Write(append(view.VisibleJSON(text), '\n'))
	return err
}

// writeLine writes a value as a line of JSON.
func writeLine(to io.Writer, value any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := to.Write(view.VisibleJSON(line.Bytes()))
	return err
}

// colour reports whether output may be coloured.
func (a *App) colour() bool { return a.toTerminal && a.getenv("NO_COLOR") == "" }

// maxShown is how much of one text a person is shown.
const maxShown = 200

func clip(s string) string {
	runes := []rune(s)
	if len(runes) <= maxShown {
		return s
	}
	return string(runes[:maxShown-1]) + "…"
}

// columns is the width of the terminal at standard output.
func (a *App) columns() int {
	const usual = 80
	if width := widthOf(os.Stdout); a.toTerminal && width > 0 {
		return width
	}
	return usual
}

// visibleDiff escapes what a terminal would obey, line by line; a tab is harmless.
func visibleDiff(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i := range parts {
			parts[i] = view.Visible(parts[i])
		}
		b.WriteString(strings.Join(parts, "\t") + "\n")
	}
	return b.String()
}

// formatCount says how many of something there are.
func (a *App) formatCount(n int, one, more string) string {
	return newCount(n, one, more).in(a.text)
}

// A count is a number of things, with the words for one of them and for several.
type count struct {
	n         int
	one, more string
}

func newCount(n int, one, more string) count { return count{n, one, more} }

func (c count) String() string { return c.in(nil) }

func (c count) in(text view.Catalogue) string {
	if c.n == 1 {
		return fmt.Sprintf(text.Of(c.one), c.n)
	}
	return fmt.Sprintf(text.Of(c.more), c.n)
}
