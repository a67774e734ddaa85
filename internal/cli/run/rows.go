package run

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/view"
)

// A row is one line of the tree: a file, or a folder of which the files are counted.
type row struct {
	name   string // from the project's root; a folder's ends in a slash
	kind   string
	detail string
	note   string
	red    bool // it cannot be had again, or leads elsewhere
}

// The minimum number of files of one kind in a folder that become one row. It is lower if
// the whole folder appears or disappears.
const (
	foldWhole = 4
	foldPart  = 8
)

// rows folds equal effects, to keep the different ones visible.
func (s *sheet) rows() []row {
	list := s.held.Effects.List
	taken := make([]bool, len(list))
	var rows []row
	fold := func(dir string, kind trial.Kind, members []int) {
		rows = append(rows, s.foldedRow(dir, kind, members))
		for _, i := range members {
			taken[i] = true
		}
	}
	for i := range list { // whole folders, the outer before the inner
		e := &list[i]
		if taken[i] || !isFolder(e) || e.Kind != trial.Created && e.Kind != trial.Deleted {
			continue
		}
		members, files := s.membersOf(taken, i)
		if files >= foldWhole {
			fold(e.Path, e.Kind, members)
		}
	}
	byFolder := map[string][]int{}
	for i := range list {
		if e := &list[i]; !taken[i] && !isFolder(e) && e.Kind != trial.Moved && !s.held.Layer.LeadsOut(e) {
			key := string(e.Kind) + " " + filepath.Dir(e.Path)
			byFolder[key] = append(byFolder[key], i)
		}
	}
	for _, members := range byFolder {
		if len(members) >= foldPart {
			first := &list[members[0]]
			fold(filepath.Dir(first.Path), first.Kind, members)
		}
	}
	for i := range list {
		if !taken[i] && isListed(list, &list[i]) {
			rows = append(rows, s.rowOf(&list[i]))
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name+a.kind, b.name+b.kind) })
	return rows
}

// below returns the part of a list that is below a folder.
func below(list []trial.Effect, dir string) (from, to int) {
	byPath := func(e trial.Effect, path string) int { return strings.Compare(e.Path, path) }
	from, _ = slices.BinarySearchFunc(list, dir+"/", byPath)
	to, _ = slices.BinarySearchFunc(list, dir+"0", byPath) // '0' sorts right after '/'
	return from, to
}

// membersOf returns a folder and its contents with the same kind of effect, and the number of
// files among them. A link that leads out of the project keeps a separate row, to remain visible.
func (s *sheet) membersOf(taken []bool, folder int) (members []int, files int) {
	list := s.held.Effects.List
	members = append(members, folder)
	from, to := below(list, list[folder].Path)
	for i := from; i < to; i++ {
		e := &list[i]
		if taken[i] || e.Kind != list[folder].Kind || s.held.Layer.LeadsOut(e) {
			continue
		}
		members = append(members, i)
		if !isFolder(e) {
			files++
		}
	}
	return members, files
}

// foldedRow is one row for several files.
func (s *sheet) foldedRow(dir string, kind trial.Kind, members []int) row {
	r := row{name: s.relative(dir) + "/", kind: s.Text.Word("effect", string(kind))}
	files, untracked, added, removed := 0, 0, 0, 0
	size := int64(0)
	for _, i := range members {
		e := &s.held.Effects.List[i]
		if isFolder(e) {
			continue
		}
		files++
		size += max(e.Before.Size, e.After.Size)
		if kind == trial.Deleted && e.Before.Type.IsRegular() && !s.tracked[e.Path] {
			untracked++
		}
		if kind == trial.Changed {
			more, less := countLines(s.comparedDiff(e))
			added, removed = added+more, removed+less
		}
	}
	r.detail = s.Text.Count(files, "%d file", "%d files")
	switch {
	case added+removed > 0:
		r.detail += ", " + lineText(added, removed)
	case kind != trial.Attributes:
		r.detail += ", " + view.Size(size)
	}
	if untracked > 0 {
		r.red, r.note = true, s.Text.Count(untracked, "%d not in git", "%d not in git")
	}
	return r
}

