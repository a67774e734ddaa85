package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSeatbelt(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*order{
		"read-only": {Tmp: "/private/s/tmp", Hidden: []string{"/Users/u/.umpire/state"}},
		"workspace-write": {
			Open: []string{"/Users/u/p", "/Users/u/q"}, Tmp: "/private/s/tmp", Pinned: []string{"/Users/u/p/.git"},
			Guarded: []string{"/Users/u/p/.git/hooks", "/Users/u/p/.git/config"}, Absent: []string{"/Users/u/p/.husky"}, Hidden: []string{"/Users/u/.umpire/state"},
		},
		"network":   {Open: []string{"/Users/u/p"}, Reach: reachMachine, Hidden: []string{"/var/run/docker.sock"}},
		"odd-names": {Open: []string{`/Users/u/a "b" \ (c)`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("testdata", "seatbelt-"+name+".sb")
			got := seatbelt(o)
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}
