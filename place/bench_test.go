package place

import (
	"testing"

	"github.com/umpirehq/umpire"
)

func BenchmarkResolve(b *testing.B) {
	w, p := world(b)
	for name, target := range map[string]string{
		"inside": w + "/p/src/a.go", "link": w + "/p/chain", "new": w + "/p/new/dir/f", "harmless": "/dev/null",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a := umpire.Access{Kind: read, Target: target}
				p.Resolve(&a)
			}
		})
	}
}
