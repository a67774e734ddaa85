package cli

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// The verbs with which scripts use a terminal: the real program runs in tmux, gets real
// keys, and the screen is compared.

// A terminal is the terminal of a script.
type terminal struct {
	folder string          // holds the chat's project; its name always has the same length
	socket string          // of tmux
	starts int             // number of terminals so far
	others []chan struct{} // signalled when the terminal is drawn
	env    []string        // of tmux and its programs
	drawn  chan struct{}
	ids    map[string]string // of sessions, with their replacements
}

type terminalKey struct{}

// tmux runs tmux and returns its output.
func (d *terminal) tmux(ts *testscript.TestScript, args ...string) string {
	cmd := exec.Command("tmux", append([]string{"-S", d.socket, "-f", os.DevNull, "-u"}, args...)...)
	cmd.Env = d.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		ts.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// workspace [FILE...]: makes a project in a folder whose path is as long every time, with these
// files of the script in it; $WORKSPACE is its path.
func scriptWorkspace(ts *testscript.TestScript, _ bool, args []string) {
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			ts.Fatalf("tmux is not here, and continuous integration needs it")
		}
		ts.Fatalf("tmux is not here: guard the script with [exec:tmux]")
	}
	folder := fmt.Sprintf("/tmp/umpiretest%08d", rand.IntN(100_000_000))
	ts.Check(os.Mkdir(folder, 0o700))
	ts.Defer(func() { os.RemoveAll(folder) })
	project := filepath.Join(folder, "project")
	ts.Check(os.Mkdir(project, 0o755))
	ts.Check(exec.Command("git", "init", "-q", "-b", "main", project).Run())
	for _, file := range args {
		ts.Check(os.WriteFile(filepath.Join(project, filepath.Base(file)), []byte(ts.ReadFile(file)), 0o644))
	}
	ts.Setenv("WORKSPACE", project)
	*ts.Value(terminalKey{}).(*terminal) = terminal{folder: folder, ids: map[string]string{}}
}

// terminal WIDTHxHEIGHT PROGRAM ARGS...: starts a program at a terminal of that size, in the
// workspace.
func scriptTerminal(ts *testscript.TestScript, _ bool, args []string) {
	d := ts.Value(terminalKey{}).(*terminal)
	width, height, _ := strings.Cut(args[0], "x")
	d.env = append(scriptEnv(ts), "TERM=xterm-256color")
	d.starts++
	d.socket = filepath.Join(d.folder, "tmux"+strconv.Itoa(d.starts)) // new, because the old server may be ending
	start := []string{
		"start-server", ";", "set", "-g", "status", "off", ";", "new-session", "-d", "-s", "chat", "-x", width, "-y", height,
		"-c", ts.Getenv("WORKSPACE"), "sh", "-c", `trap : INT; "$@"; echo "left with $?"; exec cat`, "sh",
	}
	d.tmux(ts, append(start, args[1:]...)...)
	d.tmux(ts, "set", "-g", "window-size", "manual") // otherwise an attached client would change the size
	d.watch(ts)
}

// at N: goes back to the terminal that was started as the Nth.
func scriptAt(ts *testscript.TestScript, _ bool, args []string) {
	d := ts.Value(terminalKey{}).(*terminal)
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	d.socket, d.drawn = filepath.Join(d.folder, "tmux"+args[0]), d.others[n-1]
}

// watch makes tmux report all drawing.
func (d *terminal) watch(ts *testscript.TestScript) {
	cmd := exec.Command("tmux", "-S", d.socket, "-C", "attach", "-t", "chat")
	cmd.Env = d.env
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	drawn := make(chan struct{}, 1)
	d.drawn = drawn
	d.others = append(d.others, drawn)
	go func() {
		lines := bufio.NewReader(out)
		for {
			if _, err := lines.ReadString('\n'); err != nil {
				cmd.Wait()
				return
			}
			select {
			case drawn <- struct{}{}:
			default:
			}
		}
	}()
	socket := d.socket
	ts.Defer(func() {
		in.Close()
		exec.Command("tmux", "-S", socket, "kill-server").Run() // it may have ended by itself
	})
}

// sessionID is how sessions are called, and projectID how projects are in short.
var (
	sessionID = regexp.MustCompile(`\bs[0-9a-z]{16}\b`)
	projectID = regexp.MustCompile(`\b[0-9a-f]{12}\b`)
)

