package view

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/view/languages"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

const headlines = "testdata/headlines.txt"

// TestHeadlines: the headlines of recorded calls that are not simply allowed, in both languages. Each fits on a line.
// With UPDATE set it rewrites them, for the commands in the file.
func TestHeadlines(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bounds, err := place.Open(root, place.Options{Home: "/home/me"})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.New(policy.Builtin(), policy.Options{Home: "/home/me", Root: bounds.Root})
	if err != nil {
		t.Fatal(err)
	}
	find := func() (*judge.Judge, error) {
		return &judge.Judge{Bounds: bounds, Policy: rules, Home: "/home/me"}, t.Context().Err()
	}
	chinese := languages.Find("zh_CN")
	data, err := os.ReadFile(headlines)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	calls := 0
	for line := range strings.Lines(string(data)) {
		quoted, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ ")
		if !is {
			continue
		}
		calls++
		command, err := strconv.Unquote(quoted)
		if err != nil {
			command = quoted
		}
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		d := judge.Decide(find, policy.Query{
			Call:       umpire.Call{Tool: "Bash", Input: input, Dir: bounds.Root},
			Conditions: policy.Conditions{Mode: umpire.ModeDefault},
		}, time.Now)
		if d.Verdict == umpire.Allow {
			t.Errorf("%s is allowed", quoted)
		}
		got.WriteString("$ " + quoted + "\n")
		for _, text := range []*catalogue.Language{catalogue.English, chinese} {
			said := Headline(&d, Folders{Root: bounds.Root, Home: "/home/me"}, text)
			if said == "" || Columns(said) > headlineColumns {
				t.Errorf("%s: %d columns: %q", quoted, Columns(said), said)
			}
			got.WriteString("  " + said + "\n")
		}
	}
	if calls < 120 {
		t.Errorf("%d calls, want at least 120", calls)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(headlines, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got.String() != string(data) {
		t.Errorf("%s differs; run it with UPDATE=1, and read each line:\n%s", headlines, got.String())
	}
}
