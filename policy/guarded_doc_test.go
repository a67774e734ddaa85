package policy

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TestGuardedPlacesAreDocumented compares the table with the one that people read.
func TestGuardedPlacesAreDocumented(t *testing.T) {
	t.Parallel()
	var whys []string
	places := map[string][]string{}
	for i := range guardedGroups {
		g := &guardedGroups[i]
		for _, path := range g.paths {
			if strings.HasPrefix(path, ".git/modules/") || strings.HasPrefix(path, ".git/worktrees/") {
				continue // the text says that they count too
			}
			if places[catalogue.English.Text(g.why)] == nil {
				whys = append(whys, catalogue.English.Text(g.why))
			}
			places[catalogue.English.Text(g.why)] = append(places[catalogue.English.Text(g.why)], "`"+path+"`")
		}
	}
	var want strings.Builder
	for _, why := range whys {
		fmt.Fprintf(&want, "| %s | %s |\n", why, strings.Join(places[why], " "))
	}
	doc, err := os.ReadFile("../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), "| why | places |\n|---|---|\n"+want.String()+"\n") {
		t.Errorf("docs/sandbox.md does not hold this table:\n%s", want.String())
	}
}