// comparedDiff is how a file would change, for as many files as are compared.
func (s *sheet) comparedDiff(e *trial.Effect) string {
	if s.compare--; s.compare < 0 || !e.Before.Type.IsRegular() || !e.After.Type.IsRegular() {
		return ""
	}
	return s.diffOf(e)
}

// lineText returns the numbers of added and removed lines.
func lineText(added, removed int) string {
	switch {
	case removed == 0:
		return fmt.Sprintf("+%d", added)
	case added == 0:
		return fmt.Sprintf("−%d", removed)
	}
	return fmt.Sprintf("+%d −%d", added, removed)
}

// rowOf returns the row of one path.
func (s *sheet) rowOf(e *trial.Effect) row {
	r := row{name: s.relative(e.Path), kind: s.Text.Word("effect", string(e.Kind))}
	if isFolder(e) {
		r.name += "/"
	}
	switch e.Kind {
	case trial.Created:
		r.detail = describeEntry(&e.After)
	case trial.Deleted:
		r.detail = describeEntry(&e.Before)
		if e.Before.Type.IsRegular() && !s.tracked[e.Path] {
			r.red, r.note = true, s.Text.Of("not in git")
		}
	case trial.Moved:
		r.detail = fmt.Sprintf(s.Text.Of("from %s"), s.relative(e.From))
	case trial.Attributes:
		r.detail = s.modeChange(e)
	case trial.Changed:
		if added, removed := countLines(s.comparedDiff(e)); added+removed > 0 {
			r.detail = lineText(added, removed)
		} else {
			r.detail = describeEntry(&e.Before) + " → " + describeEntry(&e.After)
		}
	}
	if e.After.Type&fs.ModeSymlink != 0 {
		r.detail = "→ " + e.After.Link
		if s.held.Layer.LeadsOut(e) {
			r.red, r.note = true, s.Text.Of("leads out of the project")
		}
	}
	return r
}

// describeEntry briefly describes the file at a path.
func describeEntry(e *trial.Entry) string {
	switch {
	case e.Type.IsDir():
		return ""
	case e.Type&fs.ModeSymlink != 0:
		return "→ " + e.Link
	}
	return view.Size(e.Size)
}

// Widths of the columns.
const (
	leastName = 20
	besides   = 42 // the width of the other columns
)

// showRows writes the tree: rows of the same folder below its name.
func (s *sheet) showRows(to io.Writer) {
	rows := s.rows()
	kinds, details, names := 0, 0, leastName
	most := max(leastName, s.Columns()-besides)
	for i := range rows {
		rows[i].name, rows[i].detail = view.Visible(rows[i].name), view.Visible(rows[i].detail)
		names = max(names, min(most, view.Columns(rows[i].name)))
		kinds = max(kinds, view.Columns(rows[i].kind))
		if rows[i].note != "" {
			details = max(details, view.Columns(rows[i].detail))
		}
	}
	group := ""
	for i := range rows {
		r := &rows[i]
		name, indent := r.name, "  "
		top, rest, inside := strings.Cut(r.name, "/")
		if inside && rest != "" && (top == group || i+1 < len(rows) && strings.HasPrefix(rows[i+1].name, top+"/")) {
			if top != group {
				fmt.Fprintf(to, "  %s/\n", top)
			}
			group, name, indent = top, rest, "    "
		} else {
			group = ""
		}
		name = view.Padded(clipMiddle(name, names+2-len(indent)), names+2-len(indent))
		line := indent + name + "  " + view.Padded(r.kind, kinds) + "  "
		if r.note != "" {
			line += view.Padded(r.detail, details) + "  " + r.note
		} else {
			line += r.detail
		}
		line = strings.TrimRight(line, " ")
		if r.red {
			line = s.red(line)
		}
		fmt.Fprintln(to, line)
	}
}

// clipMiddle shortens a name in the middle, because its ends are the most informative.
func clipMiddle(name string, width int) string {
	if view.Columns(name) <= width {
		return name
	}
	runes := []rune(name)
	head, tail := len(runes)/2, len(runes)/2
	for view.Columns(string(runes[:head]))+1+view.Columns(string(runes[tail:])) > width {
		if head > width/3 && head > 0 {
			head--
		} else {
			tail++
		}
	}
	return string(runes[:head]) + "…" + string(runes[tail:])
}
