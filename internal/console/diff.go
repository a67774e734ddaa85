package console

import (
	"strconv"
	"strings"

	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/view/fold"
)

// maxDiff bounds the lines of a diff on a card.
const maxDiff = 400

// drawDiffLine draws a line of a diff, or a fold.
func drawDiffLine(l *fold.DiffLine, numbered bool) part {
	if l.Kind == "fold" {
		inner := func(l fold.DiffLine) part { return drawDiffLine(&l, numbered) }
		return element("details", class("fold"), element("summary", written(l.Text)), each(l.Folded, inner))
	}
	said := parts{written(l.Text)}
	if l.From < l.To {
		said = parts{written(l.Text[:l.From]), element("mark", written(l.Text[l.From:l.To])), written(l.Text[l.To:])}
	}
	return element("span", class(l.Kind), when(numbered && l.Number > 0, attr("data-n", strconv.Itoa(l.Number))),
		said)
}

// drawDiff draws the changes of a call: what a trial says of them, and the changed lines by file.
func drawDiff(changes string, numbered bool, text *catalogue.Language) part {
	if changes == "" {
		return parts(nil)
	}
	left := maxDiff
	line := func(l fold.DiffLine) part { return drawDiffLine(&l, numbered) }
	file := func(f fold.FileDiff) part {
		if left <= 0 || f.Name == "" {
			return parts(nil)
		}
		cut := len(f.Lines) > left
		f.Lines = f.Lines[:min(left, len(f.Lines))]
		left -= len(f.Lines)
		return element("figure", class("diff"),
			element("figcaption", element("code", written(view.Visible(f.String())))),
			element("pre", each(f.Lines, line), when(cut, element("span", class("at"), written("…")))))
	}
	d := fold.ReadDiff(changes, text)
	return parts{
		element("h3", class("quiet"), written(text.Of("It would change:"))),
		when(len(d.Notes) > 0, element("pre", class("tree"), written(strings.Join(d.Notes, "\n")))),
		each(d.Files, file),
	}
}
