package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TestHostsPage holds the page about all hosts to the table. Run with -update to write it again.
func TestHostsPage(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "hosts.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, part := range []struct{ name, text string }{{"hosts", hostsTable()}, {"holes", holesList()}} {
		begin, end := "<!-- begin: "+part.name+" -->\n", "<!-- end: "+part.name+" -->"
		before, rest, found := strings.Cut(page, begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s: no %q and %q", file, begin, end)
		}
		page = before + begin + part.text + end + after
	}
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), page); diff != "" {
		t.Errorf("%s is not what the table says; run go test -update (-page +table):\n%s", file, diff)
	}
}

func hostsTable() string {
	var b strings.Builder
	b.WriteString("| agent | name | seen | asks | silent | waits | limit | shell |\n|---|---|---|---|---|---|---|---|\n")
	for _, h := range Hosts {
		if h.own != nil {
			continue
		}
		seen := [...]string{Documented: "documented", Recorded: "recorded", Driven: "driven"}[h.Evidence]
		waits := [...]string{holdsCall: "the call", holdsRest: "the call and those after it", holdsAll: "all"}[h.Holds]
		asks := "no"
		if h.asks() {
			asks = "yes"
		}
		shells := [...]string{shellPerson: "the person's", shellBash: "bash", shellFamily: "bash, zsh or sh",
			shellOwn: "its own"}
		fmt.Fprintf(&b, "| %s | `%s` | %s, %s | %s | %s | %s | %s | %s |\n", h.Title, h.Name, seen, h.Version, asks, silences(h), waits,
			relay.Deadline(h.Timeout()), shells[h.Shells])
	}
	return b.String()
}

// silences says what silence means in each mode of a host.
func silences(h *Host) string {
	runs := slices.DeleteFunc(slices.Clone(h.Modes()), func(m HostMode) bool { return m.Silence == SilenceChecks })
	switch {
	case h.silence != nil:
		return "its own check, or its sandbox; without a sandbox the call may run"
	case len(runs) == 0:
		return "its own check"
	case len(runs) == len(h.Modes()):
		return "the call may run"
	}
	var words []string
	for _, m := range runs {
		words = append(words, "`"+m.Word+"`")
	}
	return "its own check; in " + strings.Join(words, ", ") + " the call runs"
}

// holesList says each hole once, with the hosts that have it.
func holesList() string {
	var holes []string
	hosts := map[string][]string{}
	for _, h := range Hosts {
		for _, hole := range h.Holes {
			text := catalogue.English.Text(hole)
			if hosts[text] == nil {
				holes = append(holes, text)
			}
			hosts[text] = append(hosts[text], h.Title)
		}
	}
	var b strings.Builder
	b.WriteString("| hole | agents |\n|---|---|\n")
	for _, hole := range holes {
		fmt.Fprintf(&b, "| %s | %s |\n", hole, strings.Join(hosts[hole], ", "))
	}
	return b.String()
}
