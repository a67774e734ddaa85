package cli

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/server"
)

// The verbs with which scripts act as the gate, the agent and the person.

// testRoot is the environment variable that tells the program under test where the
// test's own processes begin. Their ancestors do not count.
const testRoot = "UMPIRE_TEST_ROOT"

// testManaged is the environment variable that names the administrator's folder, which
// then belongs to this user.
const testManaged = "UMPIRE_TEST_MANAGED"

// scriptMain is main, for a process that a script starts.
func scriptMain() {
	if root, err := strconv.Atoi(os.Getenv(testRoot)); err == nil {
		process.Outermost = root
	}
	if dir := os.Getenv(testManaged); dir != "" {
		files.Managed.Dir, files.Managed.UID = dir, uint32(os.Getuid())
	}
	Main()
}

// A daemon is the gate that runs during a script.
type daemon struct {
	cmd     *exec.Cmd
	address string
	exited  chan error
	stderr  *bytes.Buffer
}

type daemonKey struct{}

// gate ARGS...: starts umpire serve and waits until it is ready.
func scriptGate(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("gate takes no !")
	}
	d := &daemon{exited: make(chan error, 1), stderr: &bytes.Buffer{}}
	d.cmd = exec.Command(umpireIn(ts), append([]string{"serve"}, args...)...)
	d.cmd.Dir, d.cmd.Env, d.cmd.Stderr = ts.MkAbs("."), scriptEnv(ts), d.stderr
	out, err := d.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(d.cmd.Start())
	lines := bufio.NewReader(out)
	ready, err := lines.ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(ready), "umpire: ready on ")
	if err != nil || !ok {
		d.cmd.Process.Kill()
		d.cmd.Wait()
		ts.Fatalf("the gate is not ready: %q, %v\n%s", ready, err, d.stderr)
	}
	for _, more := range []struct{ flag, says, variable string }{
		{"--metrics", "umpire: metrics on ", "METRICS"}, {"--proxy", "umpire: proxy on ", "PROXY"},
	} {
		if slices.Contains(args, more.flag) {
			line, err := lines.ReadString('\n')
			ts.Check(err)
			ts.Setenv(more.variable, strings.TrimPrefix(strings.TrimSpace(line), more.says))
		}
	}
	go func() {
		_, copyErr := io.Copy(io.Discard, lines)
		d.exited <- errors.Join(d.cmd.Wait(), copyErr)
	}()
	d.address = address
	ts.Setenv("GATE", address)
	ts.Setenv("GATE_PID", strconv.Itoa(d.cmd.Process.Pid))
	*ts.Value(daemonKey{}).(*daemon) = *d
	ts.Defer(func() {
		if err := d.cmd.Process.Signal(syscall.SIGTERM); err == nil {
			<-d.exited
		}
		ts.Logf("the gate said:\n%s", d.stderr)
	})
}

// gate-ends SIGNAL CODE: sends the gate a signal and expects that exit code; -1 means
// death by the signal. The gate's output is standard error.
func scriptGateEnds(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL}
	d := ts.Value(daemonKey{}).(*daemon)
	ts.Check(d.cmd.Process.Signal(signals[args[0]]))
	select {
	case <-d.exited:
	case <-time.After(answerTime):
		ts.Fatalf("the gate did not end\n%s", d.stderr)
	}
	if got := strconv.Itoa(d.cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("the gate ended with %s, want %s\n%s", got, args[1], d.stderr)
	}
	fmt.Fprint(ts.Stderr(), d.stderr)
}

// scriptEnv is the environment of the script.
func scriptEnv(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{
		"HOME", "PATH", "TMPDIR", "UMPIRE_HOME", "UMPIRE_LANG", "CLAUDE_PROJECT_DIR", "CLAUDECODE", "NO_COLOR", "TERM", "ACCESSIBLE", "GIT_CONFIG_NOSYSTEM", testRoot, testManaged,
		"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "SSL_CERT_FILE",
	} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// tokenOf reads one of the gate's credentials. If who is "none", it returns "".
func tokenOf(ts *testscript.TestScript, who string) string {
	if who == "none" {
		return ""
	}
	home := ts.Getenv("UMPIRE_HOME")
	if home == "" {
		home = filepath.Join(ts.Getenv("HOME"), ".umpire")
	}
	data, err := os.ReadFile(filepath.Join(home, "state", who+".token"))
	ts.Check(err)
	return strings.TrimSpace(string(data))
}

// posts STATUS WHO SERVICE/METHOD JSON...: posts JSON to the gate as agent, person or
// none, and expects that HTTP status. The answer is standard output. JSON that begins
// with @ names a file.
func scriptPosts(ts *testscript.TestScript, _ bool, args []string) {
	body := strings.Join(args[3:], " ")
	if name, ok := strings.CutPrefix(body, "@"); ok {
		body = ts.ReadFile(name)
	}
	request, transport := postRequest(ts, args[1], args[2], body)
	status, text, err := send(request, transport)
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), text)
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("%s: status %d, want %s\n%s", args[2], status, args[0], text)
	}
}

