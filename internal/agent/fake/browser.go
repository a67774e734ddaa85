//go:build unix

package fake

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Page is the only page of a headless browser. Its methods fail the test on errors.
type Page struct {
	in      *os.File
	session string

	mu      sync.Mutex
	n       int
	answers map[int]chan reply
	events  map[string]chan json.RawMessage // by method
}

// A reply is a message from the browser.
type reply struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// browsers are the programs that the tests can drive.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "headless_shell"}

// maxEvents is the maximum number of stored events per name; more are dropped.
const maxEvents = 1000

// turns lets two browsers run at a time: each has half a dozen processes.
var turns = make(chan struct{}, 2)

// StartBrowser starts a browser with a window of the given size. It ends with the test. StartBrowser skips the test if
// there is no Chromium. Flags are Chromium's.
func StartBrowser(t *testing.T, width, height int, dark bool, flags ...string) *Page {
	t.Helper()
	return StartBrowserAs(t, os.Getuid(), width, height, dark, flags...)
}

// StartBrowserAs starts a browser of another user, which requires root.
func StartBrowserAs(t *testing.T, user, width, height int, dark bool, flags ...string) *Page {
	t.Helper()
	at := slices.IndexFunc(browsers, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	if at < 0 {
		t.Skipf("none of %s is installed", strings.Join(browsers, ", "))
	}
	turns <- struct{}{}
	t.Cleanup(func() { <-turns })
	profile, err := os.MkdirTemp("", "chromium-") //nolint:usetesting // its processes end after the test
	if err == nil {
		err = os.Chown(profile, user, user)
	}
	if err != nil {
		t.Fatal(err)
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), browsers[at], append(flags, "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--disable-background-networking",
		"--disable-component-update",
		"--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")...)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if user != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}
		cmd.Env = append(os.Environ(), "HOME="+profile)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(theirIn.Close(), theirOut.Close()); err != nil {
		t.Fatal(err)
	}
	p := &Page{in: in, answers: map[int]chan reply{}, events: map[string]chan json.RawMessage{}}
	var reads sync.WaitGroup
	reads.Go(func() { p.readReplies(out) })
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()
		if err := errors.Join(in.Close(), out.Close()); err != nil {
			t.Error(err)
		}
		reads.Wait()
		removeProfile(t, profile, cmd.Process.Pid)
	})
	var target struct{ TargetID, SessionID string }
	p.Call(t, "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	p.Call(t, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	p.session = target.SessionID
	scheme := map[bool]string{true: "dark", false: "light"}[dark]
	p.Call(t, "Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500,
	}, nil)
	p.Call(t, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"},
	}}, nil)
	p.Call(t, "Runtime.enable", nil, nil)
	p.Call(t, "Log.enable", nil, nil)
	p.Call(t, "Page.enable", nil, nil)
	return p
}

// removeProfile removes the folder of a killed browser. Its other processes may write there until the
// whole group is gone; a zombie stays in the group but writes nothing.
func removeProfile(t *testing.T, profile string, group int) {
	t.Helper()
	const tries = 200
	for n := range tries {
		err := os.RemoveAll(profile)
		if gone := errors.Is(syscall.Kill(-group, 0), syscall.ESRCH); err == nil && (gone || n == tries-1) {
			_ = os.RemoveAll(profile) // a process may have written here before it ended
			return
		}
		<-time.After(20 * time.Millisecond)
	}
	t.Errorf("%s stays behind", profile)
}

// readReplies reads the browser's messages, which end with a zero byte.
func (p *Page) readReplies(out *os.File) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes(0)
		if err != nil {
			return
		}
		var r reply
		_ = json.Unmarshal(bytes.TrimRight(line, "\x00"), &r)
		p.mu.Lock()
		to := p.answers[r.ID]
		if r.ID == 0 {
			if p.events[r.Method] == nil {
				p.events[r.Method] = make(chan json.RawMessage, maxEvents)
			}
			select {
			case p.events[r.Method] <- r.Params:
			default:
			}
		}
		p.mu.Unlock()
		if to != nil {
			to <- r
		}
	}
}