// screen returns the text on the screen.
func (d *terminal) screen(ts *testscript.TestScript) string {
	lines := strings.Split(strings.TrimSuffix(d.named(d.tmux(ts, "capture-pane", "-p", "-t", "chat")), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// named replaces the names that differ every time by others as long.
func (d *terminal) named(text string) string {
	text = strings.ReplaceAll(text, d.folder, "/tmp/umpiretest00000000")
	text = sessionID.ReplaceAllStringFunc(text, func(id string) string {
		if d.ids[id] == "" {
			d.ids[id] = fmt.Sprintf("session%010d", len(d.ids)+1)
		}
		return d.ids[id]
	})
	return projectID.ReplaceAllString(text, "0123456789ab")
}

// shows PATTERN...: waits until the screen shows all of these, and writes it to standard
// output.
func scriptShows(ts *testscript.TestScript, neg bool, args []string) {
	d := ts.Value(terminalKey{}).(*terminal)
	late := time.After(answerTime)
	for {
		text := d.screen(ts)
		missing := ""
		for _, pattern := range args {
			if regexp.MustCompile("(?m)"+pattern).MatchString(text) == neg {
				missing = pattern
			}
		}
		if missing == "" {
			fmt.Fprint(ts.Stdout(), text)
			return
		}
		select {
		case <-d.drawn:
		case <-late:
			ts.Fatalf("the screen never came to show %q:\n%s", missing, text)
		}
	}
}

// becomes FILE: waits until the screen equals the file. A screen may be half drawn at any
// moment, so a pattern cannot tell when it is complete.
func scriptBecomes(ts *testscript.TestScript, _ bool, args []string) {
	d := ts.Value(terminalKey{}).(*terminal)
	want, late := ts.ReadFile(args[0]), time.After(answerTime)
	for {
		text := d.screen(ts)
		if text == want {
			return
		}
		select {
		case <-d.drawn:
		case <-late:
			ts.Fatalf("the screen never became (-want +got):\n%s", cmp.Diff(want, text))
		}
	}
}

// painted: writes the screen to standard output with its escapes.
func scriptPainted(ts *testscript.TestScript, _ bool, _ []string) {
	fmt.Fprint(ts.Stdout(), ts.Value(terminalKey{}).(*terminal).tmux(ts, "capture-pane", "-e", "-p", "-t", "chat"))
}

// shownCode matches a code that the person has to type back.
var shownCode = regexp.MustCompile(`(?m)^(?:Type|输入) ([a-z]{4}) `)

// keys KEY...: presses keys with tmux's names. N*KEY presses one N times, text: types
// the rest, and code: types the code on the screen.
func scriptKeys(ts *testscript.TestScript, _ bool, args []string) {
	d := ts.Value(terminalKey{}).(*terminal)
	for _, key := range args {
		if key == "code:" {
			code := shownCode.FindStringSubmatch(d.screen(ts))
			if code == nil {
				ts.Fatalf("no code is on the screen:\n%s", d.screen(ts))
			}
			key = "text:" + code[1]
		}
		if text, ok := strings.CutPrefix(key, "text:"); ok {
			d.tmux(ts, "send-keys", "-t", "chat", "-l", text)
			continue
		}
		times, key, repeated := strings.Cut(key, "*")
		if !repeated {
			times, key = "1", times
		}
		d.tmux(ts, "send-keys", "-t", "chat", "-N", times, key)
	}
}

// resized WIDTHxHEIGHT: gives the terminal another size.
func scriptResized(ts *testscript.TestScript, _ bool, args []string) {
	width, height, _ := strings.Cut(args[0], "x")
	ts.Value(terminalKey{}).(*terminal).tmux(ts, "resize-window", "-t", "chat", "-x", width, "-y", height)
}

// killed: ends the program as a power cut would.
func scriptKilled(ts *testscript.TestScript, _ bool, _ []string) {
	d := ts.Value(terminalKey{}).(*terminal)
	shell := strings.TrimSpace(d.tmux(ts, "display-message", "-p", "-t", "chat", "#{pane_pid}"))
	found, err := exec.Command("pgrep", "-P", shell).Output()
	ts.Check(err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(found)))
	ts.Check(err)
	program, err := os.FindProcess(pid)
	ts.Check(err)
	ts.Check(program.Kill())
	scriptShows(ts, false, []string{`left\s+with\s+137`}) // broken because the cursor was far to the right
}

// left CODE: the program has ended with that code, and the earlier screen is back.
func scriptLeft(ts *testscript.TestScript, _ bool, args []string) {
	scriptShows(ts, false, []string{"left with " + args[0] + "$"})
}

// terminalVerbs are the verbs of this file.
var terminalVerbs = map[string]func(*testscript.TestScript, bool, []string){
	"workspace": scriptWorkspace, "at": scriptAt, "terminal": scriptTerminal, "shows": scriptShows, "becomes": scriptBecomes, "painted": scriptPainted, "drawn": scriptDrawn, "keys": scriptKeys, "resized": scriptResized, "killed": scriptKilled, "left": scriptLeft,
}
