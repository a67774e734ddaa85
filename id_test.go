package umpire

import (
	"errors"
	"strings"
	"testing"
)

// badIDs are ids that every entry point rejects.
var badIDs = map[string]string{
	"NUL": "s\x00", "newline": "s\n1", "escape": "\x1b[2J", "delete": "s\x7f", "C1": "s\u009b", "right-to-left": "s\u202e1",
	"zero width": "s\u200b", "line separator": "s\u2028", "tag": "s\U000e0041", "not UTF-8": "s\xff", "too long": strings.Repeat("x", MaxID+1),
}

func TestCheckID(t *testing.T) {
	t.Parallel()
	for name, id := range badIDs {
		err := CheckID("session_id", id)
		if !errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), "session_id: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []string{"", "s1", "toolu_01-a.b:c/d", "two words", "会话", "é", strings.Repeat("x", MaxID)} {
		if err := CheckID("session_id", SessionID(id)); err != nil {
			t.Error(err)
		}
	}
}
