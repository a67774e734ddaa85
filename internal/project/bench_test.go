package project

import "testing"

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
