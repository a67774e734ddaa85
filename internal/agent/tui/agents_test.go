package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TestSuffixField types into the field of an agent and checks the stored and the
// displayed suffixes: S-45 to S-53, S-64, S-65.
func TestSuffixField(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text  *catalogue.Language
		typed string
		want  []string
		sees  []string
	}{
		"both commas (S-48, S-64)":  {nil, ".md, .py，java", []string{".md", ".py", ".java"}, []string{"may edit: .md, .py, .java", "in force: .md .py .java"}},
		"trimmed (S-49)":            {nil, " .md , .py ", []string{".md", ".py"}, []string{"may edit: .md, .py"}},
		"blank (S-50, S-52, S-65)":  {nil, "   ", []string{}, []string{"main is unrestricted", "in force: unrestricted", "empty: unrestricted"}},
		"doubles (S-51)":            {nil, "md,.MD, .md ,,.", []string{".md"}, []string{"may edit: .md", "in force: .md"}},
		"a pattern (A-29)":          {nil, "*.rs", []string{".rs"}, []string{"saved: main may edit .rs", "in force: .rs"}},
		"fits no file (A-29)":       {nil, ".tar.gz, .md", []string{".tar.gz", ".md"}, []string{"no file has such a suffix: .tar.gz", "in force: .tar.gz .md"}},
		"nothing of it is a suffix": {nil, ", .", []string{}, []string{`nothing in ", ." is a suffix: main is unrestricted`, "in force: unrestricted"}},
		"blank in 简体中文 (S-52)":      {chineseText(), "", []string{}, []string{"不限制"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := driven(t, tt.text, 100, 24)
			d.press("/agents", "enter")
			d.tell(tea.PasteMsg{Content: tt.typed})
			d.press("enter")
			if diff := cmp.Diff(tt.want, d.host.profiles[0].Suffixes); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			d.sees(tt.sees...)
			d.press("esc", "/agents", "enter") // S-53: the field shows the stored value
			d.sees(tt.sees[len(tt.sees)-1])
		})
	}
}

// TestEveryAgentHasItsField: the main agent's is focused first (S-45), a sub-agent's is
// reached (S-46), and both take any text (S-47).
func TestEveryAgentHasItsField(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.press("/agents", "enter")
	d.sees("› main", "  reviewer", "may edit: .md", "Read filesystem-edit")
	d.press(".go", "enter", "tab")
	d.sees("› reviewer")
	d.press("ctrl+u", ".txt，.rst", "enter")
	want := []Profile{{Name: "main", Suffixes: []string{".go"}}, {Name: "reviewer", Tools: []string{"Read", "filesystem-edit"}, Suffixes: []string{".txt", ".rst"}}}
	if diff := cmp.Diff(want, d.host.profiles); diff != "" {
		t.Error(diff)
	}
	d.press("down", "up", "esc", "/agents reviewer .md", "enter")
	d.sees("may edit: .md", "saved: reviewer may edit .md")
}
