package project

import (
	"testing"

	"github.com/umpirehq/umpire"
)

func BenchmarkOpen(b *testing.B) {
	dir, cache := tempDir(b), tempDir(b)
	newRepo(b, dir, "one")
	o := Options{Cache: cache, Home: dir + "/home"}
	open(b, dir, o)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(dir, o); err != nil {
			b.Fatal(err)
		}
	}
}

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
