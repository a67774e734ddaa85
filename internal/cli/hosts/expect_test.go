package hosts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExpectedQuestionsAreMeasured: the documentation has the figures that setup shows.
func TestExpectedQuestionsAreMeasured(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "autonomy.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("| Claude Code, without it | low | 45.3 %% | – | %.1f %% |", asksAtLow),
		fmt.Sprintf("| | medium, high | 69.0 %% | 27.5 %% | %.1f %% |", asksAtMedium),
		fmt.Sprintf("There %.1f %% of Claude Code's calls ask at medium", asksWithoutTrials),
	} {
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
			t.Errorf("docs/autonomy.md does not say %q", want)
		}
	}
}
