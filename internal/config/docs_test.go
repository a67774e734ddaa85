package config

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestProfilesInTheDocumentation: N-117. The sets of settings in docs/gate.md are valid
// as written and have the documented effect.
func TestProfilesInTheDocumentation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "### Three sets of settings\n")
	section, _, ended := strings.Cut(section, "\n## ")
	if !found || !ended {
		t.Fatal("the section is missing")
	}
	blocks := regexp.MustCompile("(?s)profile `([a-z]+)`.*?```yaml\n(.*?)```").FindAllStringSubmatch(section, -1)
	want := map[string]struct {
		mode         umpire.Mode
		denyExternal bool
	}{
		"local": {umpire.ModeDefault, false}, "ci": {umpire.ModeReject, false}, "strict": {umpire.ModeAsk, true},
	}
	if len(blocks) != len(want) {
		t.Fatalf("%d sets of settings", len(blocks))
	}
	for _, block := range blocks {
		c, err := readBoth(t, block[2], "")
		if err != nil {
			t.Errorf("%s: %v", block[1], err)
			continue
		}
		if w := want[block[1]]; c.Mode != w.mode || c.DenyExternal != w.denyExternal || len(c.Notices) > 0 {
			t.Errorf("%s: mode %s, outside denied %t, notices %v", block[1], c.Mode, c.DenyExternal, c.Notices)
		}
	}
}
