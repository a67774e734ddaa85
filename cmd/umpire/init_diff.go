package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/adapter"
)

// diffContext is how many unchanged lines are shown around a change.
const diffContext = 3

// maxDiffCells bounds the table that finds common lines. Beyond it the whole
// middle of a file counts as changed.
const maxDiffCells = 4 << 20

// A diffLine is one line with ' ', '-' or '+' before it.
type diffLine struct {
	sign byte
	text string
}

// diff shows the change as `diff -u` does.
func (c settingsChange) diff() string {
	from, to := c.path, c.path
	if !c.existed {
		from = "/dev/null"
	}
	if c.remove {
		to = "/dev/null"
	}
	head := fmt.Sprintf("--- %s\n+++ %s\n", adapter.Visible(from), adapter.Visible(to))
	return head + hunks(diffLines(splitLines(c.before), splitLines(c.after)))
}

func splitLines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// diffLines turns a into b: what both ends share first, then the longest
// common lines of what is between.
func diffLines(a, b []string) []diffLine {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	lines := signed(nil, ' ', a[:head])
	lines = middle(lines, a[head:len(a)-tail], b[head:len(b)-tail])
	return signed(lines, ' ', a[len(a)-tail:])
}

func signed(lines []diffLine, sign byte, texts []string) []diffLine {
	for _, text := range texts {
		lines = append(lines, diffLine{sign, text})
	}
	return lines
}

func middle(lines []diffLine, a, b []string) []diffLine {
	if len(a)*len(b) > maxDiffCells {
		return signed(signed(lines, '-', a), '+', b)
	}
	common := commonLines(a, b)
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			lines = append(lines, diffLine{' ', a[i]})
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			lines = append(lines, diffLine{'-', a[i]})
			i++
		default:
			lines = append(lines, diffLine{'+', b[j]})
			j++
		}
	}
	return signed(signed(lines, '-', a[i:]), '+', b[j:])
}

// commonLines holds at [i][j] how many lines a[i:] and b[j:] share in order.
func commonLines(a, b []string) [][]int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := range slices.Backward(a) {
		for j := range slices.Backward(b) {
			table[i][j] = max(table[i+1][j], table[i][j+1])
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			}
		}
	}
	return table
}

// hunks writes the changed parts with their surroundings.
func hunks(lines []diffLine) string {
	var b strings.Builder
	for start := 0; start < len(lines); {
		from := nextChange(lines, start)
		if from == len(lines) {
			break
		}
		end := from
		for next := from; next < len(lines) && next <= end+2*diffContext; next = nextChange(lines, next+1) {
			end = next
		}
		end = min(end+diffContext+1, len(lines))
		writeHunk(&b, lines, max(from-diffContext, start), end)
		start = end
	}
	return b.String()
}

// nextChange is the index of the first changed line from i on.
func nextChange(lines []diffLine, i int) int {
	for i < len(lines) && lines[i].sign == ' ' {
		i++
	}
	return i
}

func writeHunk(b *strings.Builder, lines []diffLine, from, to int) {
	oldLine, newLine := count(lines[:from], '+'), count(lines[:from], '-')
	oldLen, newLen := count(lines[from:to], '+'), count(lines[from:to], '-')
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", hunkStart(oldLine, oldLen), oldLen, hunkStart(newLine, newLen), newLen)
	for _, line := range lines[from:to] {
		fmt.Fprintf(b, "%c%s\n", line.sign, visibleLine(line.text))
	}
}

// count counts lines that do not have the sign.
func count(lines []diffLine, without byte) int {
	n := 0
	for _, line := range lines {
		if line.sign != without {
			n++
		}
	}
	return n
}

// hunkStart counts from 1; an empty side stands before its first line.
func hunkStart(before, length int) int {
	if length == 0 {
		return before
	}
	return before + 1
}

// visibleLine escapes what a terminal would obey; a tab is harmless.
func visibleLine(text string) string {
	parts := strings.Split(text, "\t")
	for i := range parts {
		parts[i] = adapter.Visible(parts[i])
	}
	return strings.Join(parts, "\t")
}
