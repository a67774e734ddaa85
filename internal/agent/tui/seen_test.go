package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
)

// sizes are the terminals of the tests.
var sizes = [][2]int{{20, 5}, {80, 24}, {120, 40}, {200, 50}}

// A watcher records the lines of a card that have been on the screen.
type watcher struct {
	*drive

	shown strings.Builder
}

// look records the current frame.
func (w *watcher) look() {
	for line := range strings.SplitSeq(ansi.Strip(w.m.View().Content), "\n") {
		if row, is := strings.CutPrefix(line, "┃ "); is {
			w.shown.WriteString(row + "\n")
		}
	}
}

// missing are the tokens that have never been on the screen.
func (w *watcher) missing(tokens []string) []string {
	shown := w.shown.String()
	return slices.DeleteFunc(slices.Clone(tokens), func(token string) bool { return strings.Contains(shown, token) })
}

// tokenLines returns lines that each hold a unique token.
func tokenLines(prefix string, n int) (lines, tokens []string) {
	for i := range n {
		token := fmt.Sprintf("%s%03d", prefix, i)
		lines, tokens = append(lines, "  "+token+" = 1"), append(tokens, token)
	}
	return lines, tokens
}

// bigWrite writes a file of n lines, with its diff.
func bigWrite(n int) (umpire.Pending, Change, []string) {
	lines, tokens := tokenLines("w", n)
	content := strings.Join(lines, "\n") + "\n"
	p := waiting(1, "Write", map[string]any{"file_path": "big.py", "content": content})
	diff := fmt.Sprintf("--- /dev/null\n+++ big.py\n@@ -0,0 +1,%d @@\n+%s\n", n, strings.Join(lines, "\n+"))
	return p, Change{Diff: diff, Shown: []string{"content"}}, tokens
}

// script runs a file whose last line deletes something.
func script() (umpire.Pending, Change, []string) {
	lines, tokens := tokenLines("s", 60)
	p := waiting(1, "Bash", map[string]any{"command": "python3 gen.py"})
	p.CodeFiles = []umpire.CodeFile{{Path: "/p/gen.py", Text: strings.Join(lines, "\n") + "\nos.unlink('prod')\n"}}
	return p, Change{}, append(tokens, "unlink")
}

// fortyEffects is a trial that deleted forty files.
func fortyEffects() (umpire.Pending, Change, []string) {
	p := waiting(1, "Bash", map[string]any{"command": "make clean"})
	p.Accesses = nil
	p.Trial = &umpire.Trial{ID: "t1", Round: 1, State: umpire.TrialWaiting, Effects: umpire.TrialEffects{Whole: true, Digest: "d"}}
	var tokens []string
	diff := ""
	for i := range 40 {
		name := fmt.Sprintf("e%03d", i)
		p.Trial.Effects.List = append(p.Trial.Effects.List, umpire.TrialEffect{Kind: umpire.EffectDeleted, Path: "/p/" + name})
		p.Accesses = append(p.Accesses, umpire.Access{Kind: umpire.KindDelete, Target: "/p/" + name, Verdict: umpire.Allow, Risk: umpire.Medium})
		diff += fmt.Sprintf("--- %s\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-c%03d\n", name, i)
		tokens = append(tokens, name, fmt.Sprintf("c%03d", i))
	}
	return p, Change{Diff: diff}, tokens
}

// edit returns a small edit; only its diff has the new text.
func edit() (umpire.Pending, Change, []string) {
	return greeting(), Change{
		Diff:  "--- greet.sh\n+++ greet.sh\n@@ -2,2 +2,2 @@\n # greets\n-echo old1\n+echo new1\n",
		Shown: []string{"old_string", "new_string"},
	}, []string{"old1", "new1"}
}

// readAll pages down until the card counts as read.
func (w *watcher) readAll() (pages int) {
	w.Helper()
	w.look()
	for ; !w.m.ask.read; pages++ {
		if pages > 3000 {
			w.Fatalf("the end is never seen:\n%s", w.screenText())
		}
		w.press(map[bool]string{true: "pgdown", false: " "}[pages%2 == 0])
		w.look()
	}
	return pages
}

