package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/umpirehq/umpire/internal/hold/process"
)

func TestProfileCostsNothingUnlessAsked(t *testing.T) {
	unset := func(string) string { return "" }
	if n := testing.AllocsPerRun(100, func() {
		p, err := process.StartProfile(unset, "hook")
		if p != nil || err != nil {
			t.Fatal(p, err)
		}
		p.End(process.Decided)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestProfileRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.trace", filepath.Join(dir, "a"), filepath.Join(dir, "missing", "a.trace")} {
		p, err := process.StartProfile(func(string) string { return name }, "hook")
		if p != nil || err == nil {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}
