package tui

import (
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// drawMarkdown renders a model's text: headings, lists, quotes, code and emphasis get a
// style, and everything else stays as written. The text is made safe before it is
// parsed. A link shows its target and is never passed to the terminal as a link, so a
// person sees its real address.
func drawMarkdown(said string, width int) []string {
	source := []byte(strings.Join(safeLines(said), "\n"))
	w := &marker{source: source}
	return w.blocks(markdownParser().Parse(text.NewReader(source)), width)
}

// markdownParser returns a parser for common Markdown.
func markdownParser() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...), parser.WithParagraphTransformers(
			parser.DefaultParagraphTransformers()...,
		))
}

// A marker renders the tree of one text.
type marker struct{ source []byte }

// blocks draws the blocks below a node, with an empty line between them.
func (w *marker) blocks(parent ast.Node, width int) []string {
	var all []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		lines := w.block(n, width)
		if len(all) > 0 && len(lines) > 0 && !followsClosely(n) {
			all = append(all, "")
		}
		all = append(all, lines...)
	}
	return all
}

// followsClosely reports whether a block follows the previous one without an empty line.
func followsClosely(n ast.Node) bool {
	list, inList := n.Parent().(*ast.List)
	_, inItem := n.Parent().(*ast.ListItem)
	return inList && list.IsTight || inItem && !n.HasBlankPreviousLines()
}

// block draws one block.
func (w *marker) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return foldLines(w.inline(n, boldStyle), width)
	case *ast.Blockquote:
		return prefixLines(dimStyle.Render("│ "), w.blocks(n, width-2))
	case *ast.List:
		return w.list(n, width)
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		return prefixLines("  ", foldLines(paintLines(codeStyle, w.raw(n)), width-2))
	case *ast.ThematicBreak:
		return []string{dimStyle.Render(strings.Repeat("─", max(1, min(width, 20))))}
	}
	return foldLines(layOutTable(w.inline(n, plainStyle), width), width)
}

// list draws the items of a list behind their marks.
func (w *marker) list(n *ast.List, width int) []string {
	var all []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		if len(all) > 0 && !n.IsTight {
			all = append(all, "")
		}
		lines := w.blocks(item, width-len([]rune(mark)))
		if len(lines) == 0 {
			lines = []string{""}
		}
		all = append(all, mark+lines[0])
		all = append(all, prefixLines(strings.Repeat(" ", len([]rune(mark))), lines[1:])...)
	}
	return all
}

func prefixLines(prefix string, lines []string) []string {
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = prefix + line
	}
	return all
}

// raw returns the unchanged lines of a block.
func (w *marker) raw(n ast.Node) []string {
	var all []string
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		all = append(all, strings.TrimSuffix(string(segment.Value(w.source)), "\n"))
	}
	if html, is := n.(*ast.HTMLBlock); is && html.HasClosure() {
		all = append(all, strings.TrimSuffix(string(html.ClosureLine.Value(w.source)), "\n"))
	}
	return all
}

// inline draws the text of a block. Ends of lines stay: a model's tables and verses are
// laid out by them.
func (w *marker) inline(parent ast.Node, style lipgloss.Style) []string {
	var b strings.Builder
	w.spans(&b, parent, style)
	return strings.Split(b.String(), "\n")
}

func (w *marker) spans(b *strings.Builder, parent ast.Node, style lipgloss.Style) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.span(b, n, style)
	}
}

func (w *marker) span(b *strings.Builder, n ast.Node, style lipgloss.Style) {
	switch n := n.(type) {
	case *ast.Text:
		b.WriteString(style.Render(string(n.Segment.Value(w.source))))
		if n.SoftLineBreak() || n.HardLineBreak() {
			b.WriteByte('\n')
		}
	case *ast.String:
		b.WriteString(style.Render(string(n.Value)))
	case *ast.CodeSpan:
		w.spans(b, n, codeStyle)
	case *ast.Emphasis:
		if n.Level > 1 {
			w.spans(b, n, style.Bold(true))
		} else {
			w.spans(b, n, style.Italic(true))
		}
	case *ast.Link:
		w.spans(b, n, style)
		b.WriteString(dimStyle.Render(" <" + string(n.Destination) + ">"))
	case *ast.Image:
		w.spans(b, n, style)
		b.WriteString(dimStyle.Render(" <" + string(n.Destination) + ">"))
	case *ast.AutoLink:
		b.WriteString(style.Render(string(n.Label(w.source))))
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			b.WriteString(style.Render(string(segment.Value(w.source))))
		}
	default:
		w.spans(b, n, style)
	}
}
