package fake

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Measures of the picture, in pixels.
const (
	cellWidth  = 8.43 // of a character at fontSize
	cellHeight = 18
	fontSize   = 14
	margin     = 18
)

// ink is the style of a piece of text.
type ink struct {
	colour, ground         string // of the text and of its background; "" is the terminal's default
	bold, faint, underline bool
	reverse                bool
}

// palette holds the colours 0 to 15 of the terminal that is drawn.
var palette = [16]string{
	"#484f58", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#b1bac4",
	"#6e7681", "#ffa198", "#a5e8ab", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#f0f6fc",
}

// unbroken is a blank that browsers neither drop nor join with the next.
const unbroken = "\u00a0"

const (
	paper   = "#0d1117"
	writing = "#c9d1d9"
)

// A stretch is text with one ink in one line.
type stretch struct {
	ink
	text string
}

// DrawTerminal draws a screen, given as lines with escapes, as in a tmux capture. Each run of text
// with one ink has a fixed width, which keeps columns aligned in any font.
func DrawTerminal(screen string) string { return FilmTerminal([]TerminalFrame{{Screen: screen}}, 0) }

// A TerminalFrame is a screen of a film, and how long it is shown.
type TerminalFrame struct {
	Screen string
	Time   time.Duration
}

// FilmTerminal draws screens one after the other, again and again. The picture is as large as its largest
// frame. Where pictures do not move, the frame with the index still is seen.
func FilmTerminal(frames []TerminalFrame, still int) string {
	columns, rows, whole := 0, 0, time.Duration(0)
	for _, f := range frames {
		lines := linesOf(f.Screen)
		rows, whole = max(rows, len(lines)), whole+f.Time
		for _, line := range lines {
			columns = max(columns, ansi.StringWidth(line))
		}
	}
	width, height := int(float64(columns)*cellWidth)+2*margin, rows*cellHeight+2*margin
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d"`,
		width, height, width, height)
	svg.WriteString(` role="img" aria-label="a terminal">` + "\n")
	if len(frames) > 1 {
		writeTurns(&svg, frames, still, whole)
	}
	fmt.Fprintf(&svg, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", paper)
	fmt.Fprintf(&svg, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="%d" fill="%s"`,
		fontSize, writing)
	svg.WriteString(">\n")
	for i, f := range frames {
		if len(frames) > 1 {
			fmt.Fprintf(&svg, `<g class="f%d">`+"\n", i)
		}
		drawScreen(&svg, f.Screen)
		if len(frames) > 1 {
			svg.WriteString("</g>\n")
		}
	}
	svg.WriteString("</g>\n</svg>\n")
	return svg.String()
}

// writeTurns writes the style that shows each frame in its turn.
func writeTurns(svg *bytes.Buffer, frames []TerminalFrame, still int, whole time.Duration) {
	svg.WriteString("<style>\n")
	begun := time.Duration(0)
	for i, f := range frames {
		from := 100 * begun.Seconds() / whole.Seconds()
		begun += f.Time
		to := 100 * begun.Seconds() / whole.Seconds()
		fmt.Fprintf(svg, "@keyframes f%d{0%%{visibility:%s}%.2f%%{visibility:visible}", i, visibility(i == 0), from)
		fmt.Fprintf(svg, "%.2f%%,100%%{visibility:hidden}}\n", to)
		fmt.Fprintf(svg, ".f%d{visibility:%s;animation:f%[1]d %.1[3]fs step-end infinite}\n",
			i, visibility(i == still), whole.Seconds())
	}
	svg.WriteString("@media(prefers-reduced-motion:reduce){g{animation:none!important}}\n</style>\n")
}

func visibility(visible bool) string {
	if visible {
		return "visible"
	}
	return "hidden"
}

func linesOf(screen string) []string { return strings.Split(strings.TrimRight(screen, "\n"), "\n") }

func drawScreen(svg *bytes.Buffer, screen string) {
	now := ink{} // which tmux carries on from line to line
	for row, line := range linesOf(screen) {
		column := 0
		for _, s := range now.stretches(line) {
			wide := ansi.StringWidth(s.text)
			s.draw(svg, column, row)
			column += wide
		}
	}
}

// draw writes the stretch at its position. It omits invisible trailing blanks, because a terminal
// that redraws a line gives them arbitrary inks.
func (s *stretch) draw(svg *bytes.Buffer, column, row int) {
	if s.ground == "" && !s.reverse && !s.underline {
		s.text = strings.TrimRight(s.text, " ")
	}
	wide := float64(ansi.StringWidth(s.text)) * cellWidth
	x, y := margin+float64(column)*cellWidth, margin+row*cellHeight
	colour, ground := s.colour, s.ground
	if s.reverse {
		colour, ground = cmp.Or(ground, paper), cmp.Or(colour, writing)
	}
	if ground != "" {
		fmt.Fprintf(svg, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n",
			x, y, wide, cellHeight, ground)
	}
	if strings.TrimSpace(s.text) == "" {
		return
	}
	fmt.Fprintf(svg, `<text x="%.1f" y="%d" textLength="%.1f"`, x, y+fontSize-1, wide)
	if colour != "" {
		fmt.Fprintf(svg, ` fill="%s"`, colour)
	}
	if s.bold {
		svg.WriteString(` font-weight="bold"`)
	}
	if s.faint {
		svg.WriteString(` opacity="0.6"`)
	}
	if s.underline {
		svg.WriteString(` text-decoration="underline"`)
	}
	svg.WriteString(">")
	_ = xml.EscapeText(svg, []byte(strings.ReplaceAll(s.text, " ", unbroken))) // a buffer never fails
	svg.WriteString("</text>\n")
}

// stretches splits a line where its ink changes, beginning with this one.
func (i *ink) stretches(line string) []stretch {
	var all []stretch
	for line != "" {
		before, rest, escaped := strings.Cut(line, "\x1b[")
		if before != "" {
			all = append(all, stretch{*i, before})
		}
		if !escaped {
			break
		}
		codes, after, _ := strings.Cut(rest, "m")
		i.applyCodes(codes)
		line = after
	}
	return all
}

// applyCodes applies the codes of one escape.
func (i *ink) applyCodes(codes string) {
	all := strings.Split(codes, ";")
	for at := 0; at < len(all); at++ {
		n, _ := strconv.Atoi(all[at]) // a missing code is 0
		switch {
		case n == 0:
			*i = ink{}
		case n == 1:
			i.bold = true
		case n == 2:
			i.faint = true
		case n == 4:
			i.underline = true
		case n == 7:
			i.reverse = true
		case n == 22:
			i.bold, i.faint = false, false
		case n == 24:
			i.underline = false
		case n == 27:
			i.reverse = false
		case n == 38 || n == 48:
			colour, used := mixedColour(all[at+1:])
			at += used
			if n == 38 {
				i.colour = colour
			} else {
				i.ground = colour
			}
		case n >= 30 && n <= 37:
			i.colour = palette[n-30]
		case n == 39:
			i.colour = ""
		case n >= 40 && n <= 47:
			i.ground = palette[n-40]
		case n == 49:
			i.ground = ""
		case n >= 90 && n <= 97:
			i.colour = palette[n-90+8]
		}
	}
}

// mixedColour reads a colour that is not one of the first sixteen: one of 256, or three parts. It
// returns how many codes that took.
func mixedColour(codes []string) (colour string, used int) {
	part := func(i int) int {
		if i >= len(codes) {
			return 0
		}
		n, _ := strconv.Atoi(codes[i])
		return min(max(n, 0), 255)
	}
	switch part(0) {
	case 2:
		return fmt.Sprintf("#%02x%02x%02x", part(1), part(2), part(3)), min(4, len(codes))
	case 5:
		return indexed(part(1)), min(2, len(codes))
	}
	return "", min(1, len(codes))
}

// indexed is one of the 256 colours: the palette, a cube of six steps, and greys.
func indexed(n int) string {
	switch {
	case n < 16:
		return palette[n]
	case n < 232:
		step := func(n int) int { return []int{0, 95, 135, 175, 215, 255}[n%6] }
		return fmt.Sprintf("#%02x%02x%02x", step((n-16)/36), step((n-16)/6), step(n-16))
	}
	grey := 8 + 10*(n-232)
	return fmt.Sprintf("#%02[1]x%02[1]x%02[1]x", grey)
}