// TestEveryLineIsSeen: on any terminal, no key approves an edit, a file of 120 lines, a script or a trial of 40
// effects before its last line was on the screen; deny works at once.
func TestEveryLineIsSeen(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func() (umpire.Pending, Change, []string){
		"edit": edit, "write": func() (umpire.Pending, Change, []string) { return bigWrite(120) },
		"script": script, "effects": fortyEffects,
	} {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s_%dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				p, change, tokens := call()
				start := func() *watcher {
					w := &watcher{drive: driven(t, nil, size[0], size[1])}
					w.m.conf.Change = func(context.Context, umpire.Pending, umpire.Session) Change { return change }
					w.ask(p)
					return w
				}
				w := start()
				w.golden(fmt.Sprintf("seen_%s_%dx%d", name, size[0], size[1]))
				w.look()
				if !w.m.ask.read {
					w.press("y", "s", "a", "p", "g", "w", "Y")
					if len(w.gate.answers) > 0 || w.m.ask.step != stepNone {
						t.Fatalf("a key was taken with %q unseen", w.missing(tokens))
					}
				}
				w.press("end")
				w.look()
				w.press("y")
				if missing := w.missing(tokens); len(w.gate.answers) > 0 && len(missing) > 0 {
					t.Fatalf("End jumped over %q", missing)
				}
				w = start()
				pages := w.readAll()
				if missing := w.missing(tokens); len(missing) > 0 {
					t.Fatalf("read after %d pages, but never shown: %q", pages, missing)
				}
				w.press("y")
				if len(w.gate.answers) != 1 {
					t.Errorf("y did not count after all was seen:\n%s", w.screenText())
				}
				w = start()
				w.press("n", "enter")
				if len(w.gate.answers) != 1 || w.gate.answers[0].Choice != umpire.Refuse {
					t.Errorf("denying did not count at once: %+v", w.gate.answers)
				}
			})
		}
	}
}

// TestRandomReading: for any keys, cards and changes of the terminal's size, an approval means that every token
// of the card was on the screen.
func TestRandomReading(t *testing.T) {
	t.Parallel()
	keys := []string{"pgdown", "pgdown", "pgdown", "pgup", " ", "end", "home", "y", "s", "a", "p", "e", "v", "d", "o", "esc", "Y", "j", "k", "w"}
	approved, cards := 0, sample.Times(20, 150)
	for seed := range uint64(cards) {
		random := rand.New(rand.NewPCG(seed, 1))
		p, change, tokens := bigWrite(1 + random.IntN(60))
		switch random.IntN(4) {
		case 0:
			p, change, tokens = script()
		case 1:
			p, change, tokens = fortyEffects()
		case 2: // a line that is far longer than the screen
			lines, more := tokenLines("x", 40)
			p = waiting(1, "Bash", map[string]any{"command": "echo " + strings.Join(lines, ";")})
			change, tokens = Change{}, more
		}
		w := &watcher{drive: driven(t, nil, 20+random.IntN(100), 5+random.IntN(40))}
		w.m.conf.Change = func(context.Context, umpire.Pending, umpire.Session) Change { return change }
		other := write()
		w.ask(p, other)
		w.look()
		for range 120 {
			switch random.IntN(12) {
			case 0:
				w.tell(tea.WindowSizeMsg{Width: 20 + random.IntN(100), Height: 5 + random.IntN(40)})
			case 1: // the gate's state is read again
				w.tell(refreshMsg{session: w.gate.session, pending: w.gate.pending})
			default:
				w.press(keys[random.IntN(len(keys))])
			}
			w.look()
			w.pass(settleTime)
			if at := slices.IndexFunc(w.gate.answers, func(a umpire.Answer) bool { return a.Request == p.Request }); at >= 0 {
				if missing := w.missing(tokens); len(missing) > 0 {
					t.Fatalf("seed %d: %s approved with %q unseen", seed, p.Tool, missing)
				}
				approved++
				break
			}
		}
	}
	if approved < cards/10 {
		t.Errorf("only %d of the cards were approved: the test shows little", approved)
	}
}

