package app

import (
	"strings"
	"testing"
)

func TestNewCode(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		code := NewCode()
		if len(code) != codeLength || strings.Trim(code, codeLetters) != "" {
			t.Errorf("the code %q", code)
		}
		seen[code] = true
	}
	if len(seen) < 90 {
		t.Errorf("only %d codes of 100 are different", len(seen))
	}
}
