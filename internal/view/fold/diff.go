package fold

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// FileDiffs holds the files of a unified diff.
type FileDiffs struct {
	Files []FileDiff
	Notes []string // lines about files without a diff, such as links
}

// A reader reads a unified diff line by line. Only the length of a hunk distinguishes a removed
// line that begins with two dashes from the name of the next file.
type reader struct {
	FileDiffs

	before, after int    // lines left in the hunk
	old, new      int    // the numbers of the next lines
	gap           int    // unchanged lines above the hunk that was begun
	from          string // the name above the next "+++"
}

// A FileDiff has the changed lines of a file, and counts them.
type FileDiff struct {
	Name  string // "" for lines that belong to no file
	Lines []DiffLine

	added, removed int
	cut            bool // lines are omitted, so the counts are too low
}

// A DiffLine is a line of a diff that is safe to show, or a fold of several.
type DiffLine struct {
	Kind     string // same, add, del, at, or fold
	Text     string
	Number   int // of the line after the change, or of a removed line before it; 0 for other lines
	From, To int // the changed words of a line that replaces another, or is replaced
	Folded   []DiffLine
}

// String returns the file's name, with the numbers of added and removed lines.
func (f *FileDiff) String() string {
	if f.cut || f.added+f.removed == 0 {
		return f.Name
	}
	return fmt.Sprintf("%s +%d −%d", f.Name, f.added, f.removed)
}

// ReadDiff reads a unified diff. Runs of equal lines and those of lock files are folded.
func ReadDiff(diff string, text *catalogue.Language) *FileDiffs {
	d := &reader{}
	var lines []string
	for line := range strings.Lines(diff) {
		lines = append(lines, view.Visible(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")))
	}
	seen := map[string]bool{}
	for _, f := range Diff(lines, text) {
		if f.Lines == nil {
			d.appendLine(f.Text, text, seen)
			continue
		}
		last, start := len(d.Files)-1, 0
		if last >= 0 {
			start = len(d.Files[last].Lines)
		}
		for _, line := range f.Lines {
			d.appendLine(line, text, seen)
		}
		if last >= 0 && last == len(d.Files)-1 && len(d.Files[last].Lines) > start {
			d.Files[last].foldFrom(start, strings.TrimSpace(f.Text))
		}
	}
	for i := range d.Files {
		markWords(d.Files[i].Lines)
	}
	return &d.FileDiffs
}

// foldFrom folds the lines from one on.
func (f *FileDiff) foldFrom(start int, says string) {
	folded := slices.Clone(f.Lines[start:])
	f.Lines = append(f.Lines[:start], DiffLine{Kind: "fold", Text: says, Folded: folded})
}

// appendLine reads the next line.
func (d *reader) appendLine(line string, text *catalogue.Language, seen map[string]bool) {
	l, shown := d.readLine(line)
	last := len(d.Files) - 1
	switch {
	case !shown:
	case last < 0 || d.Files[last].Name == "":
		if key := strings.Join(strings.Fields(line), " "); key != "" && !seen[key] {
			seen[key] = true // the tree names it already
			d.Notes = append(d.Notes, line)
		}
	default:
		if d.gap > 0 {
			said := text.Count(d.gap, "%d unchanged line", "%d unchanged lines")
			d.Files[last].Lines = append(d.Files[last].Lines, DiffLine{Kind: "at", Text: "⋯ " + said})
		}
		d.Files[last].Lines, d.gap = append(d.Files[last].Lines, l), 0
	}
}

// readLine reads a line, and reports whether it is shown: the names and numbers of a diff have their own places.
func (d *reader) readLine(line string) (l DiffLine, shown bool) {
	if d.before <= 0 && d.after <= 0 || strings.HasPrefix(line, "[") {
		return DiffLine{Kind: "at", Text: line}, d.readHeader(line)
	}
	added, removed := 0, 0
	l = DiffLine{Kind: "same", Text: line, Number: d.new}
	switch {
	case strings.HasPrefix(line, "+"):
		added, l.Kind = 1, "add"
	case strings.HasPrefix(line, "-"):
		removed, l.Kind, l.Number = 1, "del", d.old
	case strings.HasPrefix(line, `\`): // no newline at the end of the file
		return DiffLine{Kind: "at", Text: line}, true
	}
	d.before, d.after = d.before-1+added, d.after-1+removed
	d.old, d.new = d.old+1-added, d.new+1-removed
	if last := len(d.Files) - 1; last >= 0 {
		d.Files[last].added += added
		d.Files[last].removed += removed
	}
	return l, true
}

// readHeader reads a line outside of hunks, and reports whether it is shown.
func (d *reader) readHeader(line string) (shown bool) {
	last := len(d.Files) - 1
	if name, ok := strings.CutPrefix(line, "--- "); ok {
		d.from = name
		return false
	}
	if name, ok := strings.CutPrefix(line, "+++ "); ok {
		if name == "/dev/null" {
			name = d.from
		}
		d.Files = append(d.Files, FileDiff{Name: name})
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
		d.before, d.after, d.Files[last].cut = 0, 0, true
		return true
	}
	if last >= 0 && d.Files[last].Name != "" && !strings.HasPrefix(line, `\`) { // no newline at the end
		d.Files = append(d.Files, FileDiff{}) // the lines of the file are over
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
func markWords(lines []DiffLine) {
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

func runOf(lines []DiffLine, kind string) (n int) {
	for n < len(lines) && lines[n].Kind == kind {
		n++
	}
	return n
}

// markPair marks the part in which two lines differ, unless that is most of them.
func markPair(before, after *DiffLine) {
	a, b := before.Text[1:], after.Text[1:]
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
	before.From, before.To = 1+start, 1+len(a)-end
	after.From, after.To = 1+start, 1+len(b)-end
}
