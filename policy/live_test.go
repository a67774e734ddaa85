package policy

import (
	"testing"

	"github.com/umpirehq/umpire/shell"
)

func TestNeedsLive(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"nano a": true, "vim a": true, "htop": true, "qdel 1": true, "scancel 1": true, "psql -c x": true, "make": false,
		"python3 a.py": false, "./x": false,
	} {
		a := shell.Parse(line, shell.Env{})[0]
		if got := needsLive(&a); got != want {
			t.Errorf("%s: %t, want %t", line, got, want)
		}
	}
}
