package docedit

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// A Block is a run of lines between two marks, each of which is a comment on its own line. The
// marks belong to the block.
type Block struct{ Begin, End string }

// In reports whether a document has the block.
func (b Block) In(d *Doc) bool { return findLine(d.text, b.Begin) >= 0 }

// findLine returns the offset of a line, or -1.
func findLine(text, want string) int {
	offset := 0
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, "\r\n") == want {
			return offset
		}
		offset += len(line)
	}
	return -1
}

// span returns the range of the block, or the end of the file if the block is missing. A key below
// the block is an error, because it belongs to the block's last table.
func (b Block) span(d *Doc) (from, to int, err error) {
	if from = findLine(d.text, b.Begin); from < 0 {
		return len(d.text), len(d.text), nil
	}
	end := findLine(d.text[from:], b.End)
	if end < 0 {
		return 0, 0, d.lines.At(from).Fault(umpire.Errorf("the closing mark %q is missing", b.End))
	}
	to = min(d.lineEnd(from+end)+len(d.newline()), len(d.text))
	for line := range strings.Lines(d.text[to:]) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			if line[0] == '[' {
				break
			}
			return 0, 0, d.lines.At(to).Fault(umpire.Errorf(
				"a key below umpire's lines would join their table: move it up"))
		}
	}
	return from, to, nil
}

// PutBlock returns the TOML document with a block: in its old place, or behind a blank line at the
// end.
func (d *Doc) PutBlock(b Block, lines string) (*Doc, error) {
	from, to, err := b.span(d)
	if err != nil {
		return nil, err
	}
	text, gap := b.Begin+"\n"+lines+b.End+"\n", "\n"
	if to == len(d.text) && d.text != "" && !strings.HasSuffix(d.text, "\n") {
		text, gap = strings.TrimSuffix(text, "\n"), "\n\n" // tells CutBlock that the last line had no end
	}
	if !b.In(d) && d.text != "" {
		text = gap + text
	}
	return d.reopen(edit{from, to, strings.ReplaceAll(text, "\n", d.newline())})
}

// CutBlock returns the TOML document without a block and the blank line before it.
func (d *Doc) CutBlock(b Block) (*Doc, error) {
	from, to, err := b.span(d)
	if err != nil || !b.In(d) {
		return d, err
	}
	before := strings.TrimSuffix(d.text[:from], d.newline())
	if !strings.HasSuffix(d.text[:to], "\n") {
		before = strings.TrimSuffix(before, d.newline())
	} else if before != "" && !strings.HasSuffix(before, "\n") {
		before = d.text[:from] // no line before it is blank
	}
	return d.reopen(edit{from: len(before), to: to})
}
