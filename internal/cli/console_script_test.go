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

// signs-in [PATH [takes-back]]: starts umpire console on a terminal of its own, signs in with the link that
// it shows, and tries the link a second time, which must fail. The page at the path is standard
// output; if told, what its first line offers is taken back. The terminal stays until the script
// ends.
func scriptSignsIn(ts *testscript.TestScript, _ bool, args []string) {
	cmd := exec.Command(umpireIn(ts), "console")
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
		takeBack(ts, browser, base, string(page))
	}
}

var (
	pageToken = regexp.MustCompile(`data-page="([^"]+)"`)
	undoable  = regexp.MustCompile(`data-post="/undo" data-body="([^"]+)"`)
)

// takeBack takes back what a page of the timeline offers first, and shows what the console says.
func takeBack(ts *testscript.TestScript, browser *http.Client, base, page string) {
	token, body := pageToken.FindStringSubmatch(page), undoable.FindStringSubmatch(page)
	if token == nil || body == nil {
		ts.Fatalf("the page offers nothing to take back:\n%s", page)
	}
	request, err := http.NewRequest(http.MethodPost, base+"/undo", strings.NewReader(html.UnescapeString(body[1])))
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
