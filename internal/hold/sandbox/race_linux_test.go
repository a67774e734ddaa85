package sandbox

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

var swaps = flag.Int("swaps", 5000, "writes of the race about links")

// racerWord is the argument that makes the test program race.
const racerWord = "race"

// race writes to root/d/f again and again while d alternates between a folder and a link
// to outside. It prints how often it met the link.
func race(args []string) {
	root, outside := args[0], args[1]
	times, _ := strconv.Atoi(args[2]) // set by the test
	at := func(name string) string { return filepath.Join(root, name) }
	if os.Mkdir(at("folder"), 0o755) != nil || os.Symlink(outside, at("link")) != nil {
		os.Exit(3)
	}
	go func() {
		for {
			_ = os.Rename(at("folder"), at("d")) // one of the two exists
			_ = os.Rename(at("d"), at("folder"))
			_ = os.Rename(at("link"), at("d"))
			_ = os.Rename(at("d"), at("link"))
		}
	}()
	met := 0
	for n := 0; n < times; {
		err := os.WriteFile(at("d/f"), []byte("escaped"), 0o644)
		if os.IsNotExist(err) {
			continue // between two renames
		}
		if n++; err != nil {
			met++
		}
	}
	fmt.Println(met)
}

// TestLinkSwapRace checks that replacing a path during its use changes its target, but
// not what is writable.
func TestLinkSwapRace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cmd := exec.CommandContext(t.Context(), b.self(), racerWord, b.root, b.outside, strconv.Itoa(*swaps))
	cmd.Dir, cmd.Stderr = b.root, os.Stderr
	box, err := b.Wrap(cmd, writing)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.Output()
	if err := box.Close(err); err != nil {
		t.Fatal(err)
	}
	b.lacks(filepath.Join(b.outside, "f"))
	if string(out) == "0\n" {
		t.Error("the writer never met the link: nothing was proven")
	}
	t.Logf("%d writes, %s met the link, none went out", *swaps, out[:len(out)-1])
}

// TestSwappedBeforeSetUp checks that a folder that was replaced by a link after the check
// is not mounted.
func TestSwappedBeforeSetUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "echo x >"+b.outside+"/x")
	cmd.Dir = b.outside
	box, err := b.Wrap(cmd, writing)
	if err != nil {
		t.Fatal(err)
	}
	b.bare("mv ../p ../moved && ln -s o ../p")
	if err := box.Close(cmd.Run()); err == nil {
		t.Error("it ran although its workspace is a link by now")
	} else if _, ok := err.(*SetupError); !ok { //nolint:errorlint // exactly this error is expected
		t.Errorf("%v, want a set-up error", err)
	}
	b.lacks(filepath.Join(b.outside, "x"))
}
