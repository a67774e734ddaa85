package tui

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// greeting is a question about an edit, whose diff is on the card.
func greeting() umpire.Pending {
	return waiting(1, "Edit", map[string]any{
		"file_path": "/p/greet.sh", "old_string": "echo \"Hello\"", "new_string": "echo \"Hello, ${name:-world}\"",
	})
}

const greetingDiff = `--- greet.sh
+++ greet.sh
@@ -4,2 +4,2 @@
 name=$1
-echo "Hello"
+echo "Hello, ${name:-world}"
`

// five are the calls of one message, which all wait.
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

// TestCardsOfAnySize pins what cards look like on terminals of any size: an edit with its diff, a trial that
// waits, and a message of five calls. Whatever the size, nothing approves before the part that asks was on
// the screen, and a word that is typed answers nothing.
func TestCardsOfAnySize(t *testing.T) {
	t.Parallel()
	for lang, text := range map[string]*catalogue.Language{"": nil, "zh_": chineseText()} {
		for size, at := range map[string][2]int{"20x5": {20, 5}, "80x24": {80, 24}, "200x50": {200, 50}} {
			for name, list := range map[string][]umpire.Pending{"edit": {greeting()}, "trial": {tried()}, "five": five()} {
				file := fmt.Sprintf("%s_%s%s", name, lang, size)
				t.Run(file, func(t *testing.T) {
					t.Parallel()
					d := driven(t, text, at[0], at[1])
					d.m.conf.Change = func(p umpire.Pending, _ umpire.Session) Change {
						if p.Tool != "Edit" {
							return Change{}
						}
						return Change{Diff: greetingDiff, Shown: []string{"old_string", "new_string"}}
					}
					d.ask(list...)
					d.golden(file)
					mayAnswer(d, list[0].Request)
				})
			}
		}
	}
}

// mayAnswer wants y to answer a card once it was read, and not before.
func mayAnswer(d *drive, request umpire.RequestID) {
	d.Helper()
	for n := 0; !d.m.ask.read; n++ {
		d.press("y", "Y", "s")
		if len(d.gate.answers) > 0 {
			d.Fatalf("answered before it was read: %+v", d.gate.answers)
		}
		if d.press("pgdown"); n > d.m.ask.pinned {
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
