package cli

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/umpirehq/umpire/internal/agent/fake"
)

var update = flag.Bool("update", false, "draw the pictures in docs again")

// drawn FILE: waits until the screen matches the picture in FILE of the repository. With
// -update it waits until the screen no longer changes, and writes the picture.
func scriptDrawn(ts *testscript.TestScript, _ bool, args []string) {
	d := ts.Value(terminalKey{}).(*terminal)
	file := filepath.Join("..", "..", filepath.FromSlash(args[0]))
	drawn := func() string {
		screen := d.named(d.tmux(ts, "capture-pane", "-e", "-p", "-t", "chat"))
		return fake.DrawTerminal(strings.ReplaceAll(screen, "/tmp/umpiretest00000000/project", "~/greeter"))
	}
	if *update {
		for quiet := false; !quiet; {
			select {
			case <-d.drawn:
			case <-time.After(time.Second):
				quiet = true
			}
		}
		ts.Check(os.WriteFile(file, []byte(drawn()), 0o644))
	}
	want, err := os.ReadFile(file)
	ts.Check(err)
	for late := time.After(answerTime); drawn() != string(want); {
		select {
		case <-d.drawn:
		case <-late:
			ts.Fatalf("%s is out of date; -update draws it again", args[0])
		}
	}
}
