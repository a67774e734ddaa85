package app

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// Show writes a result as JSON, or for a person.
func (a *App) Show(asJSON bool, result any, forPerson func() error) error {
	if asJSON {
		return Failed(a.ShowJSON(result))
	}
	return Failed(forPerson())
}

// ShowJSON writes on one line, and laid out on a terminal.
func (a *App) ShowJSON(value any) error {
	text, err := json.Marshal(catalogue.In(catalogue.English, value))
	if err != nil {
		return err
	}
	if a.ToTerminal {
		var laid bytes.Buffer
		if err := json.Indent(&laid, text, "", "  "); err != nil {
			return err
		}
		text = laid.Bytes()
	}
	_, err = a.Stdout.Write(append(view.VisibleJSON(text), '\n'))
	return err
}

// WriteLine writes a value as a line of JSON.
func WriteLine(to io.Writer, value any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(catalogue.In(catalogue.English, value)); err != nil {
		return err
	}
	_, err := to.Write(view.VisibleJSON(line.Bytes()))
	return err
}

// Colour reports whether output may be coloured.
func (a *App) Colour() bool { return a.ToTerminal && a.Getenv("NO_COLOR") == "" }

// maxShown is the maximum shown length of one text.
const maxShown = 200

// Clip shortens a text that is longer than people read.
func Clip(s string) string { return view.Clip(s, maxShown) }

// Columns is the width of the terminal at standard output.
func (a *App) Columns() int {
	const usual = 80
	if width, _ := SizeOf(os.Stdout); a.ToTerminal && width > 0 {
		return width
	}
	return usual
}

// IntroduceLink is the line above a link to the console.
func IntroduceLink(text *catalogue.Language) string {
	return view.Joined(text.Of("Open this page within a minute; the link works once"), ":", "")
}

// VisibleDiff escapes control characters, line by line, except for tabs.
func VisibleDiff(text string) string {
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

// A Count is a number of things, with the words for one of them and for several.
type Count struct {
	n         int
	one, more string
}

// NewCount is a number of things, with the words for one of them and for several.
func NewCount(n int, one, more string) Count { return Count{n, one, more} }

// String is the count in English.
func (c Count) String() string { return c.In(nil) }

// In is the count in a language.
func (c Count) In(text *catalogue.Language) string { return text.Count(c.n, c.one, c.more) }