// postRequest makes a request of Connect JSON to the gate that runs.
func postRequest(ts *testscript.TestScript, who, method, body string) (*http.Request, *http.Transport) {
	host, transport := gateTransport(ts.Value(daemonKey{}).(*daemon).address)
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+host+"/umpire.v1."+method, strings.NewReader(body))
	ts.Check(err)
	request.Header.Set("Content-Type", "application/json")
	if token := tokenOf(ts, who); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return request, transport
}

// gateTransport reaches an address that the gate has printed.
func gateTransport(address string) (host string, transport *http.Transport) {
	transport = &http.Transport{DisableKeepAlives: true}
	path, ok := strings.CutPrefix(address, "unix:")
	if !ok {
		return address, transport
	}
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	return "localhost", transport
}

func send(request *http.Request, transport *http.Transport) (status int, text string, err error) {
	response, err := (&http.Client{Transport: transport, Timeout: answerTime}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return response.StatusCode, string(data), err
}

// waits N: waits until there are N questions. Sets REQUEST to the id of the first,
// REQUEST2 to that of the second and so on.
func scriptWaits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	d := ts.Value(daemonKey{}).(*daemon)
	c, err := server.Dial(d.address, tokenOf(ts, "person"))
	ts.Check(err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	if waitingNow(ctx, ts, c) == want {
		return
	}
	for _, err := range c.Watch(ctx, umpire.Filter{}) {
		ts.Check(err)
		if waitingNow(ctx, ts, c) == want {
			return
		}
	}
	ts.Fatalf("%d questions never waited", want)
}

func waitingNow(ctx context.Context, ts *testscript.TestScript, c *server.Client) int {
	list, err := c.Pending(ctx, umpire.PendingQuery{})
	ts.Check(err)
	for i := range list {
		name := "REQUEST"
		if i > 0 {
			name += strconv.Itoa(i + 1)
		}
		ts.Setenv(name, string(list[i].Request))
	}
	return len(list)
}

// happens KIND N: waits until there are N events of a kind.
func scriptHappens(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	c, err := server.Dial(ts.Value(daemonKey{}).(*daemon).address, tokenOf(ts, "person"))
	ts.Check(err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	count := 0
	for e, err := range c.Watch(ctx, umpire.Filter{}) {
		ts.Check(err)
		if string(e.Kind) == args[0] {
			count++
		}
		if count == want {
			return
		}
	}
}

// promptWord matches the word that a person has to type.
var promptWord = regexp.MustCompile(`(?:Type|输入) (\S+) (?:and Enter|并按回车)|\[x\] (?:discard|leave it)  > |\[n\] no  > |(?:Autonomy|Groups or hosts|connects through umpire) \([^)]*\): `)

// types WORD CODE PROGRAM ARGS...: runs a program on a new terminal. It types WORD at the first prompt, and with
// "WORD then WORD" each word in turn. "code" types the requested code, "eof" the end of input, and "ahead:WORD" types
// the word before the program starts and nothing after. The program must end with that exit code. The terminal's text
// is standard output.
func scriptTypes(ts *testscript.TestScript, _ bool, args []string) {
	cmd := exec.Command(args[2], args[3:]...)
	if args[2] == "umpire" {
		cmd.Path, cmd.Err = umpireIn(ts), nil
	}
	cmd.Dir, cmd.Env = ts.MkAbs("."), append(scriptEnv(ts), "TERM=xterm")
	screen := typeOn(ts, cmd, args[0])
	fmt.Fprint(ts.Stdout(), screen)
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("exit code %s, want %s\n%s", got, args[1], screen)
	}
}

func typeOn(ts *testscript.TestScript, cmd *exec.Cmd, word string) string {
	master, slave, err := pty.Open()
	ts.Check(err)
	defer master.Close()
	if ahead, ok := strings.CutPrefix(word, "ahead:"); ok {
		_, err := master.WriteString(ahead + "\n")
		ts.Check(err)
		word = "eof"
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	leadTerminal(cmd)
	ts.Check(cmd.Start())
	ts.Check(slave.Close())
	stop := time.AfterFunc(answerTime, func() { cmd.Process.Kill() })
	defer stop.Stop()
	var screen strings.Builder
	buffer, words := make([]byte, 4096), strings.Split(word, " then ")
	asked := 0
	for {
		n, err := master.Read(buffer)
		screen.Write(buffer[:n])
		if found := promptWord.FindAllStringSubmatch(screen.String(), -1); len(found) > asked && len(words) > asked {
			answer := map[string]string{"code": found[asked][1] + "\n", "eof": "\x04"}[words[asked]]
			if answer == "" {
				answer = words[asked] + "\n"
			}
			asked++
			_, err := master.WriteString(answer)
			ts.Check(err)
		}
		if err != nil { // the program has closed the terminal
			break
		}
	}
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		ts.Fatalf("%v", err)
	}
	return strings.ReplaceAll(screen.String(), "\r\n", "\n")
}

// sql FILE [@drop] STATEMENT: changes a store behind the gate's back. @drop removes the
// triggers first, as the file's owner can.
func scriptSQL(ts *testscript.TestScript, neg bool, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	if args[1] == "@drop" {
		dropTriggers(ts, db)
		args = args[1:]
	}
	if _, err = db.Exec(args[1]); (err == nil) == neg {
		ts.Fatalf("%s: %v", args[1], err)
	}
}

func dropTriggers(ts *testscript.TestScript, db *sql.DB) {
	rows, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'trigger'`)
	ts.Check(err)
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		ts.Check(rows.Scan(&name))
		names = append(names, name)
	}
	ts.Check(rows.Err())
	for _, name := range names {
		_, err := db.Exec(`DROP TRIGGER "` + name + `"`)
		ts.Check(err)
	}
}

// answers N M METHOD JSON: posts the same as a person N times at once; M succeed
// and the others meet a conflict.
func scriptAnswers(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	statuses := make(chan int, n)
	for range n {
		request, transport := postRequest(ts, "person", args[2], strings.Join(args[3:], " "))
		go func() {
			status, _, _ := send(request, transport)
			statuses <- status
		}()
	}
	count := map[int]int{}
	for range n {
		count[<-statuses]++
	}
	if strconv.Itoa(count[http.StatusOK]) != args[1] || count[http.StatusOK]+count[http.StatusConflict] != n {
		ts.Fatalf("answers by status: %v", count)
	}
}

// keep NAME PATH: sets an environment variable to a field of the JSON on standard
// output.
func scriptKeep(ts *testscript.TestScript, _ bool, args []string) {
	var at any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &at))
	ts.Setenv(args[0], fmt.Sprint(valueAt(ts, at, args[1])))
}

// held-hook FILE ARGS...: starts umpire hook claude as an agent would, with a file as
// its standard input.
func scriptHeldHook(ts *testscript.TestScript, _ bool, args []string) {
	h := &heldHook{exited: make(chan error, 1)}
	h.cmd = exec.Command(umpireIn(ts), append([]string{"hook", "claude"}, args[1:]...)...)
	h.cmd.Dir, h.cmd.Env = ts.MkAbs("."), scriptEnv(ts)
	h.cmd.Stdin, h.cmd.Stdout, h.cmd.Stderr = strings.NewReader(ts.ReadFile(args[0])), &h.stdout, &h.stderr
	ts.Check(h.cmd.Start())
	go func() { h.exited <- h.cmd.Wait() }()
	*ts.Value(heldHookKey{}).(**heldHook) = h
}

// hooks CODE SESSION FIELDS: asks `umpire hook claude` about an event of a session, and
// expects that exit code.
func scriptHooks(ts *testscript.TestScript, _ bool, args []string) {
	payload := fmt.Sprintf(`{"session_id":%q,"permission_mode":"default",%s}`, args[1], args[2])
	cmd := exec.Command(umpireIn(ts), "hook", "claude")
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), scriptEnv(ts), strings.NewReader(payload), ts.Stdout(), ts.Stderr()
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		ts.Fatalf("%v", err)
	}
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// A heldHook is a hook that runs during a script.
type heldHook struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	exited         chan error
}

type heldHookKey struct{}

// hook-ends SIGNAL: ends the hook with a signal, after which it denies.
func scriptHookEnds(ts *testscript.TestScript, _ bool, _ []string) {
	h := *ts.Value(heldHookKey{}).(**heldHook)
	ts.Check(h.cmd.Process.Signal(syscall.SIGTERM))
	scriptHookExits(ts, false, []string{strconv.Itoa(app.ExitDenied)})
}

// hook-exits CODE: waits for the hook to end with that code.
func scriptHookExits(ts *testscript.TestScript, _ bool, args []string) {
	h := *ts.Value(heldHookKey{}).(**heldHook)
	select {
	case <-h.exited:
	case <-time.After(answerTime):
		h.cmd.Process.Kill()
		ts.Fatalf("the hook did not end")
	}
	fmt.Fprint(ts.Stdout(), h.stdout.String())
	fmt.Fprint(ts.Stderr(), h.stderr.String())
	if got := strconv.Itoa(h.cmd.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("the hook ended with %s, want %s", got, args[0])
	}
}

// short-ids-of FILE ID...: the file, such as stdout, names these projects by their
// short ids.
func scriptShortIDs(ts *testscript.TestScript, _ bool, args []string) {
	for _, id := range args[1:] {
		if short := umpire.ProjectID(id).Short(); !strings.Contains(ts.ReadFile(args[0]), short) {
			ts.Fatalf("%s is not named", short)
		}
	}
}

// same-records: the command line, HTTP and server-sent events return the same events,
// field by field.
func scriptSameRecords(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check(ts.Exec("umpire", "timeline", "--json", "--all-projects"))
	printed := decodeLines(ts, strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n"))
	request, transport := postRequest(ts, "person", "TimelineService/List", "{}")
	_, text, err := send(request, transport)
	ts.Check(err)
	var list struct {
		Events []map[string]any `json:"events"`
	}
	ts.Check(json.Unmarshal([]byte(text), &list))
	if diff := cmp.Diff(printed, list.Events); diff != "" || len(printed) == 0 {
		ts.Fatalf("command line and HTTP differ:\n%s", diff)
	}
	if diff := cmp.Diff(printed, streamed(ts, len(printed))); diff != "" {
		ts.Fatalf("command line and stream differ:\n%s", diff)
	}
}

func decodeLines(ts *testscript.TestScript, lines []string) []map[string]any {
	var all []map[string]any
	for _, line := range lines {
		all = append(all, decodeAnswer(ts, line))
	}
	return all
}

// streamed reads the first events of GET /v1/events.
func streamed(ts *testscript.TestScript, n int) []map[string]any {
	request, transport := postRequest(ts, "person", "", "")
	request.Method, request.URL.Path, request.Body, request.ContentLength = http.MethodGet, "/v1/events", nil, 0
	response, err := (&http.Client{Transport: transport, Timeout: answerTime}).Do(request)
	ts.Check(err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		ts.Fatalf("events: %s", response.Status)
	}
	var lines []string
	for scanner := bufio.NewScanner(response.Body); len(lines) < n && scanner.Scan(); {
		if line, ok := strings.CutPrefix(scanner.Text(), "data: "); ok {
			lines = append(lines, line)
		}
	}
	return decodeLines(ts, lines)
}

// A watcher is a program that runs during a script and keeps writing.
type watcher struct {
	cmd    *exec.Cmd
	exited chan error
	closer io.Closer // its terminal, if it has one

	mu    sync.Mutex
	text  strings.Builder
	grown chan struct{} // closed when there is more output
}

type watchersKey struct{}

// Write stores the program's output.
func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	close(w.grown)
	w.grown = make(chan struct{})
	return len(p), nil
}

// soFar returns the output so far, and a channel that signals more.
func (w *watcher) soFar() (string, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String(), w.grown
}

// watching NAME [terminal] umpire ARGS...: starts umpire, on a terminal with that word.
// umpire watch has begun to watch when this returns.
func scriptWatching(ts *testscript.TestScript, _ bool, args []string) {
	name, args := args[0], args[1:]
	terminal := args[0] == "terminal"
	if terminal {
		args = args[1:]
	}
	w := &watcher{exited: make(chan error, 1), grown: make(chan struct{})}
	w.cmd = exec.Command(umpireIn(ts), args[1:]...)
	begins := args[1] == "watch"
	w.cmd.Dir, w.cmd.Env, w.cmd.Stderr = ts.MkAbs("."), append(scriptEnv(ts), "TERM=xterm"), w
	if terminal {
		w.cmd.Stderr = nil
		master, err := pty.StartWithSize(w.cmd, &pty.Winsize{Rows: 40, Cols: 200})
		ts.Check(err)
		w.closer = master
		go io.Copy(w, master)
	} else {
		w.cmd.Stdout = w
		ts.Check(w.cmd.Start())
	}
	go func() { w.exited <- w.cmd.Wait() }()
	ts.Value(watchersKey{}).(map[string]*watcher)[name] = w
	ts.Defer(func() {
		w.cmd.Process.Kill()
		if w.closer != nil {
			w.closer.Close()
		}
	})
	if begins {
		scriptSees(ts, false, []string{name, "watching from event"})
	}
}

// sees NAME PATTERN: until the program that watches has written that.
func scriptSees(ts *testscript.TestScript, _ bool, args []string) {
	w, want := ts.Value(watchersKey{}).(map[string]*watcher)[args[0]], regexp.MustCompile("(?m)"+args[1])
	late := time.After(answerTime)
	for {
		text, grown := w.soFar()
		if want.MatchString(text) {
			return
		}
		select {
		case <-grown:
		case <-late:
			ts.Fatalf("%s never wrote %s:\n%s", args[0], args[1], text)
		}
	}
}

// saw NAME PATTERN: the program has written that by now, or with ! has not.
func scriptSaw(ts *testscript.TestScript, neg bool, args []string) {
	text, _ := ts.Value(watchersKey{}).(map[string]*watcher)[args[0]].soFar()
	if regexp.MustCompile("(?m)"+args[1]).MatchString(text) == neg {
		ts.Fatalf("%s wrote:\n%s", args[0], text)
	}
}

// ends NAME CODE: interrupts the program, which ends with that code.
func scriptEnds(ts *testscript.TestScript, _ bool, args []string) {
	w := ts.Value(watchersKey{}).(map[string]*watcher)[args[0]]
	ts.Check(w.cmd.Process.Signal(syscall.SIGINT))
	select {
	case <-w.exited:
	case <-time.After(answerTime):
		ts.Fatalf("%s did not end", args[0])
	}
	if got := strconv.Itoa(w.cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("%s ended with %s, want %s", args[0], got, args[1])
	}
}

// scrapes PATTERN: reads $METRICS until the figures are like a pattern. They are standard output.
func scriptScrapes(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile("(?m)" + args[0])
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, ts.Getenv("METRICS"), http.NoBody)
		ts.Check(err)
		status, text, err := send(request, &http.Transport{DisableKeepAlives: true})
		ts.Check(err)
		if status == http.StatusOK && pattern.MatchString(text) {
			fmt.Fprint(ts.Stdout(), text)
			return
		}
		if time.Since(begin) > answerTime {
			ts.Fatalf("%s: status %d\n%s", ts.Getenv("METRICS"), status, text)
		}
	}
}

// gateVerbs are the verbs of this file.
var gateVerbs = map[string]func(*testscript.TestScript, bool, []string){
	"forge": scriptForge, "gate": scriptGate, "gate-ends": scriptGateEnds, "posts": scriptPosts, "replays": scriptReplays, "waits": scriptWaits, "happens": scriptHappens,
	"scrapes": scriptScrapes, "types": scriptTypes, "signs-in": scriptSignsIn, "ntfy": scriptNtfy,
	"ntfy-gets": scriptNtfyGets, "ntfy-replies": scriptNtfyReplies, "sql": scriptSQL, "answers": scriptAnswers, "keep": scriptKeep,
	"held-hook": scriptHeldHook, "hooks": scriptHooks, "hook-ends": scriptHookEnds, "hook-exits": scriptHookExits, "short-ids-of": scriptShortIDs,
	"same-records": scriptSameRecords, "authored": scriptAuthored, "watching": scriptWatching, "sees": scriptSees, "saw": scriptSaw, "ends": scriptEnds,
}

// scriptAuthored checks that the timeline of all projects has an event that matches a
// pattern, in which NAME is the user that runs the test.
func scriptAuthored(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: authored PATTERN")
	}
	me, err := user.Current()
	ts.Check(err)
	ts.Check(ts.Exec("umpire", "timeline", "--json", "--all-projects"))
	pattern := strings.ReplaceAll(args[0], "NAME", regexp.QuoteMeta(me.Username))
	if out := ts.ReadFile("stdout"); !regexp.MustCompile(pattern).MatchString(out) {
		ts.Fatalf("no event like %s in\n%s", pattern, out)
	}
}
