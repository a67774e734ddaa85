package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

func TestFirstWords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70)
	for text, want := range map[string]string{
		"": "", " Fix  the\nlogin ": "Fix the login", long: long[:60] + "…", "a " + long: "a …", "a\u202eb": `a\u202eb`,
	} {
		if got := view.FirstWords(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestFirstMessage(t *testing.T) {
	t.Parallel()
	said := func(role, content string) umpire.Message {
		return umpire.Message{Role: role, Content: json.RawMessage(content)}
	}
	messages := []umpire.Message{
		said("assistant", `"no"`), said("user", `{}`), said("user", `""`), said("user", `"yes"`), said("user", `"late"`),
	}
	if got := view.FirstMessage(messages); got != "yes" {
		t.Errorf("%q", got)
	}
	if got := view.FirstMessage(nil); got != "" {
		t.Errorf("%q", got)
	}
}
