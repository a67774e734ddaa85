package cli

import (
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/view"
)

func TestCutColumns(t *testing.T) {
	t.Parallel()
	if line := cutColumns(strings.Repeat("工具", 50), 21); view.Columns(line) > 21 || !strings.HasSuffix(line, "…") {
		t.Errorf("%q has %d columns", line, view.Columns(line))
	}
	if line := cutColumns("short", 21); line != "short" {
		t.Errorf("%q", line)
	}
}
