//go:build unix

package console_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A chromium is a headless browser with one page, driven by the DevTools protocol over a pipe.
type chromium struct {
	in      *os.File
	session string

	mu      sync.Mutex
	n       int
	answers map[int]chan reply
	events  map[string]chan json.RawMessage // by method
}

// A reply is what the browser answers.
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

// turns lets two browsers run at a time: each has half a dozen processes.
var turns = make(chan struct{}, 2)

// startChromium starts a browser, or skips the test where there is none.
func startChromium(t *testing.T, width, height int, dark bool) *chromium {
	t.Helper()
	at := slices.IndexFunc(browsers, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	if at < 0 {
		t.Skip("there is no Chromium")
	}
	turns <- struct{}{}
	t.Cleanup(func() { <-turns })
	profile, err := os.MkdirTemp("", "chromium-") //nolint:usetesting // its processes end after the test
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
	cmd := exec.Command(browsers[at], "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
		"--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &chromium{in: in, answers: map[int]chan reply{}, events: map[string]chan json.RawMessage{}}
	var reads sync.WaitGroup
	reads.Go(func() { b.read(out) })
	t.Cleanup(func() {
		in.Close()
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		out.Close()
		reads.Wait()
		removeProfile(t, profile, cmd.Process.Pid)
	})
	var target struct{ TargetID, SessionID string }
	b.call(t, "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call(t, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	scheme := map[bool]string{true: "dark", false: "light"}[dark]
	b.call(t, "Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500,
	}, nil)
	b.call(t, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"},
	}}, nil)
	b.call(t, "Runtime.enable", nil, nil)
	b.call(t, "Log.enable", nil, nil)
	b.call(t, "Page.enable", nil, nil)
	return b
}

// removeProfile removes the folder of a browser that was killed. Its other processes may write there
// until the last of its group is gone; one that nobody waits for stays in the group and writes nothing.
func removeProfile(t *testing.T, profile string, group int) {
	t.Helper()
	const tries = 200
	for n := range tries {
		err := os.RemoveAll(profile)
		if gone := errors.Is(syscall.Kill(-group, 0), syscall.ESRCH); err == nil && (gone || n == tries-1) {
			os.RemoveAll(profile)
			return
		}
		<-time.After(20 * time.Millisecond)
	}
	t.Errorf("%s stays behind", profile)
}

// read takes what the browser says: messages that end with a zero byte.
func (b *chromium) read(out *os.File) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes(0)
		if err != nil {
			return
		}
		var r reply
		_ = json.Unmarshal(bytes.TrimRight(line, "\x00"), &r)
		b.mu.Lock()
		to := b.answers[r.ID]
		if r.ID == 0 {
			if b.events[r.Method] == nil {
				b.events[r.Method] = make(chan json.RawMessage, 1000)
			}
			select {
			case b.events[r.Method] <- r.Params:
			default:
			}
		}
		b.mu.Unlock()
		if to != nil {
			to <- r
		}
	}
}

