package interop

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/host/drive"
)

func TestTableIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	table := hostTable{Title: "Copilot CLI", Version: "0.169.0", Date: "2026-11-23", Rows: []tableRow{
		{"allow", "", drive.Runs}, {"three calls, the second denied", drive.Runs, drive.Blocked}, {"late", "", drive.HeldBlocked},
	}}
	got, err := parseTable(table.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table, got); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{
		strings.Replace(table.String(), "runs > blocked", "runs > runs", 1),
		strings.Replace(table.String(), "0.169.0", "0.170.0", 1),
		strings.Replace(table.String(), "11-23", "11-24", 1),
		"", "codex: x\n\nallow  runs\n",
	} {
		if got, err := parseTable(text); err == nil {
			t.Errorf("a changed table is read: %v", got)
		}
	}
}
