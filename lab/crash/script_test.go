//go:build unix

package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
)

// The limits of a conversation that is made up.
const (
	maxTurns = 5
	maxCalls = 5
)

// mark is the program that calls run. Each run appends one line to a file in one write.
// That line is the effect, and it is counted. Some runs continue for a while
// afterwards.
const mark = `#!/bin/sh
echo "$2" >>effects
[ -z "$3" ] || sleep "$3"
echo "marked $2"
`

// A planned is a call of a script, with its intended outcome.
type planned struct {
	id    umpire.CallID
	tool  string
	input map[string]any
	// asks says that a person is asked about the call, and choice is the answer.
	asks   bool
	choice umpire.Choice
	// never is a call that a rule denies.
	never bool
	// marks is a call whose effect is a line with its id; file one that makes a file
	// with its id in it. Others only look.
	marks bool
	file  string
	turn  int
	place int // in its turn, from 0
}

// A script is the list of the model's replies, turn by turn.
type script struct {
	turns int
	calls map[umpire.CallID]*planned
	text  []byte // as the program reads it
}

// newScript makes up a script for the conversation of a folder.
func newScript(rng *rand.Rand, name, dir string) (*script, error) {
	s := &script{turns: 2 + rng.IntN(maxTurns-1), calls: map[umpire.CallID]*planned{}}
	type call struct {
		ID    umpire.CallID  `json:"id"`
		Tool  string         `json:"tool"`
		Input map[string]any `json:"input"`
	}
	type turn struct {
		Text  string `json:"text,omitempty"`
		Calls []call `json:"calls"`
		Delay int    `json:"delay_ms,omitempty"`
	}
	var turns []turn
	for n := range s.turns {
		t := turn{Delay: rng.IntN(4)}
		if rng.IntN(2) == 0 {
			t.Text = fmt.Sprintf("turn %d", n)
		}
		for place := range 1 + rng.IntN(maxCalls) {
			p := newCall(rng, umpire.CallID(fmt.Sprintf("%s-%d-%d", name, n, place)), dir)
			p.turn, p.place = n, place
			s.calls[p.id] = p
			t.Calls = append(t.Calls, call{p.id, p.tool, p.input})
		}
		turns = append(turns, t)
	}
	text, err := json.Marshal(turns)
	s.text = text
	return s, err
}

// newCall makes up one call.
func newCall(rng *rand.Rand, id umpire.CallID, dir string) *planned {
	p := &planned{id: id, tool: "Bash", choice: umpire.Approve}
	switch n := rng.IntN(100); {
	case n < 3:
		p.choice = umpire.Cancel
	case n < 23:
		p.choice = umpire.Refuse
	}
	pause := ""
	if rng.IntN(4) == 0 {
		pause = fmt.Sprintf(" 0.0%02d", rng.IntN(40))
	}
	switch n := rng.IntN(100); {
	case n < 35:
		p.asks, p.marks = true, true
		p.input = command("./mark ask " + string(id) + pause)
	case n < 55:
		p.marks = true
		p.input = command("./mark free " + string(id) + pause)
	case n < 65:
		p.never, p.marks = true, true
		p.input = command("./mark never " + string(id))
	case n < 80:
		p.asks, p.tool, p.file = true, "Write", filepath.Join(dir, string(id)+".txt")
		p.input = map[string]any{"file_path": p.file, "content": string(id)}
	case n < 92:
		p.tool, p.input = "Read", map[string]any{"file_path": filepath.Join(dir, "notes.txt")}
	default:
		p.input = command("cat notes.txt")
	}
	return p
}

func command(text string) map[string]any { return map[string]any{"command": text} }

// changes reports whether running the call twice would show.
func (p *planned) changes() bool { return p.marks || p.file != "" }

// said returns the text that the result of a finished call must contain.
func (p *planned) said() string {
	switch {
	case p.marks:
		return "marked " + string(p.id)
	case p.file != "":
		return ""
	}
	return strings.TrimSpace(notes)
}

// notes is the content to read.
const notes = "nothing of note\n"
