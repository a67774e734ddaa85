package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A spread is the median of some figures, the least and the most.
type spread struct{ median, least, most float64 }

func spreadOf(values []float64) (spread, bool) {
	if len(values) == 0 {
		return spread{}, false
	}
	sorted := slices.Sorted(slices.Values(values))
	return spread{sorted[len(sorted)/2], sorted[0], sorted[len(sorted)-1]}, true
}

// measuredAs reads a row's figure from each round that has it.
func (r *row) measuredAs(rounds []figures) (spread, bool) {
	var values []float64
	for _, f := range rounds {
		if value, ok := r.of(f); ok {
			values = append(values, value)
		}
	}
	return spreadOf(values)
}

// table is the rows in Markdown.
func table(rows []row, rounds []figures) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Medians of %d interleaved runs.\n\n", len(rounds))
	b.WriteString("| what | times what | measured | from, to | solid | aim |\n|---|---|---|---|---|---|\n")
	for i := range rows {
		r := &rows[i]
		measured, spreads := "not measured", ""
		if s, ok := r.measuredAs(rounds); ok {
			measured, spreads = multiple(s.median), multiple(s.least)+", "+multiple(s.most)
		}
		anchor := r.anchor
		if anchor == "" {
			anchor = "–"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n",
			r.work, anchor, measured, spreads, goal(r.solid), goal(r.aim))
	}
	return b.String()
}

func goal(g float64) string {
	if g == 0 {
		return "–"
	}
	return multiple(g)
}

// multiple formats x, writing values below 0.2 as a fraction because people say "a tenth".
func multiple(x float64) string {
	switch {
	case x <= 0:
		return "0"
	case x < 0.2:
		return "1/" + strconv.FormatFloat(1/x, 'f', 0, 64)
	case x < 10:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// A point is a figure at a size.
type point struct {
	size int
	spread
}

// points returns the values of a growth at each of its sizes, smallest first.
func (g *growth) points(rounds []figures) []point {
	values := map[int][]float64{}
	for _, f := range rounds {
		for name, units := range f {
			rest, ok := strings.CutPrefix(name, g.benchmark.name+"/")
			rest, also := strings.CutSuffix(rest, g.below)
			size, err := strconv.Atoi(rest)
			value, has := units[g.of]
			if ok && also && err == nil && has {
				values[size] = append(values[size], value*g.scale)
			}
		}
	}
	var points []point
	for size, all := range values {
		s, _ := spreadOf(all)
		points = append(points, point{size, s})
	}
	slices.SortFunc(points, func(a, b point) int { return a.size - b.size })
	return points
}

func growthTable(g growth, rounds []figures) string {
	var b strings.Builder
	const head = "%s:\n\n| %s | %s | from, to | growth, of proportional |\n|---|---|---|---|\n"
	fmt.Fprintf(&b, head, g.title, g.size, g.unit)
	points := g.points(rounds)
	for i, p := range points {
		fmt.Fprintf(&b, "| %d | %.3g | %.3g, %.3g | %s |\n", p.size, p.median, p.least, p.most, describeStep(points, i))
	}
	return b.String()
}

// describeStep compares the growth since the size before with that of the size. There is a knee where
// the figure begins to grow faster than the square root of the size.
func describeStep(points []point, i int) string {
	if i == 0 || points[i-1].size == 0 {
		return ""
	}
	grown, proportional := step(points, i)
	text := multiple(grown) + " of " + multiple(proportional)
	if i > 1 && isSteep(points, i) && !isSteep(points, i-1) {
		text += ", a knee"
	}
	return text
}

func step(points []point, i int) (grown, proportional float64) {
	a, b := &points[i-1], &points[i]
	return b.median / a.median, float64(b.size) / float64(a.size)
}

func isSteep(points []point, i int) bool {
	grown, proportional := step(points, i)
	return grown*grown > proportional
}

// describeMachine describes the machine of the measurement.
func describeMachine() string {
	load := ""
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = ", load " + strings.Join(strings.Fields(string(text))[:3], " ")
	}
	return fmt.Sprintf("%s, %s/%s, %d processors%s.\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load)
}
