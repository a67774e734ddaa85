package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// greeting is a question about an edit, whose diff is on the card.
func greeting() umpire.Pending {
	p := waiting(1, "Edit", map[string]any{
		"file_path": "greet.sh", "old_string": "echo \"Hello\"", "new_string": "echo \"Hello, ${name:-world}\"",
	})
	p.Accesses[0].Reason = "changes a file"
	return p
}

// previewGreeting computes the edit's diff, as umpire does for a card.
func previewGreeting(t *testing.T) func(context.Context, umpire.Pending, umpire.Session) Change {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "greet.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n# greets\n\nname=$1\necho \"Hello\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := tool.New(tool.Options{Root: root})
	t.Cleanup(files.Close)
	return func(_ context.Context, p umpire.Pending, _ umpire.Session) Change {
		accesses := slices.Clone(p.Accesses)
		accesses[0].Target = path // the card's project is made up
		seen, err := files.Preview(umpire.Call{Tool: p.Tool, Input: p.Input, Dir: root}, accesses)
		if err != nil {
			t.Error(err)
		}
		return Change{Diff: seen.Diff, Shown: seen.Shown}
	}
}

// five returns the calls of one message, which all wait.
func five() []umpire.Pending {
	list := []umpire.Pending{npm(), write(), greeting()}
	for i, line := range []string{"make build", "git commit -m x"} {
		list = append(list, waiting(4+i, "Bash", map[string]any{"command": line}))
	}
	for i := range list {
		list[i].Position, list[i].Total = i+1, len(list)
	}
	return list
}

// TestCardsOfAnySize pins the look of cards on terminals of any size: an edit with its diff, a waiting
// trial, and a message of five calls. On every size, no key approves before the asking part has been on the
// screen, and a typed word does not answer.
func TestCardsOfAnySize(t *testing.T) {
	t.Parallel()
	for lang, text := range map[string]*catalogue.Language{"": nil, "zh_": chineseText()} {
		for size, at := range map[string][2]int{"20x5": {20, 5}, "80x24": {80, 24}, "200x50": {200, 50}} {
			for name, list := range map[string][]umpire.Pending{"edit": {greeting()}, "trial": {tried()}, "five": five()} {
				file := fmt.Sprintf("%s_%s%s", name, lang, size)
				t.Run(file, func(t *testing.T) {
					t.Parallel()
					d := driven(t, text, at[0], at[1])
					d.m.conf.Change = previewGreeting(t)
					d.ask(list...)
					d.golden(file)
					mayAnswer(d, list[0].Request)
				})
			}
		}
	}
}

// mayAnswer checks that y answers a card only after it was read.
func mayAnswer(d *drive, request umpire.RequestID) {
	d.Helper()
	for n := 0; !d.m.ask.read; n++ {
		d.press("y", "Y", "s")
		if len(d.gate.answers) > 0 {
			d.Fatalf("answered before it was read: %+v", d.gate.answers)
		}
		if d.press("pgdown"); n > len(d.m.ask.drawn.lines) {
			d.Fatalf("the end of what asks cannot be reached\n%s", d.screenText())
		}
	}
	d.tell(tea.PasteMsg{Content: "y"})
	if len(d.gate.answers) > 0 {
		d.Fatalf("what was pasted answered: %+v", d.gate.answers)
	}
	d.press("y")
	if len(d.gate.answers) != 1 || d.gate.answers[0].Request != request {
		d.Errorf("answered %+v", d.gate.answers)
	}
}
