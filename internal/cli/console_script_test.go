package cli

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// signs-in [--name NAME] [PATH [takes-back|denies]]: starts umpire console on a terminal of its own, signs
// in with the link that it shows, and tries the link a second time, which must fail. The page at the path is
// standard output; if told, what its first line offers is taken back, or its card is denied. The terminal stays
// until the script ends.
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
	jar, err := cookiejar.New(nil)
	ts.Check(err)
	browser := &http.Client{Jar: jar, Timeout: answerTime, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, want := range []int{http.StatusNoContent, http.StatusForbidden} {
		request, err := http.NewRequest(http.MethodPost, base+"/sign-in", strings.NewReader(`{"token":"`+token+`"}`))
		ts.Check(err)
		request.Header.Set("Origin", base)
		response, err := browser.Do(request)
		ts.Check(err)
		response.Body.Close()
		if response.StatusCode != want {
			ts.Fatalf("signing in: status %d, want %d", response.StatusCode, want)
		}
	}
	var path string
	if len(args) > 0 {
		path = args[0]
	}
	response, err := browser.Get(base + "/" + path)
	ts.Check(err)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n%s\n", base, page)
	if len(args) > 1 {
		actOn(ts, browser, base, string(page), args[1])
	}
}

var (
	pageToken = regexp.MustCompile(`data-page="([^"]+)"`)
	undoable  = regexp.MustCompile(`data-post="/undo" data-body="([^"]+)"`)
	ofCard    = regexp.MustCompile(`data-(request|session|args|shown)="([^"]+)"`)
)

// actOn posts what a page offers first, and shows what the console says: "takes-back" on the timeline, or
// "denies" on the inbox.
func actOn(ts *testscript.TestScript, browser *http.Client, base, page, act string) {
	token, path, body := pageToken.FindStringSubmatch(page), "/undo", ""
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
	if token == nil || body == "" {
		ts.Fatalf("the page offers nothing:\n%s", page)
	}
	request, err := http.NewRequest(http.MethodPost, base+path, strings.NewReader(body))
	ts.Check(err)
	request.Header.Set("Origin", base)
	request.Header.Set("Umpire-Page", token[1])
	response, err := browser.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%d %s\n", response.StatusCode, said)
}
