package trial

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/umpirehq/umpire/internal/sandbox"
)

// BenchmarkRun is how long a trial takes, by the size of the project and by what it changes,
// beside the command without one.
func BenchmarkRun(b *testing.B) {
	for _, files := range []int{100, 10_000} {
		base := plainDir(b)
		root := filepath.Join(base, "p")
		for i := range files {
			dir := filepath.Join(root, fmt.Sprint("d", i/50))
			if i%50 == 0 {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					b.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), []byte("some text\n"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		for _, line := range []string{"true", "sed -i s/some/any/ d0/* d1/*", "rm -r d0 d1"} {
			b.Run(fmt.Sprintf("%d files/%s", files, line), func(b *testing.B) {
				spec := Spec{
					Args: []string{"sh", "-c", line}, Dir: root, Env: os.Environ(), State: filepath.Join(base, "s"),
					Place: &sandbox.Place{Workspace: []string{root}, Home: base},
				}
				for b.Loop() {
					result, err := Run(b.Context(), spec)
					if err != nil {
						b.Skip(err)
					}
					if err := result.Layer.Discard(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	b.Run("without", func(b *testing.B) {
		for b.Loop() {
			if err := exec.CommandContext(b.Context(), "sh", "-c", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
