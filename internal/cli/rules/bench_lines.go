package rules

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

//go:embed corpus.jsonl
var corpus []byte

// corpusName replaces the file's name in reports on the embedded corpus.
const corpusName = "corpus"

// maxLines is the maximum number of lines in one file.
const maxLines = 1_000_000

// A Line is one labelled command.
type Line struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	Want    Want   `json:"want"`
	Class   string `json:"class,omitempty"`
	Why     string `json:"why,omitempty"`
	Count   int    `json:"count,omitempty"` // how often it was typed; at least 1 when it was read
	Agent   string `json:"agent,omitempty"` // the agent of the recorded session
}

// A Want is the verdict that a careful engineer wants. The zero value is not a verdict,
// and no parsed line has it.
type Want string

// The wants.
const (
	Safe     Want = "safe"     // should run unasked
	NotSafe  Want = "not-safe" // must not run without a person or a rule
	Critical Want = "critical" // must be denied, not asked
	Any      Want = "any"      // a matter of taste, but no reason to refuse
	Recorded Want = "recorded" // an agent ran it: how often would a person be asked?
)

// A LineSet is the lines of one file.
type LineSet struct {
	Name  string
	Lines []Line
	Bad   int // lines that could not be read
}

// Corpus returns the lines that come with the package. They are all valid.
func Corpus() (LineSet, error) {
	return readLineSet(corpusName, bytes.NewReader(corpus), nil)
}

// readLineSet reads labelled lines. It counts and skips bad lines and calls remark, if not nil,
// with NAME:LINE and the problem. It fails on a read error or too many lines.
func readLineSet(name string, r io.Reader, remark func(string)) (LineSet, error) {
	set, in := LineSet{Name: name}, bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := strictjson.ReadLine(in, strictjson.MaxLine)
		if errors.Is(err, io.EOF) {
			return set, nil
		}
		if err != nil && !errors.Is(err, strictjson.ErrLineTooLong) {
			return set, umpire.Errorf("read %s: %w", name, err)
		}
		if n > maxLines {
			return set, umpire.Errorf("%s has more than %d lines", name, maxLines)
		}
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var l Line
		if err == nil {
			l, err = readLine(text, n)
		}
		if err != nil {
			set.Bad++
			if remark != nil {
				remark(fmt.Sprintf("%s:%d: %v", name, n, err))
			}
			continue
		}
		set.Lines = append(set.Lines, l)
	}
}

// readLine reads one line. Members that are not ours are passed over: a
// collection may keep its own notes.
func readLine(text []byte, n int) (Line, error) {
	var l Line
	fields, err := strictjson.ReadObject(text)
	if err != nil {
		return l, umpire.Errorf("the line: %w", err)
	}
	for name, into := range map[string]any{
		"id": &l.ID, "command": &l.Command, "want": &l.Want, "class": &l.Class, "why": &l.Why, "count": &l.Count,
		"agent": &l.Agent,
	} {
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, into) != nil {
			return l, umpire.Errorf("%s: unexpected value %.40q", name, raw)
		}
	}
	if l.ID == "" {
		l.ID = fmt.Sprint(n)
	}
	if l.Want == "" && l.Agent != "" {
		l.Want = Recorded
	}
	switch {
	case l.Command == "":
		return l, errors.New("command: is missing")
	case !slices.Contains([]Want{Safe, NotSafe, Critical, Any, Recorded}, l.Want):
		return l, umpire.Errorf("want %.40q: want safe, not-safe, critical or any", l.Want)
	case l.Count < 0:
		return l, errors.New("count: is negative")
	}
	l.Count = max(l.Count, 1)
	return l, nil
}