// Call calls a method of the protocol.
func (p *Page) Call(t testing.TB, method string, params, result any) {
	t.Helper()
	if err := p.request(t, method, params, result); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

func (p *Page) request(t testing.TB, method string, params, result any) error {
	t.Helper()
	p.mu.Lock()
	p.n++
	id, to := p.n, make(chan reply, 1)
	p.answers[id] = to
	p.mu.Unlock()
	message := map[string]any{"id": id, "method": method, "params": params}
	if params == nil {
		message["params"] = map[string]any{}
	}
	if p.session != "" {
		message["sessionId"] = p.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(text, 0)); err != nil {
		return err
	}
	select {
	case r := <-to:
		if r.Error != nil {
			return errors.New(r.Error.Message)
		}
		if result != nil {
			return json.Unmarshal(r.Result, result)
		}
		return nil
	case <-time.After(2 * patience): // longer than until waits
		return errors.New("the browser does not answer")
	}
}

// Event waits for the next event of the protocol by a name, and decodes it.
func (p *Page) Event(t testing.TB, method string, into any) {
	t.Helper()
	p.mu.Lock()
	if p.events[method] == nil {
		p.events[method] = make(chan json.RawMessage, maxEvents)
	}
	events := p.events[method]
	p.mu.Unlock()
	select {
	case text := <-events:
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatalf("no event %s", method)
	}
}

// Eval returns the value of an expression, which may be a promise.
func (p *Page) Eval(t testing.TB, expression string) string {
	t.Helper()
	value, err := p.tryEval(t, expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// EvalWorker returns the value of an expression in the service worker of the page.
func (p *Page) EvalWorker(t testing.TB, expression string) string {
	t.Helper()
	page := p.session
	defer func() { p.session = page }()
	p.session = ""
	var list struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	p.Call(t, "Target.getTargets", nil, &list)
	for _, target := range list.TargetInfos {
		if target.Type == "service_worker" {
			var to struct{ SessionID string }
			p.Call(t, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &to)
			p.session = to.SessionID
			return p.Eval(t, expression)
		}
	}
	t.Fatalf("there is no worker: %+v", list)
	return ""
}

func (p *Page) tryEval(t testing.TB, expression string) (string, error) {
	t.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	err := p.request(t, "Runtime.evaluate", map[string]any{
		"expression": expression, "awaitPromise": true, "returnByValue": true,
	}, &out)
	if err == nil && out.ExceptionDetails != nil {
		err = errors.New(out.ExceptionDetails.Text + " " + out.ExceptionDetails.Exception.Description)
	}
	return fmt.Sprint(out.Result.Value), err
}

// Until waits until an expression is true, on this page or on one that it leads to.
func (p *Page) Until(t testing.TB, expression string) {
	t.Helper()
	waits := fmt.Sprintf(`new Promise((done, failed) => {
		const ends = performance.now() + %d;
		const look = () => { let is = false; try { is = %s } catch {}
			is ? done() : performance.now() < ends ? setTimeout(look, 30) :
				failed(new Error(document.body.innerText)) };
		look() })`, patience.Milliseconds(), expression)
	for {
		_, err := p.tryEval(t, waits)
		if err == nil {
			return
		}
		if !isGone(err) {
			t.Fatalf("%s: %v", expression, err)
		}
	}
}

// Open loads an address.
func (p *Page) Open(t testing.TB, address string) {
	t.Helper()
	p.Call(t, "Page.navigate", map[string]any{"url": address}, nil)
	p.Until(t, `document.readyState === "complete" && location.href !== "about:blank"`)
}

// Press presses a key, as a person does.
func (p *Page) Press(t testing.TB, key string) {
	t.Helper()
	codes := map[string]int{"Enter": 13, "Escape": 27, "ArrowDown": 40, "Tab": 9}
	event := map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key]}
	if len(key) == 1 {
		event["text"] = key
	} else if key == "Enter" {
		event["text"] = "\r"
	}
	p.Until(t, `"ready" in document.body.dataset`)
	p.deliver(t, "keydown", "*", func() {
		p.Call(t, "Input.dispatchKeyEvent", event, nil)
		p.Call(t, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
	})
}

// Click clicks the middle of an element, as a person does.
func (p *Page) Click(t testing.TB, selector string) {
	t.Helper()
	p.Until(t, `"ready" in document.body.dataset`)
	p.deliver(t, "click", selector, func() { p.clickOnce(t, selector) })
}

func (p *Page) clickOnce(t testing.TB, selector string) {
	t.Helper()
	var at struct {
		X float64 `json:"X"`
		Y float64 `json:"Y"`
	}
	place := p.Eval(t, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: "nearest"});
		const r = e.getBoundingClientRect();
		return JSON.stringify({X: r.x + r.width / 2, Y: r.y + r.height / 2}) })()`, selector))
	if err := json.Unmarshal([]byte(place), &at); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.Call(t, "Input.dispatchMouseEvent", map[string]any{
			"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1,
		}, nil)
	}
}

// deliver triggers an event at an element, and retries until the page has received it. A clicked
// element may move at that moment, and a busy browser drops early input.
func (p *Page) deliver(t testing.TB, event, selector string, do func()) {
	t.Helper()
	for range 6 {
		p.Eval(t, fmt.Sprintf(`window.reached = new Promise((done) => {
			addEventListener(%q, (event) => done(!!event.target.closest(%q)), { capture: true, once: true });
			setTimeout(() => done(false), 20000) }), true`, event, selector))
		do()
		// A page that was reloaded since then has no promise.
		if reached, err := p.tryEval(t, "window.reached ?? true"); reached == "true" || isGone(err) {
			return
		}
	}
	t.Fatalf("no %s came to %s", event, selector)
}

// isGone reports whether an expression was not evaluated because the page has led to another one.
func isGone(err error) bool {
	return err != nil &&
		(strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "context was destroyed"))
}

// TypeText types a text into the focused element.
func (p *Page) TypeText(t testing.TB, text string) {
	t.Helper()
	p.Call(t, "Input.insertText", map[string]any{"text": text}, nil)
}

// Faults returns the browser's complaints: exceptions, refused scripts and styles.
func (p *Page) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var faults []string
	for _, method := range []string{"Runtime.exceptionThrown", "Log.entryAdded"} {
		for len(p.events[method]) > 0 {
			faults = append(faults, string(<-p.events[method]))
		}
	}
	return faults
}