// call calls a method of the protocol.
func (b *chromium) call(t testing.TB, method string, params, result any) {
	t.Helper()
	if err := b.try(t, method, params, result); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

func (b *chromium) try(t testing.TB, method string, params, result any) error {
	t.Helper()
	b.mu.Lock()
	b.n++
	id, to := b.n, make(chan reply, 1)
	b.answers[id] = to
	b.mu.Unlock()
	message := map[string]any{"id": id, "method": method, "params": params}
	if params == nil {
		message["params"] = map[string]any{}
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text := ok(json.Marshal(message))(t)
	ok(b.in.Write(append(text, 0)))(t)
	select {
	case r := <-to:
		if r.Error != nil {
			return errors.New(r.Error.Message)
		}
		if result != nil {
			return json.Unmarshal(r.Result, result)
		}
		return nil
	case <-time.After(patience):
		return errors.New("the browser does not answer")
	}
}

// eval returns the value of an expression, which may be a promise.
func (b *chromium) eval(t testing.TB, expression string) string {
	t.Helper()
	value, err := b.tryEval(t, expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func (b *chromium) tryEval(t testing.TB, expression string) (string, error) {
	t.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	err := b.try(t, "Runtime.evaluate", map[string]any{
		"expression": expression, "awaitPromise": true, "returnByValue": true,
	}, &out)
	if err == nil && out.ExceptionDetails != nil {
		err = errors.New(out.ExceptionDetails.Text + " " + out.ExceptionDetails.Exception.Description)
	}
	return fmt.Sprint(out.Result.Value), err
}

// until waits until an expression is true, on this page or on one that it leads to.
func (b *chromium) until(t testing.TB, expression string) {
	t.Helper()
	waits := fmt.Sprintf(`new Promise((done, failed) => {
		const ends = performance.now() + 60000;
		const look = () => { let is = false; try { is = %s } catch {}
			is ? done() : performance.now() > ends ? failed(new Error(document.body.innerText)) : setTimeout(look, 30) };
		look() })`, expression)
	for {
		_, err := b.tryEval(t, waits)
		if err == nil {
			return
		}
		if !isGone(err) {
			t.Fatalf("%s: %v", expression, err)
		}
	}
}

// open loads an address.
func (b *chromium) open(t testing.TB, address string) {
	t.Helper()
	b.call(t, "Page.navigate", map[string]any{"url": address}, nil)
	b.until(t, `document.readyState === "complete" && location.href !== "about:blank"`)
}

// press presses a key, as a person does.
func (b *chromium) press(t testing.TB, key string) {
	t.Helper()
	codes := map[string]int{"Enter": 13, "Escape": 27, "ArrowDown": 40, "Tab": 9}
	event := map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key]}
	if len(key) == 1 {
		event["text"] = key
	} else if key == "Enter" {
		event["text"] = "\r"
	}
	b.until(t, `"ready" in document.body.dataset`)
	b.deliver(t, "keydown", "*", func() {
		b.call(t, "Input.dispatchKeyEvent", event, nil)
		b.call(t, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
	})
}

// click clicks the middle of an element, as a person does.
func (b *chromium) click(t testing.TB, selector string) {
	t.Helper()
	b.until(t, `"ready" in document.body.dataset`)
	b.deliver(t, "click", selector, func() { b.clickOnce(t, selector) })
}

func (b *chromium) clickOnce(t testing.TB, selector string) {
	t.Helper()
	var at struct {
		X float64 `json:"X"`
		Y float64 `json:"Y"`
	}
	place := b.eval(t, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "nearest"});
		const r = e.getBoundingClientRect(); return JSON.stringify({X: r.x + r.width / 2, Y: r.y + r.height / 2}) })()`, selector))
	if err := json.Unmarshal([]byte(place), &at); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call(t, "Input.dispatchMouseEvent", map[string]any{
			"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1,
		}, nil)
	}
}

// deliver does something that causes an event at an element, until the page has had it: what was
// clicked may move at that moment, and a busy browser drops what it is told too early.
func (b *chromium) deliver(t testing.TB, event, selector string, do func()) {
	t.Helper()
	for range 6 {
		b.eval(t, fmt.Sprintf(`window.reached = new Promise((done) => {
			addEventListener(%q, (event) => done(!!event.target.closest(%q)), { capture: true, once: true });
			setTimeout(() => done(false), 20000) }), true`, event, selector))
		do()
		// A page that was loaded anew since knows of no promise.
		if reached, err := b.tryEval(t, "window.reached ?? true"); reached == "true" || isGone(err) {
			return
		}
	}
	t.Fatalf("no %s came to %s", event, selector)
}

// isGone reports whether an expression was not evaluated because the page has led to another one.
func isGone(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "context was destroyed"))
}

func (b *chromium) typeText(t testing.TB, text string) {
	t.Helper()
	b.call(t, "Input.insertText", map[string]any{"text": text}, nil)
}

// picture keeps a picture of the page in the folder that UMPIRE_PICTURES names.
func (b *chromium) picture(t testing.TB, name string) {
	t.Helper()
	folder := os.Getenv("UMPIRE_PICTURES")
	if folder == "" {
		return
	}
	var shot struct{ Data string }
	b.call(t, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data := ok(base64.StdEncoding.DecodeString(shot.Data))(t)
	if err := os.WriteFile(filepath.Join(folder, name+".png"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// faults are what the browser complained of: exceptions, refused scripts and styles.
func (b *chromium) faults() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var faults []string
	for _, method := range []string{"Runtime.exceptionThrown", "Log.entryAdded"} {
		for len(b.events[method]) > 0 {
			faults = append(faults, string(<-b.events[method]))
		}
	}
	return faults
}
