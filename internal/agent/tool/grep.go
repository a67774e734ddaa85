package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

const (
	maxGrepFile  = 8 << 20   // larger files are not searched
	maxGrepBytes = 100 << 10 // bytes of one result
	maxHits      = 100_000   // that head_limit may ask for
	maxContext   = 1000      // lines around a hit
)

// The output modes of Grep.
const (
	modeFiles   = "files_with_matches"
	modeContent = "content"
	modeCount   = "count"
)

var grepTool = tool{
	about: "Looks for a regular expression (RE2) in files. Hidden and binary files, and what .gitignore names, are " +
		"left out. " +
		"output_mode files_with_matches (default) lists files, content shows the lines, count counts them.",
	schema: `{"type":"object","required":["pattern"],"properties":{
		"pattern":{"type":"string","description":"the regular expression"},
		"path":{"type":"string","description":"the file or folder to search (default: the working directory)"},
		"glob":{"type":"string","description":"only files whose name or path matches, for example *.go"},
		"output_mode":{"type":"string","enum":["files_with_matches","content","count"]},
		"-i":{"type":"boolean","description":"upper and lower case are the same"},
		"-n":{"type":"boolean","description":"number the lines (default true)"},
		"-A":{"type":"integer","minimum":0,"description":"lines to show after each hit"},
		"-B":{"type":"integer","minimum":0,"description":"lines to show before each hit"},
		"-C":{"type":"integer","minimum":0,"description":"lines to show around each hit"},
		"multiline":{"type":"boolean","description":"the expression may span lines, and . matches their ends"},
		"head_limit":{"type":"integer","minimum":1,"description":"stop after so many lines of result"}}}`,
	run: (*Set).grep,
}

// A grep is one search.
type grep struct {
	expr          *regexp.Regexp
	only          pattern // nil is every file
	mode          string
	numbers       bool
	before, after int
	multiline     bool
	limit         int
	literals      [][]byte // every hit contains one of them; empty if unknown
	buffer        []byte   // the text being searched; reused for the next file

	out   strings.Builder
	lines int // of the result
	files int // with hits
	large int // not searched
}

func (s *Set) grep(ctx context.Context, u *use) (string, error) {
	var g grep
	if err := g.readInput(u.in); err != nil {
		return "", err
	}
	p, err := s.options.base(u)
	if err != nil {
		return "", err
	}
	defer p.closeDir()
	err = s.search(ctx, p, g.only != nil && g.only.hidden(), func(f found) error {
		return g.file(f, filepath.Join(p.path, filepath.FromSlash(f.path)))
	})
	if err != nil {
		return "", err
	}
	return g.result(), nil
}

// readInput reads the input of the call.
func (g *grep) readInput(in input) error {
	text, err := in.must("pattern")
	if err != nil {
		return err
	}
	if err := g.readFlags(in); err != nil {
		return err
	}
	fold, err := in.flag("-i")
	if err != nil {
		return err
	}
	flags := "m"
	if fold {
		flags += "i"
	}
	if g.multiline {
		flags += "s"
	}
	expr := "(?" + flags + ")" + text
	if g.expr, err = regexp.Compile(expr); err != nil {
		return fmt.Errorf("input.pattern: %w", err)
	}
	g.literals = literalsOf(expr)
	only, given, err := in.stringField("glob", "include")
	if err != nil || !given || only == "" {
		return err
	}
	if g.only, err = newPattern(only); err != nil {
		return fmt.Errorf("input.glob: %w", err)
	}
	return nil
}

func (g *grep) readFlags(in input) (err error) {
	around, errC := in.number("-C", 0, 0, maxContext)
	var errA, errB, errN, errM, errL, errO error
	g.after, errA = in.number("-A", around, 0, maxContext)
	g.before, errB = in.number("-B", around, 0, maxContext)
	g.limit, errL = in.number("head_limit", maxHits, 1, maxHits)
	g.multiline, errM = in.flag("multiline")
	g.numbers = true
	if _, raw := in.field("-n"); raw != nil {
		g.numbers, errN = in.flag("-n")
	}
	var given bool
	if g.mode, given, errO = in.stringField("output_mode"); !given {
		g.mode = modeFiles
	}
	if g.mode != modeFiles && g.mode != modeContent && g.mode != modeCount {
		errO = fmt.Errorf("input.output_mode: want %s, %s or %s", modeFiles, modeContent, modeCount)
	}
	return errors.Join(errC, errA, errB, errN, errM, errL, errO)
}

// file searches one file.
func (g *grep) file(f found, shown string) error {
	if g.only != nil && !g.only.match(f.path) && !g.only.match(f.entry.Name()) {
		return nil
	}
	data, err := g.content(f)
	if err != nil || data == nil {
		return nil //nolint:nilerr // an unreadable file has no hits
	}
	data = bytes.TrimSuffix(data, newline)
	hits := g.hits(data)
	if len(hits) == 0 {
		return nil
	}
	g.files++
	shown = visibleName(shown)
	switch g.mode {
	case modeFiles:
		g.line(shown)
	case modeCount:
		g.line(fmt.Sprintf("%s:%d", shown, len(hits)))
	case modeContent:
		g.show(shown, bytes.Split(data, newline), hits)
	}
	if g.lines >= g.limit || g.out.Len() > maxGrepBytes {
		return errEnough
	}
	return nil
}

