package console

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/languages"
)

// A tried card says that nothing is real yet, keeps or discards, and names each change once outside its diff.
func TestTriedCard(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string][]string{
		"en":    {"It ran in a trial. Nothing is real yet.", "keep 2 changes ", "discard "},
		"zh-CN": {"它在试运行中执行过，尚未产生任何真实更改。", "保留这 2 处更改 ", "丢弃 "},
	} {
		text := languages.Find(lang)
		input, _ := json.Marshal(map[string]string{"command": "sh gen.sh"})
		p := umpire.Pending{Tool: "Bash", Input: input, CommandInfo: &umpire.CommandInfo{}, Risk: "medium",
			Accesses: []umpire.Access{
				{Kind: umpire.KindDelete, Target: "/p/old.txt", Verdict: umpire.Ask},
				{Kind: umpire.KindWrite, Target: "/p/new.txt", Verdict: umpire.Ask},
			},
			CodeFiles: []umpire.CodeFile{{Path: "/p/gen.sh", Text: "rm old.txt\n"}},
			Trial:     &umpire.Trial{State: umpire.TrialWaiting}}
		p.Trial.Effects.List = []umpire.TrialEffect{
			{Kind: umpire.EffectCreated, Path: "/p/new.txt"}, {Kind: umpire.EffectDeleted, Path: "/p/old.txt"},
		}
		session := umpire.Session{Root: "/p"}
		q := &question{Card: view.New(p, session, "", text, time.Now(), false), text: text,
			changes: "  new.txt  created\n  old.txt  deleted\n--- /dev/null\n+++ new.txt\n@@ -0,0 +1 @@\n+1\n"}
		var out strings.Builder
		if err := html.Render(&out, q.draw().Node); err != nil {
			t.Fatal(err)
		}
		page := out.String()
		for _, text := range append(want, "old.txt  deleted</pre>", `<span class="add" data-n="1">+1</span>`) {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the card lacks %q:\n%s", lang, text, page)
			}
		}
		if open, _, _ := strings.Cut(page, "<details>"); strings.Count(open, "old.txt") != 1 {
			t.Errorf("%s: a change is not there once:\n%s", lang, open)
		}
	}
}
