//go:build interop

package interop

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/agent/fake"
)

var film = flag.String("film", "", "write the film of Claude Code to this `file`")

// TestFilm plays a session of the real Claude Code at a terminal: umpire lets one call run unasked,
// refuses one that would delete the home, and makes Claude Code ask about a third. With -film, the
// screens become the animation of the README.
func TestFilm(t *testing.T) {
	t.Parallel()
	m := startModel(t,
		turn{bash("look", "git status --short && ls")},
		turn{bash("home", "cd build && rm -rf ~/ && cd ..")},
		turn{bash("build", "rm -rf build")},
	)
	w := newWorld(t, m)
	w.write("project/build/app.o", "x")
	w.write("project/main.c", "int main(void) { return 0; }\n")
	w.knowsClaude()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	s := startScreen(ctx, w, 100, 34,
		w.Program, "--model", "sonnet", "--permission-mode", "default", "Clean up behind the build.")
	defer s.tmux("kill-server")
	frames := []fake.TerminalFrame{
		{Screen: s.shows("Clean up behind"), Time: 2 * time.Second},
		{Screen: s.shows("git status --short"), Time: 3 * time.Second},
		{Screen: s.shows("deletes a home directory"), Time: 6 * time.Second},
		{Screen: s.shows("umpire: deletes build", "Do you want to proceed?"), Time: 6 * time.Second},
	}
	const stopped = 2 // the frame with the refusal
	s.press("Enter")
	frames = append(frames, fake.TerminalFrame{Screen: s.shows("done"), Time: 5 * time.Second})
	w.ran("look")
	w.stopped("home", critical)
	w.ran("build")
	if *film == "" {
		return
	}
	for i := range frames {
		at := strings.NewReplacer(w.Path("home"), "/home/you", w.Project(), "~/project")
		frames[i].Screen = at.Replace(frames[i].Screen)
	}
	if err := os.WriteFile(*film, []byte(fake.FilmTerminal(frames, stopped)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A screen is a terminal of tmux.
type screen struct {
	*world
	late   <-chan struct{}
	socket string
}

// startScreen starts a program at a terminal.
func startScreen(ctx context.Context, w *world, width, height int, program string, args ...string) *screen {
	w.Helper()
	s := &screen{world: w, late: ctx.Done(), socket: w.Path("home/screen")}
	start := []string{
		"start-server", ";", "set", "-g", "status", "off", ";", "new-session", "-d", "-s", "s",
		"-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", w.Project(), program,
	}
	s.tmux(append(start, args...)...)
	return s
}

// tmux runs tmux, and returns its output.
func (s *screen) tmux(args ...string) string {
	s.Helper()
	out, code := s.start("tmux", append([]string{"-S", s.socket, "-f", os.DevNull, "-u"}, args...)...)
	if code != 0 {
		s.Fatalf("tmux %q: exit %d\n%s", args, code, out)
	}
	return out
}

func (s *screen) press(key string) {
	s.Helper()
	s.tmux("send-keys", "-t", "s", key)
}

// shows returns the screen, with its escapes, once all texts are on it.
func (s *screen) shows(texts ...string) (captured string) {
	s.Helper()
	for {
		plain := s.tmux("capture-pane", "-p", "-t", "s")
		captured = s.tmux("capture-pane", "-e", "-p", "-t", "s")
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(plain, text) }) {
			return captured
		}
		select {
		case <-s.late:
			s.Fatalf("%q never came on the screen:\n%s", texts, plain)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