// content reads a file, or returns nil for a file that is not searched. The result is valid
// until the next call.
func (g *grep) content(f found) ([]byte, error) {
	if !f.entry.Type().IsRegular() {
		return nil, nil
	}
	file, info, err := openRegular(f.dir, f.entry.Name())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info.Size() > maxGrepFile {
		g.large++
		return nil, nil
	}
	if size := int(info.Size()) + 1; cap(g.buffer) < size {
		g.buffer = make([]byte, size, 2*size)
	}
	g.buffer = g.buffer[:cap(g.buffer)]
	n, err := io.ReadFull(file, g.buffer[:min(len(g.buffer), maxGrepFile)])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	data := g.buffer[:n]
	if bytes.IndexByte(data[:min(n, sniffBytes)], 0) >= 0 {
		return nil, nil
	}
	return data, nil
}

// hits returns the lines with a hit, from 0, each once.
func (g *grep) hits(data []byte) []int {
	if len(g.literals) > 0 && !slices.ContainsFunc(g.literals, func(l []byte) bool { return bytes.Contains(data, l) }) {
		return nil
	}
	if g.multiline {
		return g.spans(data)
	}
	var literal []byte
	if len(g.literals) == 1 {
		literal = g.literals[0]
	}
	var hits []int
	for line, at := 0, 0; ; line++ {
		from := at
		skip := bytes.Index(data[at:], literal)
		if skip < 0 {
			return hits
		}
		from += bytes.LastIndexByte(data[at:at+skip], '\n') + 1
		line += bytes.Count(data[at:from], newline)
		end := bytes.IndexByte(data[from:], '\n')
		if end < 0 {
			end = len(data) - from
		}
		if g.expr.Match(data[from : from+end]) {
			hits = append(hits, line)
		}
		if at = from + end + 1; at > len(data) {
			return hits
		}
	}
}

// spans returns the lines of hits that may reach over several.
func (g *grep) spans(data []byte) []int {
	var hits []int
	line, at := 0, 0
	for _, span := range g.expr.FindAllIndex(data, -1) {
		line += bytes.Count(data[at:span[0]], newline)
		at = span[0]
		for n := line; n <= line+bytes.Count(data[span[0]:span[1]], newline); n++ {
			if len(hits) == 0 || n > hits[len(hits)-1] {
				hits = append(hits, n)
			}
		}
	}
	return hits
}

// maxLiterals is how many texts a file is searched for before it is matched.
const maxLiterals = 16

// literalsOf returns texts of which every match of an expression contains one: searching for
// them is many times faster than matching.
func literalsOf(expr string) [][]byte {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	var all [][]byte
	for _, text := range requiredTexts(parsed) {
		all = append(all, []byte(text))
	}
	return all
}

func requiredTexts(re *syntax.Regexp) []string {
	switch {
	case re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0:
		return []string{string(re.Rune)}
	case re.Op == syntax.OpCapture, re.Op == syntax.OpPlus, re.Op == syntax.OpRepeat && re.Min > 0:
		return requiredTexts(re.Sub[0])
	case re.Op == syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if texts := requiredTexts(sub); shortestLength(texts) > shortestLength(best) {
				best = texts
			}
		}
		return best
	case re.Op == syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			texts := requiredTexts(sub)
			if all = append(all, texts...); len(texts) == 0 || len(all) > maxLiterals {
				return nil
			}
		}
		return all
	}
	return nil
}

// shortestLength returns the length of the shortest text, or 0 if there are no texts.
func shortestLength(texts []string) int {
	length := 0
	for i, text := range texts {
		if i == 0 || len(text) < length {
			length = len(text)
		}
	}
	return length
}

var newline = []byte("\n")

// show writes the lines with hits and those around them; -- marks omitted lines.
func (g *grep) show(name string, lines [][]byte, hits []int) {
	written, hit := -1, 0
	for _, at := range hits {
		from, to := max(at-g.before, written+1, 0), min(at+g.after, len(lines)-1)
		if (g.before > 0 || g.after > 0) && written >= 0 && from > written+1 {
			g.line("--")
		}
		for n := from; n <= to && g.lines < g.limit && g.out.Len() <= maxGrepBytes; n++ {
			for hit < len(hits) && hits[hit] < n {
				hit++
			}
			g.line(g.prefix(name, n, hit < len(hits) && hits[hit] == n) + shortenLine(lines[n]))
			written = n
		}
	}
}

// prefix comes before a line: a colon marks a hit, a dash its context.
func (g *grep) prefix(name string, n int, hit bool) string {
	mark := "-"
	if hit {
		mark = ":"
	}
	if !g.numbers {
		return name + mark
	}
	return fmt.Sprintf("%s%s%d%s", name, mark, n+1, mark)
}

func shortenLine(line []byte) string {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) <= maxLine {
		return string(line)
	}
	kept := wholeRunes(line[:maxLine])
	return fmt.Sprintf("%s [%d more bytes in this line]", kept, len(line)-len(kept))
}

// line adds one line to the result.
func (g *grep) line(text string) {
	g.lines++
	g.out.WriteString(text + "\n")
}

func (g *grep) result() string {
	if g.files == 0 {
		g.out.WriteString("[no match]\n")
	}
	if g.lines >= g.limit || g.out.Len() > maxGrepBytes {
		g.out.WriteString("[stopped here: there may be more]\n")
	}
	if g.large > 0 {
		fmt.Fprintf(&g.out, "[%s larger than %d bytes not searched]\n", countNoun(g.large, "file"), maxGrepFile)
	}
	return g.out.String()
}
