package console

import (
	"fmt"
	"strings"

	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// maxDiff bounds the lines of a diff on a card.
const maxDiff = 400

// A diffReader reads a unified diff line by line. Only the length of a hunk distinguishes a removed
// line that begins with two dashes from the name of the next file.
type diffReader struct {
	before, after int    // lines left in the hunk
	from          string // the name above the next "+++"
	files         []fileDiff
}

// A fileDiff counts the lines that a diff removes from a file and adds to it.
type fileDiff struct {
	name           string
	added, removed int
	cut            bool // lines are omitted, so the counts are too low
}

func (f *fileDiff) String() string {
	if f.cut || f.added+f.removed == 0 {
		return f.name
	}
	return fmt.Sprintf("%s +%d −%d", f.name, f.added, f.removed)
}

// classify returns the style class of the next line.
func (d *diffReader) classify(line string) string {
	if d.before <= 0 && d.after <= 0 || strings.HasPrefix(line, "[") {
		d.readHeader(line)
		return "at"
	}
	added, removed, kind := 0, 0, "same"
	switch {
	case strings.HasPrefix(line, "+"):
		added, kind = 1, "add"
	case strings.HasPrefix(line, "-"):
		removed, kind = 1, "del"
	case strings.HasPrefix(line, `\`): // no newline at the end of the file
		return "at"
	}
	d.before, d.after = d.before-1+added, d.after-1+removed
	if last := len(d.files) - 1; last >= 0 {
		d.files[last].added += added
		d.files[last].removed += removed
	}
	return kind
}

// readHeader reads a line outside of hunks.
func (d *diffReader) readHeader(line string) {
	last := len(d.files) - 1
	if name, ok := strings.CutPrefix(line, "--- "); ok {
		d.from = name
	} else if name, ok := strings.CutPrefix(line, "+++ "); ok {
		if name == "/dev/null" {
			name = d.from
		}
		d.files = append(d.files, fileDiff{name: name})
	} else if hunk, ok := strings.CutPrefix(line, "@@ -"); ok {
		before, after, _ := strings.Cut(hunk, " +")
		d.before, d.after = hunkLength(before), hunkLength(after)
	} else if strings.HasPrefix(line, "[") && last >= 0 {
		d.before, d.after, d.files[last].cut = 0, 0, true
	}
}

// hunkLength reads the length from "START,LENGTH"; without it, it is 1.
func hunkLength(text string) int {
	var start, length int
	if n, _ := fmt.Sscanf(text, "%d,%d", &start, &length); n < 2 {
		return 1
	}
	return length
}

// drawDiff draws the changes of a call.
func drawDiff(diff string, text *catalogue.Language) part {
	var lines parts
	var read diffReader
	for line := range strings.Lines(diff) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
		kind := read.classify(line)
		if len(lines) == maxDiff {
			kind, line = "at", "…"
		}
		if len(lines) <= maxDiff {
			lines = append(lines, element("span", class(kind), written(view.Visible(line))))
		}
	}
	name := func(f fileDiff) part { return element("code", written(" "+view.Visible(f.String()))) }
	return when(len(lines) > 0, element("figure", class("diff"),
		element("figcaption", written(text.Of("It would change:")), each(read.files, name)), element("pre", lines)))
}
