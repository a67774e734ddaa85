package cli

import (
	"strings"

	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/tool"
	"github.com/umpirehq/umpire/internal/view"
)

// maxDiff bounds what is shown of a change.
const maxDiff = 64 << 10

// diff shows the change as `diff -u` does.
func (c settingsChange) diff() string {
	from, to := c.path, c.path
	if !c.existed {
		from = "/dev/null"
	}
	if c.remove {
		to = "/dev/null"
	}
	return visibleDiff(tool.UnifiedDiff(view.Visible(from), view.Visible(to), c.before, c.after, maxDiff))
}

// visibleDiff escapes what a terminal would obey, line by line; a tab is harmless.
func visibleDiff(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i := range parts {
			parts[i] = visible(parts[i])
		}
		b.WriteString(strings.Join(parts, "\t") + "\n")
	}
	return b.String()
}
