package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"
)

// benchCorpus are the labelled lines that come with umpire.
//
//go:embed corpus.jsonl
var benchCorpus []byte

const benchCorpusName = "corpus"

// maxBenchLines bounds the lines of one file.
const maxBenchLines = 1_000_000

// A benchLine is one labelled command.
type benchLine struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	Want    string `json:"want"`
	Class   string `json:"class,omitempty"`
	Why     string `json:"why,omitempty"`
	Count   int    `json:"count,omitempty"` // how often it was typed; 0 is once
}

// What a line may want.
const (
	wantSafe     = "safe"
	wantNotSafe  = "not-safe"
	wantCritical = "critical"
	wantAny      = "any"
)

// benchLines are the lines of one file.
type benchLines struct {
	name  string
	lines []benchLine
	bad   int
}

// benchSets reads all files before anything is judged, so that a name that is
// wrong shows at once.
func (a *app) benchSets(files []string) ([]benchLines, error) {
	if len(files) == 0 {
		set, err := a.readBench(benchCorpusName, bytes.NewReader(benchCorpus))
		return []benchLines{set}, err
	}
	var sets []benchLines
	for _, name := range files {
		f, err := os.Open(a.absolute(name))
		if err != nil {
			return nil, usage("umpire bench --help", "%w", err)
		}
		set, err := a.readBench(name, f)
		_ = f.Close()
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// readBench reads labelled lines. A bad one is named and passed over.
func (a *app) readBench(name string, r io.Reader) (benchLines, error) {
	set, in := benchLines{name: name}, bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := readLine(in, maxLine)
		if errors.Is(err, io.EOF) {
			return set, nil
		}
		if err != nil && !errors.Is(err, errLineTooLong) {
			return set, failed(fmt.Errorf("read %s: %w", name, err))
		}
		if n > maxBenchLines {
			return set, failed(fmt.Errorf("%s has more than %d lines", name, maxBenchLines))
		}
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var l benchLine
		if err == nil {
			l, err = readBenchLine(text, n)
		}
		if err != nil {
			set.bad++
			a.remark(fmt.Sprintf("%s:%d: %v", name, n, err))
			continue
		}
		set.lines = append(set.lines, l)
	}
}

// readBenchLine reads one line. Members that are not ours are passed over: a
// collection may keep its own notes.
func readBenchLine(text []byte, n int) (benchLine, error) {
	var l benchLine
	if !utf8.Valid(text) {
		return l, errors.New("the line is not valid UTF-8")
	}
	fields, err := readObject(text)
	if err != nil {
		return l, fmt.Errorf("the line is not a JSON object: %w", err)
	}
	for name, into := range map[string]any{
		"id": &l.ID, "command": &l.Command, "want": &l.Want, "class": &l.Class, "why": &l.Why, "count": &l.Count,
	} {
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, into) != nil {
			return l, fmt.Errorf("%s: %.40q is not what stands there", name, raw)
		}
	}
	if l.ID == "" {
		l.ID = fmt.Sprint(n)
	}
	switch {
	case l.Command == "":
		return l, errors.New("command: is missing")
	case !slices.Contains([]string{wantSafe, wantNotSafe, wantCritical, wantAny}, l.Want):
		return l, fmt.Errorf("want: %.40q is not safe, not-safe, critical or any", l.Want)
	case l.Count < 0:
		return l, errors.New("count: is below zero")
	}
	l.Count = max(l.Count, 1)
	return l, nil
}
