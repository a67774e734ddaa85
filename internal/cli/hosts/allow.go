package hosts

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// An allowFile is a file in which a host stores a person's permissions.
type allowFile struct {
	path    string
	entries []setup.Allowance
	err     error // why it could not be read
}

// claudeLike are the hosts whose settings have Claude Code's lists of permissions.
var claudeLike = []string{setup.Claude.Host, setup.Qwen.Host}

// readAllowances reads all that a person has allowed in a host, for every project.
func readAllowances(a *app.App, h *host.Host) []allowFile {
	var found []allowFile
	s, _ := setup.Find(h.Name)
	if path, err := userFile(a, s); err == nil && slices.Contains(claudeLike, h.Name) {
		found = append(found, readClaudeLists(a, path)...)
	}
	for _, list := range setup.AllowLists {
		if list.Host != h.Name {
			continue
		}
		pattern, err := list.Place.Path(a.UserHome(), a.Getenv)
		if err != nil {
			continue
		}
		paths, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		for _, path := range paths {
			text, err := files.ReadSmall(path, maxSettings)
			if err != nil {
				found = append(found, allowFile{path: path, err: err})
				continue
			}
			entries, err := list.Read(text)
			if len(entries) > 0 || err != nil {
				found = append(found, allowFile{path, entries, err})
			}
		}
	}
	return found
}

// readClaudeLists reads the permissions of a settings file as Claude Code has them.
func readClaudeLists(a *app.App, path string) []allowFile {
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	p, err := a.OpenProject()
	if err != nil {
		return []allowFile{{path: path, err: err}}
	}
	rules, left, err := p.RulesOf(path, rulefile.FormatClaudeSettings)
	if err != nil {
		return []allowFile{{path: path, err: err}}
	}
	var entries []setup.Allowance
	for _, r := range rules {
		entries = append(entries, setup.Allowance{Line: r.Line, Text: policy.FormatShort(r), Rule: umpire.Rule{
			Action: r.Action, Tool: r.Tool, Match: r.Match,
		}})
	}
	entries = setup.SiftAllowances(entries)
	text, _, err := readSettings(path)
	if err == nil {
		entries = append(entries, setup.ClaudeDirectories(text)...)
	}
	for _, problem := range append(left, rulefile.LeftOut(path)...) {
		if !strings.HasPrefix(problem.Text, "additionalDirectories ") {
			entries = append(entries, setup.Allowance{Line: problem.Line, Why: problem})
		}
	}
	slices.SortStableFunc(entries, func(x, y setup.Allowance) int { return cmp.Compare(x.Line, y.Line) })
	if len(entries) == 0 {
		return nil
	}
	return []allowFile{{path: path, entries: entries}}
}

// importedRules are the rules for the entries of a host's lists, marked with where they come
// from; those that are there already, in known, are left out.
func importedRules(h *host.Host, lists []allowFile, known map[string]bool) []umpire.Rule {
	var rules []umpire.Rule
	for _, list := range lists {
		for _, e := range list.entries {
			short := policy.FormatShort(e.Rule)
			if e.Why != nil || known[short] {
				continue
			}
			known[short] = true
			r := e.Rule
			r.Description = fmt.Sprintf("allowed in %s: %s:%d", h.Title, list.path, e.Line)
			rules = append(rules, r)
		}
	}
	return rules
}

// sayLeftOut names the entries that do not become rules, grouped by reason.
func (s *setupJob) sayLeftOut(lists []allowFile) {
	for _, list := range lists {
		if list.err != nil {
			s.sayLeft(list.path + ": " + s.Text.Error(list.err))
		}
		var reasons []string
		texts := map[string][]string{}
		for _, e := range list.entries {
			if e.Why == nil {
				continue
			}
			why := s.Text.Error(e.Why)
			if texts[why] == nil {
				reasons = append(reasons, why)
			}
			texts[why] = append(texts[why], e.Text)
		}
		for _, why := range reasons {
			said := why
			if named := slices.DeleteFunc(texts[why], func(text string) bool { return text == "" }); len(named) > 0 {
				said = strings.Join(named, s.Text.Of(", ")) + ": " + why
			}
			s.sayLeft(said)
		}
	}
}

func (s *setupJob) sayLeft(text string) {
	fmt.Fprintf(s.Stdout, "    "+s.Text.Of("left out: %s")+"\n", view.Visible(text))
}
