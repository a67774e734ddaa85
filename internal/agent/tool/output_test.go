package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestOutputKeepsBothEnds, however the bytes come.
func TestOutputKeepsBothEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var out output
		var all strings.Builder
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, outputTail+outputHead), 0, 8).Draw(t, "sizes") {
			piece := strings.Repeat(fmt.Sprintf("%07d ", all.Len()), n/8+1)[:n]
			if k, err := out.Write([]byte(piece)); k != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", k, n, err)
			}
			all.WriteString(piece)
		}
		want := all.String()
		if left := len(want) - outputHead - outputTail; left > 0 {
			want = fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", want[:outputHead], left, want[len(want)-outputTail:])
		}
		if got := out.String(); got != want {
			t.Fatalf("%d bytes became %d, want %d", all.Len(), len(got), len(want))
		}
	})
}

// TestOutputCutsNoCharacter: an omission does not split characters.
func TestOutputCutsNoCharacter(t *testing.T) {
	t.Parallel()
	for shift := range 4 {
		var out output
		text := strings.Repeat("a", shift) + strings.Repeat("𝄞", 20_000)
		if _, err := out.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if !utf8.ValidString(got) {
			t.Errorf("shifted by %d: not valid UTF-8", shift)
		}
		var left int
		if _, err := fmt.Sscanf(got[strings.Index(got, "[..."):], "[... %d bytes", &left); err != nil {
			t.Fatal(err)
		}
		if kept := len(got) - len(fmt.Sprintf("\n[... %d bytes left out ...]\n", left)); kept+left != len(text) {
			t.Errorf("shifted by %d: kept %d and left out %d of %d", shift, kept, left, len(text))
		}
	}
}

func TestCappedFileDropsAndCounts(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := capped{f: f, size: maxJobFile - 3}
	if n, err := c.Write([]byte("12345")); n != 5 || err != nil {
		t.Errorf("wrote %d: %v", n, err)
	}
	if size, dropped := c.written(); size != maxJobFile || dropped != 2 {
		t.Errorf("holds %d, dropped %d", size, dropped)
	}
}
