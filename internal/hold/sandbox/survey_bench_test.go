package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkSurvey measures the survey of 50,000 files in 5,000 folders: a session's first
// one, and later ones.
func BenchmarkSurvey(b *testing.B) {
	root := b.TempDir()
	for i := range 5000 {
		dir := filepath.Join(root, fmt.Sprintf("d%d/e%d", i/100, i%100))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for k := range 10 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", k)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			var s surveyor
			if _, err := s.survey([]string{root}, nil, maxSurvey); err != nil || len(s.known) != 5051 {
				b.Fatal(len(s.known), err)
			}
		}
	})
	b.Run("next", func(b *testing.B) {
		var s surveyor
		if _, err := s.survey([]string{root}, nil, maxSurvey); err != nil {
			b.Fatal(err)
		}
		for _, f := range s.known { // as if time had passed since the folders changed
			f.read += int64(time.Hour)
		}
		for b.Loop() {
			if _, err := s.survey([]string{root}, nil, maxSurvey); err != nil {
				b.Fatal(err)
			}
		}
	})
}
