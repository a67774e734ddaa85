package cli

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	shellwords "mvdan.cc/sh/v3/shell"
	"pgregory.net/rapid"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
)

// Words that are given one by one stay separate words, with any content.
func TestCommandLineKeepsWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.StringMatching(`[ -~]{0,12}`), rapid.StringMatching(`[a-z'"$*;|&~#\\\n-]{0,8}`))
		words := rapid.SliceOfN(word, 2, 5).Draw(t, "words")
		got, err := shellwords.Fields(view.CommandLine(words), func(string) string { return "expanded" })
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "\x00") != strings.Join(words, "\x00") || len(got) != len(words) {
			t.Fatalf("%q became %q, read as %q", words, view.CommandLine(words), got)
		}
	})
}

// Colours are for terminals, and for people who have not set NO_COLOR.
func TestColour(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		terminal bool
		noColour string
		want     bool
	}{{"a terminal", true, "", true}, {"a terminal and NO_COLOR", true, "1", false}, {"a file", false, "", false}} {
		var out strings.Builder
		env := map[string]string{"HOME": t.TempDir(), "NO_COLOR": test.noColour}
		runProgram(t.Context(), app.Surroundings{
			Args: []string{"check", "--", "ls"}, Stdout: &out, Stderr: io.Discard, Dir: t.TempDir(),
			Getenv: func(name string) string { return env[name] }, ToTerminal: test.terminal, Now: time.Now,
		})
		if got := strings.HasPrefix(out.String(), "\x1b[32mallow\x1b[0m"); got != test.want {
			t.Errorf("%s: coloured %v, want %v: %q", test.name, got, test.want, out.String())
		}
	}
}

// A signal ends a stream that waits for its next line.
func TestStreamEndsWithSignal(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	env := map[string]string{"HOME": t.TempDir()}
	ended := make(chan int)
	go func() {
		ended <- runProgram(ctx, app.Surroundings{
			Args: []string{"check", "--stdin"}, Stdin: in, Stdout: out, Stderr: io.Discard, Dir: t.TempDir(),
			Getenv: func(name string) string { return env[name] }, Now: time.Now,
		})
	}()
	if _, err := io.WriteString(feed, callWith(t, "ls")); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(answers).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if code := <-ended; code != app.ExitError {
		t.Errorf("exit code %d", code)
	}
	feed.Close()
}
