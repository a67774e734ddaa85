package cli

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "draw the pictures in docs again")

// drawn FILE: waits until the screen is what the picture in FILE of the repository shows.
// With -update it is drawn as the screen is once nothing more is drawn on it.
func scriptDrawn(ts *testscript.TestScript, _ bool, args []string) {
	d := ts.Value(terminalKey{}).(*terminal)
	file := filepath.Join("..", "..", filepath.FromSlash(args[0]))
	picture := func() string {
		screen := d.named(d.tmux(ts, "capture-pane", "-e", "-p", "-t", "chat"))
		return drawSVG(strings.ReplaceAll(screen, "/tmp/umpiretest00000000/project", "~/greeter"))
	}
	if *update {
		for quiet := false; !quiet; {
			select {
			case <-d.drawn:
			case <-time.After(time.Second):
				quiet = true
			}
		}
		ts.Check(os.WriteFile(file, []byte(picture()), 0o644))
	}
	want, err := os.ReadFile(file)
	ts.Check(err)
	for late := time.After(answerTime); picture() != string(want); {
		select {
		case <-d.drawn:
		case <-late:
			ts.Fatalf("%s is out of date; -update draws it again", args[0])
		}
	}
}

// Measures of the picture, in pixels.
const (
	cellWidth  = 8.43 // of a character at fontSize
	cellHeight = 18
	fontSize   = 14
	margin     = 18
)

// ink is how a piece of text is drawn.
type ink struct {
	colour                 int // of the terminal's palette, -1 for its own
	bold, faint, underline bool
	reverse                bool
}

// palette holds the colours 0 to 15 of the terminal that is drawn.
var palette = [16]string{
	"#484f58", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#b1bac4",
	"#6e7681", "#ffa198", "#a5e8ab", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#f0f6fc",
}

const (
	paper   = "#0d1117"
	writing = "#c9d1d9"
)

// A stretch is text of one ink in one line.
type stretch struct {
	ink
	text string
}

// drawSVG draws a screen with its escapes as a picture. Each stretch of one ink is given
// its width, so that columns stand whatever the font.
func drawSVG(screen string) string {
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	columns := 0
	for _, line := range lines {
		columns = max(columns, ansi.StringWidth(line))
	}
	width, height := int(float64(columns)*cellWidth)+2*margin, len(lines)*cellHeight+2*margin
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="a terminal">`+"\n", width, height, width, height)
	fmt.Fprintf(&svg, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", paper)
	fmt.Fprintf(&svg, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="%d" fill="%s" xml:space="preserve">`+"\n", fontSize, writing)
	now := ink{colour: -1} // which tmux carries on from line to line
	for row, line := range lines {
		column := 0
		for _, s := range now.stretches(line) {
			s.draw(&svg, column, row)
			column += ansi.StringWidth(s.text)
		}
	}
	svg.WriteString("</g>\n</svg>\n")
	return svg.String()
}

// draw writes the stretch where it begins.
func (s *stretch) draw(svg *bytes.Buffer, column, row int) {
	wide := float64(ansi.StringWidth(s.text)) * cellWidth
	x, y := margin+float64(column)*cellWidth, margin+row*cellHeight
	colour := ""
	if s.colour >= 0 {
		colour = palette[s.colour]
	}
	if s.reverse {
		fill := writing
		if colour != "" {
			fill = colour
		}
		fmt.Fprintf(svg, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", x, y, wide, cellHeight, fill)
		colour = paper
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
	xml.EscapeText(svg, []byte(s.text))
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
		i.change(codes)
		line = after
	}
	return all
}

// change takes in the codes of one escape.
func (i *ink) change(codes string) {
	for code := range strings.SplitSeq(codes, ";") {
		n, _ := strconv.Atoi(code) // none is 0
		switch {
		case n == 0:
			*i = ink{colour: -1}
		case n == 1:
			i.bold = true
		case n == 2:
			i.faint = true
		case n == 4:
			i.underline = true
		case n == 7:
			i.reverse = true
		case n >= 30 && n <= 37:
			i.colour = n - 30
		case n == 39:
			i.colour = -1
		case n >= 90 && n <= 97:
			i.colour = n - 90 + 8
		}
	}
}
