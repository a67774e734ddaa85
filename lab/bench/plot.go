package main

import (
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// writePlots writes one picture of all rows, and one for each growth.
func writePlots(dir string, rows []row, growths []growth, rounds []figures) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if len(rows) > 0 {
		if err := os.WriteFile(filepath.Join(dir, "rows.svg"), []byte(plotRows(rows, rounds)), 0o644); err != nil {
			return err
		}
	}
	for i := range growths {
		g := &growths[i]
		name := strings.ToLower(g.benchmark.name) + ".svg"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(plotGrowth(g, rounds)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// The size of a picture, in pixels.
const (
	plotWidth  = 820
	leftMargin = 380
	rowHeight  = 26
	barWidth   = plotWidth - leftMargin - 90
)

const plotStyle = `<style>
text{font:13px sans-serif;fill:#24292f}
.n{fill:#57606a}
.ok{fill:#2da44e}
.over{fill:#bf8700}
.goal{stroke:#24292f;stroke-width:2}
.line{fill:none;stroke:#0969da;stroke-width:2}
.dot{fill:#0969da}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.n{fill:#8d96a0}.goal{stroke:#e6edf3}}
</style>
`

// svgHead begins a picture that is readable on light and dark pages.
func svgHead(height int, title string) string {
	const head = `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" ` +
		`viewBox="0 0 %[1]d %[2]d" role="img">` + "\n"
	return fmt.Sprintf(head, plotWidth, height) + "<title>" + html.EscapeString(title) + "</title>\n" + plotStyle
}

// plotRows draws each row's figure as a part or a multiple of its solid goal, on a scale of
// powers of two with the goal in the middle.
func plotRows(rows []row, rounds []figures) string {
	var b strings.Builder
	y := 40
	for i := range rows {
		r := &rows[i]
		s, ok := r.measuredAs(rounds)
		if !ok || r.solid == 0 {
			continue
		}
		const octaves = 4 // to each side of the goal
		part := min(max(math.Log2(s.median/r.solid), -octaves), octaves)
		width := barWidth * (part + octaves) / (2 * octaves)
		class := "ok"
		if part > 0 {
			class = "over"
		}
		label := r.work
		if r.anchor != "" {
			label += ", beside " + r.anchor
		}
		label = strings.ReplaceAll(label, "`", "")
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n",
			leftMargin-10, y+15, html.EscapeString(label))
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%.0f" height="%d"/>`+"\n",
			class, leftMargin, y, max(1, width), rowHeight-6)
		fmt.Fprintf(&b, `<text class="n" x="%.0f" y="%d">%s</text>`+"\n", leftMargin+width+6, y+15, multiple(s.median))
		y += rowHeight
	}
	middle := leftMargin + barWidth/2
	goal := fmt.Sprintf(`<text x="%d" y="24" text-anchor="middle">the goal; shorter is better</text>`+"\n", middle) +
		fmt.Sprintf(`<path class="goal" d="M%d 32V%d"/>`+"\n", middle, y)
	return svgHead(y+20, "umpire beside its anchors") + goal + b.String() + "</svg>\n"
}

// plotGrowth draws figures over sizes, both on logarithmic scales.
func plotGrowth(g *growth, rounds []figures) string {
	const height, bottom, top, left = 300, 250, 50, 80
	points := g.points(rounds)
	text := svgHead(height, g.title) +
		fmt.Sprintf(`<text x="%d" y="24">%s (%s)</text>`+"\n", left, html.EscapeString(g.title), g.unit)
	if len(points) == 0 {
		return text + "</svg>\n"
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		low, high = min(low, p.least), max(high, p.most)
	}
	low, high = math.Floor(math.Log10(low)), math.Ceil(math.Log10(high)+1e-9)
	place := func(size int) float64 { return math.Log10(float64(max(1, size))) }
	first, last := place(points[0].size), place(points[len(points)-1].size)
	x := func(size int) float64 { return left + (plotWidth-left-60)*(place(size)-first)/max(1, last-first) }
	y := func(value float64) float64 { return bottom - (bottom-top)*(math.Log10(value)-low)/max(1, high-low) }
	var line []string
	for _, p := range points {
		line = append(line, fmt.Sprintf("%.1f,%.1f", x(p.size), y(p.median)))
		text += fmt.Sprintf(`<circle class="dot" cx="%.1f" cy="%.1f" r="3"/>`+"\n", x(p.size), y(p.median))
		text += fmt.Sprintf(`<path class="line" d="M%.1f %.1fV%.1f"/>`+"\n", x(p.size), y(p.least), y(p.most))
		text += fmt.Sprintf(`<text class="n" x="%.1f" y="%.1f">%.3g</text>`+"\n", x(p.size)+6, y(p.median)-8, p.median)
		text += fmt.Sprintf(`<text class="n" x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n",
			x(p.size), bottom+22, p.size)
	}
	return text + fmt.Sprintf(`<polyline class="line" points="%s"/><text class="n" x="%d" y="%d">%s</text>`+"\n",
		strings.Join(line, " "), left, bottom+42, g.size) + "</svg>\n"
}
