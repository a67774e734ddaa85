package sensitive

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TestGuardedPlacesAreDocumented compares the table with its documentation.
func TestGuardedPlacesAreDocumented(t *testing.T) {
	t.Parallel()
	var whys []string
	places := map[string][]string{}
	for i := range Groups {
		g := &Groups[i]
		for dir, rest := range g.paths() {
			path := dir + rest
			if strings.HasPrefix(path, ".git/modules/") || strings.HasPrefix(path, ".git/worktrees/") {
				continue // the text mentions them separately
			}
			if places[catalogue.English.Text(g.Why)] == nil {
				whys = append(whys, catalogue.English.Text(g.Why))
			}
			places[catalogue.English.Text(g.Why)] = append(places[catalogue.English.Text(g.Why)], "`"+path+"`")
		}
	}
	var want strings.Builder
	for _, why := range whys {
		fmt.Fprintf(&want, "| %s | %s |\n", why, strings.Join(places[why], " "))
	}
	doc, err := os.ReadFile("../../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), "| why | places |\n|---|---|\n"+want.String()+"\n") {
		t.Errorf("docs/sandbox.md does not hold this table:\n%s", want.String())
	}
}