// TestResizeKeepsWhatWasSeen: lines seen at one width count as seen at another, and no other lines do.
func TestResizeKeepsWhatWasSeen(t *testing.T) {
	t.Parallel()
	p, change, _ := bigWrite(40)
	d := driven(t, nil, 80, 24)
	d.m.conf.Change = func(context.Context, umpire.Pending, umpire.Session) Change { return change }
	d.ask(p)
	d.press("pgdown")
	unread := func() int {
		seen, n := &d.m.ask.readings.of(&p).seen, 0
		d.m.ask.cardLines(d.m.width)
		for _, m := range d.m.ask.drawn.marks {
			if m.rows > 0 && m.row == 0 && !seen.whole[m.line] {
				n++
			}
		}
		return n
	}
	before := unread()
	d.tell(tea.WindowSizeMsg{Width: 30, Height: 24})
	if after := unread(); after > before || after == 0 || d.m.ask.read {
		t.Errorf("%d lines were unseen before the resize, %d after", before, after)
	}
	d.press("home")
	d.tell(tea.WindowSizeMsg{Width: 100, Height: 60})
	if !d.m.ask.read {
		t.Errorf("%d lines are unseen on a screen that holds all", unread())
	}
}

// TestChangedCardIsReadAnew: a question that shows something else under the same id is another card.
func TestChangedCardIsReadAnew(t *testing.T) {
	t.Parallel()
	p, change, tokens := bigWrite(5)
	d := driven(t, nil, 80, 40)
	d.m.conf.Change = func(context.Context, umpire.Pending, umpire.Session) Change { return change }
	d.ask(p)
	if !d.m.ask.read {
		t.Fatal("a short card is not read at once")
	}
	changed, longer, _ := bigWrite(100)
	changed.ShownDigest, change = "other", longer
	d.ask(changed)
	d.press("y")
	if len(d.gate.answers) > 0 {
		t.Fatalf("the changed card was approved unread: %+v", d.gate.answers)
	}
	w := &watcher{drive: d}
	w.readAll()
	if missing := w.missing(tokens); len(missing) > 0 {
		t.Errorf("never shown: %q", missing)
	}
	d.press("y")
	if len(d.gate.answers) != 1 || d.gate.answers[0].ShownDigest != "other" {
		t.Errorf("answered %+v", d.gate.answers)
	}
}

// TestCardsAreRememberedApart: after switching to another card and back, each card still knows its seen lines.
func TestCardsAreRememberedApart(t *testing.T) {
	t.Parallel()
	p, change, _ := bigWrite(30)
	d := driven(t, nil, 80, 24)
	d.m.conf.Change = func(_ context.Context, q umpire.Pending, _ umpire.Session) Change {
		if q.Request == p.Request {
			return change
		}
		return Change{}
	}
	d.ask(p, write())
	(&watcher{drive: d}).readAll()
	for _, key := range []string{"j", "k"} {
		d.press(key)
		d.pass(settleTime)
	}
	d.press("y")
	if len(d.gate.answers) != 1 || d.gate.answers[0].Request != p.Request {
		t.Errorf("answered %+v", d.gate.answers)
	}
}

// TestWaitsForTheDiff: until the diff is ready, approving keys do nothing, and a denial counts.
func TestWaitsForTheDiff(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.m.conf.Change = func(context.Context, umpire.Pending, umpire.Session) Change { return Change{} }
	d.ask(write())
	d.m.ask.comparing = true
	d.m.noteSeen()
	d.press("y")
	d.sees("Wait for the diff before approving")
	d.press("n", "enter")
	if len(d.gate.answers) != 1 || d.gate.answers[0].Choice != umpire.Refuse {
		t.Errorf("answered %+v", d.gate.answers)
	}
}

// lockfile is a Write of a lock file of about n lines.
func lockfile(name string, n int) (umpire.Pending, Change) {
	var lines []string
	for i := range n / 6 {
		pack := fmt.Sprintf("pack-%d", i)
		lines = append(lines,
			fmt.Sprintf(`    "node_modules/%s": {`, pack), fmt.Sprintf(`      "version": "1.%d.0",`, i),
			fmt.Sprintf(`      "resolved": "https://registry.npmjs.org/%s/-/%s-1.%d.0.tgz",`, pack, pack, i),
			`      "integrity": "sha512-abcDEF0123456789abcDEF0123456789abcDEF0123456789abcDEF01==",`,
			`      "license": "MIT"`, `    },`)
	}
	content := strings.Join(lines, "\n") + "\n"
	p := waiting(1, "Write", map[string]any{"file_path": name, "content": content})
	diff := fmt.Sprintf("--- /dev/null\n+++ %s\n@@ -0,0 +1,%d @@\n+%s\n", name, len(lines), strings.Join(lines, "\n+"))
	return p, Change{Diff: diff, Shown: []string{"content"}}
}

