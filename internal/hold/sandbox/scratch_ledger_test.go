package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestMade(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("no times of birth are read here")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string) {
		if err := os.WriteFile(at(name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	l := ScratchLedger{Dir: filepath.Join(dir, "ledger"), Now: func() time.Time { return now }}
	write("before")
	claimed := []string{at("before"), at("own"), at("line\nfeed"), at("bad\xff"), at("linked"), at("folder"), at("link"), at("never")}
	now = time.Now().Add(50 * time.Millisecond)
	if err := l.Claim("s", claimed[:1]); err != nil {
		t.Fatal(err)
	}
	now = time.Now()
	if err := l.Claim("s", claimed[1:]); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"own", "line\nfeed", "bad\xff", "linked", "unclaimed"} {
		write(name)
	}
	if err := os.Link(at("linked"), at("second name")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("own"), at("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"own": true, "line\nfeed": true, "bad\xff": true,
		"before": false, "linked": false, "unclaimed": false, "folder": false, "link": false, "never": false, "bad\xfe": false,
	} {
		if got := l.Made("s", at(name)); got != want {
			t.Errorf("%q: made %t", name, got)
		}
		if l.Made("other", at(name)) || l.Made("", at(name)) || (ScratchLedger{}).Made("s", at(name)) {
			t.Errorf("%q belongs to another session", name)
		}
	}

	// A file that was created much later belongs to another program.
	now = time.Now().Add(-time.Hour)
	if err := l.Claim("late", []string{at("late")}); err != nil {
		t.Fatal(err)
	}
	write("late")
	if l.Made("late", at("late")) {
		t.Error("a claim counts for long")
	}
	now = time.Now().Add(30 * 24 * time.Hour)
	if err := l.Claim("new", []string{at("new")}); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(l.Dir); len(left) != 1 {
		t.Errorf("%d files of claims are left", len(left))
	}
}
