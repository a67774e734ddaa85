package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/umpirehq/umpire/internal/agent/fake"
)

// signs-in [--name NAME] [PATH [takes-back|denies]]: starts umpire console on a new terminal, signs in with
// the link that it shows, and tries the link a second time, which must fail. The page at the path is standard
// output. With takes-back it undoes the change in the page's first line, with denies it denies the card. The
// terminal stays until the script ends.
func scriptSignsIn(ts *testscript.TestScript, _ bool, args []string) {
	words := []string{"console"}
	if len(args) > 1 && args[0] == "--name" {
		words, args = append(words, args[:2]...), args[2:]
	}
	cmd := exec.Command(umpireIn(ts), words...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), append(scriptEnv(ts), "TERM=xterm")
	master, err := pty.Start(cmd)
	ts.Check(err)
	ts.Defer(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		master.Close()
	})
	var base, token string
	for lines := bufio.NewReader(master); token == ""; {
		line, err := lines.ReadString('\n')
		ts.Check(err)
		base, token, _ = strings.Cut(strings.TrimSpace(line), "/#")
	}
	browser := &scriptBrowser{ts: ts, base: base}
	browser.page, err = fake.NewSigner()
	ts.Check(err)
	key, err := browser.page.PublicKey()
	ts.Check(err)
	body, err := json.Marshal(map[string]any{"token": token, "key": key})
	ts.Check(err)
	for _, want := range []int{http.StatusOK, http.StatusForbidden} {
		status, said := browser.send(http.MethodPost, "/sign-in", string(body))
		if status != want {
			ts.Fatalf("signing in: status %d, want %d", status, want)
		}
		if status == http.StatusOK {
			ts.Check(browser.page.Admit([]byte(said)))
		}
	}
	var path string
	if len(args) > 0 {
		path = strings.TrimPrefix(args[0], "/")
	}
	_, page := browser.send(http.MethodGet, "/"+path, "")
	fmt.Fprintf(ts.Stdout(), "%s\n%s\n", base, page)
	if len(args) > 1 {
		actOn(browser, page, args[1])
	}
}

// A scriptBrowser asks a console as a page of it does.
type scriptBrowser struct {
	ts   *testscript.TestScript
	base string
	page *fake.Signer
}

// send makes a signed request.
func (b *scriptBrowser) send(method, path, body string) (status int, said string) {
	request, err := http.NewRequest(method, b.base+path, strings.NewReader(body))
	b.ts.Check(err)
	request.Header.Set("Origin", b.base)
	b.ts.Check(b.page.Sign(request, b.base))
	client := &http.Client{Timeout: answerTime, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	b.ts.Check(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	b.ts.Check(err)
	return response.StatusCode, string(text)
}

var (
	undoable = regexp.MustCompile(`data-post="/undo" data-body="([^"]+)"`)
	ofCard   = regexp.MustCompile(`data-(request|session|args|shown)="([^"]+)"`)
)

// actOn posts a page's first offer, and shows the console's reply: "takes-back" on the timeline, or
// "denies" on the inbox.
func actOn(browser *scriptBrowser, page, act string) {
	path, body := "/undo", ""
	if found := undoable.FindStringSubmatch(page); found != nil {
		body = html.UnescapeString(found[1])
	}
	if act == "denies" {
		of := map[string]string{}
		for _, found := range ofCard.FindAllStringSubmatch(page, -1) {
			of[found[1]] = html.UnescapeString(found[2])
		}
		path, body = "/answer", fmt.Sprintf(
			`{"request_id":%q,"session_id":%q,"args_hash":%q,"shown_digest":%q,"answer":"deny","scope":"once"}`,
			of["request"], of["session"], of["args"], of["shown"])
	}
	if body == "" {
		browser.ts.Fatalf("the page offers nothing:\n%s", page)
	}
	status, said := browser.send(http.MethodPost, path, body)
	fmt.Fprintf(browser.ts.Stdout(), "%d %s\n", status, said)
}