// TestLockFilesFold: a lock file of 12,000 lines can be approved at a glance, its fold can be opened, and a script
// that has its name cannot hide in it.
func TestLockFilesFold(t *testing.T) {
	t.Parallel()
	p, change := lockfile("package-lock.json", 12_000)
	d := driven(t, nil, 80, 24)
	d.m.conf.Change = func(context.Context, umpire.Pending, umpire.Session) Change { return change }
	d.ask(p)
	(&watcher{drive: d}).readAll()
	d.press("home")
	d.sees("12000 lines of package-lock.json that only name packages and checksums:", "+12000 −0, sha256")
	d.press("o")
	d.sees(`"node_modules/pack-0"`)
	d.press("y")
	if len(d.gate.answers) != 1 {
		t.Fatalf("answered %+v", d.gate.answers)
	}
	lines, tokens := tokenLines("k", 80)
	run := waiting(2, "Bash", map[string]any{"command": "node package-lock.json"})
	run.CodeFiles = []umpire.CodeFile{{Path: "/p/package-lock.json", Text: strings.Join(lines, "\n")}}
	w := &watcher{drive: driven(t, nil, 80, 24)}
	w.ask(run)
	if w.readAll() == 0 || len(w.missing(tokens)) > 0 {
		t.Errorf("of a script called package-lock.json %q was never shown", w.missing(tokens))
	}
}

// TestLeftOut: the card names the parts that it cannot show, and a separate key approves them.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	p, _, _ := script()
	p.CodeFiles[0].Cut, p.CodeFiles[0].Size = true, 99_000
	d := driven(t, nil, 80, 24)
	d.ask(p)
	(&watcher{drive: d}).readAll()
	d.press("y")
	d.sees("Not shown in full: runs gen.py", "Y approve without seeing it")
	d.press("y", "enter")
	if len(d.gate.answers) > 0 {
		t.Fatalf("answered %+v", d.gate.answers)
	}
	d.press("Y")
	if len(d.gate.answers) != 1 {
		t.Errorf("answered %+v", d.gate.answers)
	}
}

// TestLongInputIsShown: an input of any length is shown completely.
func TestLongInputIsShown(t *testing.T) {
	t.Parallel()
	lines, tokens := tokenLines("q", 900)
	p := waiting(1, "mcp__x__y", map[string]any{"text": strings.Join(lines, "\n")})
	p.Input, _ = json.Marshal(map[string]any{"text": strings.Join(lines, "\n")})
	w := &watcher{drive: driven(t, nil, 120, 40)}
	w.ask(p)
	w.readAll()
	if missing := w.missing(tokens); len(missing) > 0 {
		t.Errorf("never shown: %d of %d", len(missing), len(tokens))
	}
	if left := (cardView{&w.m.ask}).leftOut(); len(left) > 0 {
		t.Errorf("left out: %q", left)
	}
}

// TestCardHasRoom: at 80x24 the card has at least 14 of the 24 rows, in the chat and in the inbox, and the keys one.
func TestCardHasRoom(t *testing.T) {
	t.Parallel()
	p, change, _ := bigWrite(120)
	chat := driven(t, nil, 80, 24)
	inbox, _ := inboxOf(t, nil, 80, 24, "")
	for name, d := range map[string]*drive{"chat": chat, "inbox": inbox} {
		d.m.conf.Change = func(context.Context, umpire.Pending, umpire.Session) Change { return change }
		others := []umpire.Pending{p, write(), npm(), elsewhere()}
		d.ask(others...)
		if rows := len(regexp.MustCompile(`(?m)^┃|^↓`).FindAllString(d.screenText(), -1)); rows < 14 {
			t.Errorf("%s: the card has %d rows:\n%s", name, rows, d.screenText())
		}
	}
}
