package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/view/fold"
)

// maxDiff bounds the lines of a diff on a card.
const maxDiff = 400

// A diffReader reads a unified diff line by line. Only the length of a hunk distinguishes a removed
// line that begins with two dashes from the name of the next file.
type diffReader struct {
	before, after int    // lines left in the hunk
	old, new      int    // the numbers of the next lines
	gap           int    // unchanged lines above the hunk that was begun
	from          string // the name above the next "+++"
	files         []fileDiff
	notes         []string // lines about files without a diff, such as links
}

// A fileDiff has the changed lines of a file, and counts them.
type fileDiff struct {
	name           string
	added, removed int
	cut            bool // lines are omitted, so the counts are too low
	lines          []diffLine
}

// A diffLine is a line of a diff, or a fold of several.
type diffLine struct {
	kind     string // the style class: same, add, del, at, or fold
	text     string
	number   int // of the line after the change, or of a removed line before it
	from, to int // the changed words of a line that replaces another, or is replaced
	folded   []diffLine
}

func (f *fileDiff) String() string {
	if f.cut || f.added+f.removed == 0 {
		return f.name
	}
	return fmt.Sprintf("%s +%d −%d", f.name, f.added, f.removed)
}

// readDiff reads a unified diff. Runs of equal lines and those of lock files are folded.
func readDiff(diff string, text *catalogue.Language) *diffReader {
	d := &diffReader{}
	var lines []string
	for line := range strings.Lines(diff) {
		lines = append(lines, view.Visible(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")))
	}
	seen := map[string]bool{}
	for _, f := range fold.Diff(lines, text) {
		if f.Lines == nil {
			d.add(f.Text, text, seen)
			continue
		}
		last, start := len(d.files)-1, 0
		if last >= 0 {
			start = len(d.files[last].lines)
		}
		for _, line := range f.Lines {
			d.add(line, text, seen)
		}
		if last >= 0 && last == len(d.files)-1 && len(d.files[last].lines) > start {
			d.files[last].foldFrom(start, strings.TrimSpace(f.Text))
		}
	}
	for i := range d.files {
		markWords(d.files[i].lines)
	}
	return d
}

// foldFrom folds the lines from one on.
func (f *fileDiff) foldFrom(start int, says string) {
	folded := slices.Clone(f.lines[start:])
	f.lines = append(f.lines[:start], diffLine{kind: "fold", text: says, folded: folded})
}

// add reads the next line.
func (d *diffReader) add(line string, text *catalogue.Language, seen map[string]bool) {
	l, shown := d.next(line)
	last := len(d.files) - 1
	switch {
	case !shown:
	case last < 0 || d.files[last].name == "":
		if key := strings.Join(strings.Fields(line), " "); key != "" && !seen[key] {
			seen[key] = true // the tree names it already
			d.notes = append(d.notes, line)
		}
	default:
		if d.gap > 0 {
			said := text.Count(d.gap, "%d unchanged line", "%d unchanged lines")
			d.files[last].lines = append(d.files[last].lines, diffLine{kind: "at", text: "⋯ " + said})
		}
		d.files[last].lines, d.gap = append(d.files[last].lines, l), 0
	}
}

// next reads a line, and reports whether it is shown: the names and numbers of a diff have their own places.
func (d *diffReader) next(line string) (l diffLine, shown bool) {
	if d.before <= 0 && d.after <= 0 || strings.HasPrefix(line, "[") {
		return diffLine{kind: "at", text: line}, d.readHeader(line)
	}
	added, removed := 0, 0
	l = diffLine{kind: "same", text: line, number: d.new}
	switch {
	case strings.HasPrefix(line, "+"):
		added, l.kind = 1, "add"
	case strings.HasPrefix(line, "-"):
		removed, l.kind, l.number = 1, "del", d.old
	case strings.HasPrefix(line, `\`): // no newline at the end of the file
		return diffLine{kind: "at", text: line}, true
	}
	d.before, d.after = d.before-1+added, d.after-1+removed
	d.old, d.new = d.old+1-added, d.new+1-removed
	if last := len(d.files) - 1; last >= 0 {
		d.files[last].added += added
		d.files[last].removed += removed
	}
	return l, true
}

// readHeader reads a line outside of hunks, and reports whether it is shown.
func (d *diffReader) readHeader(line string) (shown bool) {
	last := len(d.files) - 1
	if name, ok := strings.CutPrefix(line, "--- "); ok {
		d.from = name
		return false
	}
	if name, ok := strings.CutPrefix(line, "+++ "); ok {
		if name == "/dev/null" {
			name = d.from
		}
		d.files = append(d.files, fileDiff{name: name})
		d.old, d.new = 1, 1
		return false
	}
	if hunk, ok := strings.CutPrefix(line, "@@ -"); ok && last >= 0 {
		before, after, _ := strings.Cut(hunk, " +")
		var start int
		start, d.before = hunkRange(before)
		d.gap, d.old = max(0, start-d.old), start
		d.new, d.after = hunkRange(after)
		return false
	}
	if strings.HasPrefix(line, "[") && last >= 0 {
		d.before, d.after, d.files[last].cut = 0, 0, true
		return true
	}
	if last >= 0 && d.files[last].name != "" && !strings.HasPrefix(line, `\`) { // no newline at the end
		d.files = append(d.files, fileDiff{}) // the lines of the file are over
	}
	return true
}

// hunkRange reads the first number and the length from "START,LENGTH"; without it, the length is 1.
func hunkRange(text string) (start, length int) {
	if n, _ := fmt.Sscanf(text, "%d,%d", &start, &length); n < 2 {
		return start, 1
	}
	return start, length
}

// markWords finds the changed words of lines that replace as many others.
func markWords(lines []diffLine) {
	for i := 0; i < len(lines); {
		removed := runOf(lines[i:], "del")
		added := runOf(lines[i+removed:], "add")
		if removed == added {
			for n := range removed {
				markPair(&lines[i+n], &lines[i+removed+n])
			}
		}
		i += max(1, removed+added)
	}
}

func runOf(lines []diffLine, kind string) (n int) {
	for n < len(lines) && lines[n].kind == kind {
		n++
	}
	return n
}

// markPair marks the part in which two lines differ, unless that is most of them.
func markPair(before, after *diffLine) {
	a, b := before.text[1:], after.text[1:]
	start, end := 0, 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for start > 0 && start < len(a) && !utf8.RuneStart(a[start]) {
		start--
	}
	for end > 0 && !utf8.RuneStart(a[len(a)-end]) {
		end--
	}
	if start+end == 0 {
		return
	}
	before.from, before.to = 1+start, 1+len(a)-end
	after.from, after.to = 1+start, 1+len(b)-end
}

// draw draws a line.
func (l *diffLine) draw(numbered bool) part {
	if l.kind == "fold" {
		inner := func(l diffLine) part { return l.draw(numbered) }
		return element("details", class("fold"), element("summary", written(l.text)), each(l.folded, inner))
	}
	said := parts{written(l.text)}
	if l.from < l.to {
		said = parts{written(l.text[:l.from]), element("mark", written(l.text[l.from:l.to])), written(l.text[l.to:])}
	}
	return element("span", class(l.kind), when(numbered && l.number > 0, attr("data-n", strconv.Itoa(l.number))), said)
}

// drawNotes draws what is known of changes besides their lines: the tree of a trial.
func (d *diffReader) drawNotes() part {
	return when(len(d.notes) > 0, element("pre", class("tree"), written(strings.Join(d.notes, "\n"))))
}

// drawFiles draws the changed lines, by file.
func (d *diffReader) drawFiles(numbered bool) part {
	left := maxDiff
	file := func(f fileDiff) part {
		if left <= 0 || f.name == "" {
			return parts(nil)
		}
		cut := len(f.lines) > left
		f.lines = f.lines[:min(left, len(f.lines))]
		left -= len(f.lines)
		line := func(l diffLine) part { return l.draw(numbered) }
		return element("figure", class("diff"), element("figcaption", element("code", written(view.Visible(f.String())))),
			element("pre", each(f.lines, line), when(cut, element("span", class("at"), written("…")))))
	}
	return each(d.files, file)
}

// drawDiff draws the changes of a call.
func drawDiff(diff string, numbered bool, text *catalogue.Language) part {
	if diff == "" {
		return parts(nil)
	}
	d := readDiff(diff, text)
	return parts{element("h3", class("quiet"), written(text.Of("It would change:"))), d.drawNotes(), d.drawFiles(numbered)}
}
