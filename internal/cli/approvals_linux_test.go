package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/store/storetest"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

var allApprovals = flag.Bool("approvals.all", false, "try every width and scope of every kind of access over each store")

// A doing is a call of a tool, and its effect: the path that it changes and the content there, or a text in
// its result. In its input and path, OUT is a folder outside the project and WEB a server.
type doing struct {
	tool, input   string
	path, content string // a path below the project, or below OUT
	says          string // in the result of a call without changes
}

// gone is the content of a path that is deleted.
const gone = "\x00gone"

// An approvalCase is one kind of access: a call that asks, another one that only a wider approval covers, and
// one that is farther away.
type approvalCase struct {
	name            string
	call, near, far doing
	// offers are the keys of the approvals that the card offers, and which of the same call, the near and
	// the far one each of them covers.
	offers map[string]string
}

func bash(command string) doing {
	input, _ := json.Marshal(map[string]string{"command": command})
	return doing{tool: "Bash", input: string(input)}
}

func (d doing) changes(path, content string) doing { d.path, d.content = path, content; return d }
func (d doing) tells(text string) doing            { d.says = text; return d }

func use(tool, input string) doing { return doing{tool: tool, input: input} }

// parentOffers are the offers for reads outside: the file, its folder, and the folder above the workspace.
var parentOffers = map[string]string{
	"y": "", "s": "same", "s2": "same near", "s3": "same near far",
	"p": "same", "p2": "same near", "p3": "same near far", "g": "same",
}

// approvalCases are every kind of access that asks.
var approvalCases = []approvalCase{
	{
		name:   "exec",
		call:   bash("make one").changes("one", "done\n"),
		near:   bash("make two").changes("two", "done\n"),
		far:    bash("sh ./do.sh three").changes("three", "done\n"),
		offers: map[string]string{"y": "", "s": "same", "p": "same", "g": "same"},
	},
	{
		name:   "script",
		call:   bash("sh ./do.sh one").changes("one", "done\n"),
		near:   bash("sh ./do.sh two").changes("two", "done\n"),
		far:    bash("make three").changes("three", "done\n"),
		offers: map[string]string{"y": "", "s": "same"},
	},
	{
		name:   "write outside",
		call:   bash("echo new >OUT/f").changes("OUT/f", "new\n"),
		near:   bash("echo new >OUT/g").changes("OUT/g", "new\n"),
		far:    bash("echo new >OUT/d/h").changes("OUT/d/h", "new\n"),
		offers: map[string]string{"y": "", "s": "same", "p": "same", "g": "same"},
	},
	{
		name:   "write outside by a tool",
		call:   use("Write", `{"file_path":"OUT/f","content":"new\n"}`).changes("OUT/f", "new\n"),
		near:   use("Write", `{"file_path":"OUT/g","content":"new\n"}`).changes("OUT/g", "new\n"),
		far:    use("Write", `{"file_path":"OUT/../far/h","content":"new\n"}`).changes("FAR/h", "new\n"),
		offers: map[string]string{"y": "", "s": "same", "p": "same", "g": "same"},
	},
	{
		name:   "read outside",
		call:   use("Read", `{"file_path":"OUT/f"}`).tells("old f"),
		near:   use("Read", `{"file_path":"OUT/g"}`).tells("old g"),
		far:    use("Read", `{"file_path":"OUT/../far/h"}`).tells("old h"),
		offers: parentOffers,
	},
	{
		name:   "read outside by a command",
		call:   bash("cat OUT/f").tells("old f"),
		near:   bash("cat OUT/g").tells("old g"),
		far:    bash("cat OUT/../far/h").tells("old h"),
		offers: parentOffers,
	},
	{
		name:   "guarded file",
		call:   bash("echo new >.envrc").changes(".envrc", "new\n"),
		near:   bash("echo new >d/.envrc").changes("d/.envrc", "new\n"),
		far:    bash("echo new >.npmrc").changes(".npmrc", "new\n"),
		offers: map[string]string{"y": ""},
	},
	{
		name:   "guarded file by a tool",
		call:   use("Write", `{"file_path":".envrc","content":"new\n"}`).changes(".envrc", "new\n"),
		near:   use("Write", `{"file_path":"d/.envrc","content":"new\n"}`).changes("d/.envrc", "new\n"),
		far:    use("Write", `{"file_path":".npmrc","content":"new\n"}`).changes(".npmrc", "new\n"),
		offers: map[string]string{"y": ""},
	},
	{
		name:   "delete outside",
		call:   bash("rm -f OUT/f").changes("OUT/f", gone),
		near:   bash("rm -f OUT/g").changes("OUT/g", gone),
		far:    bash("rm -f OUT/../far/h").changes("FAR/h", gone),
		offers: map[string]string{"y": "", "s": "same", "p": "same", "g": "same"},
	},
	{
		name:   "network",
		call:   use("WebFetch", `{"url":"http://WEB/a"}`).tells("page /a"),
		near:   use("WebFetch", `{"url":"http://WEB/b"}`).tells("page /b"),
		far:    use("WebFetch", `{"url":"http://FAR/c"}`).tells("page /c"),
		offers: map[string]string{"y": "", "s": "same near", "p": "same near", "g": "same near"},
	},
	{
		name:   "network by a command",
		call:   bash("curl -s -d q=1 http://WEB/a").tells("page /a"),
		near:   bash("curl -s -d q=1 http://WEB/b").tells("page /b"),
		far:    bash("curl -s -d q=1 http://FAR/c").tells("page /c"),
		offers: map[string]string{"y": "", "s": "same"},
	},
	{
		name:   "invoke",
		call:   use("mcp__t__echo", `{"text":"one"}`).tells("one"),
		near:   use("mcp__t__echo", `{"text":"two"}`).tells("two"),
		far:    use("mcp__t__run", `{"command":"echo three"}`).tells("three"),
		offers: map[string]string{"y": "", "s": "same near", "s2": "same near", "p2": "same near", "g2": "same near"},
	},
	{
		name:   "edit",
		call:   use("Edit", `{"file_path":"d/f","old_string":"old","new_string":"new"}`).changes("d/f", "new f\n"),
		near:   use("Edit", `{"file_path":"d/g","old_string":"old","new_string":"new"}`).changes("d/g", "new g\n"),
		far:    use("Edit", `{"file_path":"h","old_string":"old","new_string":"new"}`).changes("h", "new h\n"),
		offers: map[string]string{"y": "", "s": "same near far", "s2": "same near", "s3": "same near far", "p": "same", "p2": "same near", "p3": "same near far", "g": "same", "g2": "same near", "g3": "same near far"},
	},
	{
		name:   "edit by lines",
		call:   use("filesystem-edit", `{"filePath":"d/f","startLine":1,"endLine":1,"newContent":"new"}`).changes("d/f", "new\n"),
		near:   use("filesystem-edit", `{"filePath":"d/g","startLine":1,"endLine":1,"newContent":"new"}`).changes("d/g", "new\n"),
		far:    use("filesystem-edit", `{"filePath":"h","startLine":1,"endLine":1,"newContent":"new"}`).changes("h", "new\n"),
		offers: map[string]string{"y": "", "s": "same near far", "s2": "same near", "s3": "same near far", "p": "same", "p2": "same near", "p3": "same near far", "g": "same", "g2": "same near", "g3": "same near far"},
	},
	{
		name:   "edit by search",
		call:   use("filesystem-edit_search", `{"filePath":"d/f","searchContent":"old","replaceContent":"new"}`).changes("d/f", "new f\n"),
		near:   use("filesystem-edit_search", `{"filePath":"d/g","searchContent":"old","replaceContent":"new"}`).changes("d/g", "new g\n"),
		far:    use("filesystem-edit_search", `{"filePath":"h","searchContent":"old","replaceContent":"new"}`).changes("h", "new h\n"),
		offers: map[string]string{"y": "", "s": "same near far", "s2": "same near", "s3": "same near far", "p": "same", "p2": "same near", "p3": "same near far", "g": "same", "g2": "same near", "g3": "same near far"},
	},
}

// approvalsTried counts the approvals of all cases.
var approvalsTried atomic.Int64

// quickCases run with all other tests, and with -short the first of them.
var quickCases = []string{"write outside", "guarded file", "invoke"}

// TestApprovals approves a call of each kind by each scope and width that its card offers. Afterwards the
// call does exactly what its card said, the same call runs unasked unless it was approved only once, and
// another call asks unless the width covers it.
func TestApprovals(t *testing.T) {
	t.Parallel()
	if !sandbox.Available().Whole() {
		t.Skip("no sandbox on this machine")
	}
	if *allApprovals {
		t.Cleanup(func() { t.Logf("figure: %d approvals did what their cards said", approvalsTried.Load()) })
	}
	quick := sample.Of(t, 1, quickCases)
	for _, store := range sample.Of(t, 1, []string{"sqlite", "postgres", "none"}) {
		for i := range approvalCases {
			c := &approvalCases[i]
			if !*allApprovals && !slices.Contains(quick, c.name) {
				continue
			}
			t.Run(store+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				c.run(t, store)
			})
		}
	}
}

// run tries each approval of a case in a separate project, with a shared home and gate.
func (c *approvalCase) run(t *testing.T, store string) {
	if strings.Contains(c.call.input, "curl") {
		if _, err := exec.LookPath("curl"); err != nil {
			t.Skip("curl is not installed")
		}
	}
	w := &approvalWorld{t: t, top: t.TempDir()}
	w.home = filepath.Join(w.top, "home")
	w.write("home/.umpire/config.yaml", "mcp_servers:\n  t:\n    command: mcp-server\n")
	for _, name := range []string{"WEB", "FAR"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, "page", r.URL.Path)
		}))
		t.Cleanup(server.Close)
		address := strings.TrimPrefix(server.URL, "http://")
		if name == "FAR" {
			address = strings.Replace(address, "127.0.0.1", "localhost", 1)
		}
		w.names = append(w.names, name, address)
	}
	if store != "none" {
		w.startGate(store)
	}
	offered := map[string]string{}
	pending := []string{"y"}
	for len(pending) > 0 {
		approval := pending[0]
		pending = pending[1:]
		if _, done := offered[approval]; done {
			continue
		}
		asked, more := c.approve(w, approval)
		offered[approval] = asked
		pending = append(pending, more...)
	}
	if diff := cmp.Diff(c.offers, offered); diff != "" {
		t.Errorf("approvals, and the calls that run unasked after them (-want +got):\n%s", diff)
	}
}

// An approvalWorld is a home, perhaps with a gate, and projects.
type approvalWorld struct {
	t         *testing.T
	top, home string
	names     []string       // of servers, and their addresses
	gate      *server.Client // nil without a gate
	count     int
}

func (w *approvalWorld) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.top, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *approvalWorld) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("umpire", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1", raceEnv, testRoot + "=1",
		testManaged + "=" + filepath.Join(w.home, "etc"),
	}
	return cmd
}

func (w *approvalWorld) startGate(store string) {
	args := []string{"serve"}
	if store == "postgres" {
		args = append(args, "--store", asURL(storetest.Postgres(w.t)))
	}
	cmd := w.command(w.home, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			w.t.Error(err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ready := strings.CutPrefix(strings.TrimSpace(line), "umpire: ready on ")
	if err != nil || !ready {
		w.t.Fatalf("%q, %v", line, err)
	}
	token, err := server.ReadToken(filepath.Join(w.home, ".umpire", "state", "person.token"))
	if err == nil {
		w.gate, err = server.Dial(address, token)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.gate.Close() })
}

// approve runs a case in a new project, and gives the answer to its first question. It returns the letters of
// the other calls that ran unasked (same, near, far), and the card's other offers.
func (c *approvalCase) approve(w *approvalWorld, approval string) (unasked string, offers []string) {
	w.t.Helper()
	w.count++
	approvalsTried.Add(1)
	top := fmt.Sprint("t", w.count)
	dir, out := filepath.Join(w.top, top, "p"), filepath.Join(w.top, top, "out")
	for name, text := range map[string]string{
		"p/do.sh": "echo done >$1\n", "p/Makefile": "one two three:\n\techo done >$@\n", "p/d/f": "old f\n", "p/d/g": "old g\n", "p/h": "old h\n",
		"out/f": "old f\n", "out/g": "old g\n", "out/d/h": "old h\n", "far/h": "old h\n", "out/d/other": "other\n",
	} {
		w.write(filepath.Join(top, name), text)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	fill := strings.NewReplacer(append([]string{"OUT", out}, w.names...)...)
	calls := []doing{c.call, c.call, c.near, c.far}
	var turns []any
	for i, d := range calls {
		turns = append(turns, map[string]any{"calls": []any{map[string]any{
			"id": fmt.Sprint("c", i), "tool": d.tool, "input": json.RawMessage(fill.Replace(d.input)),
		}}})
	}
	model, err := json.Marshal(append(turns, map[string]string{"text": "done"}))
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(top, "model.json"), string(model))
	before := w.tree(top)
	log := filepath.Join(w.top, top, "log.jsonl")
	cmd := w.command(dir, "run", "--model", "script:"+filepath.Join(w.top, top, "model.json"), "--model-log", log, "work")
	var text string
	var asked []string
	if w.gate == nil {
		text, asked, offers = w.answerOnTerminal(cmd, approval)
	} else {
		text, asked, offers = w.answerAtGate(cmd, approval)
	}
	if !slices.Contains(asked, "c0") {
		w.t.Fatalf("%s: the call did not ask:\n%s", approval, text)
	}
	said, err := os.ReadFile(log)
	if err != nil {
		w.t.Fatal(err)
	}
	want, ran := maps.Clone(before), 0
	for i, d := range calls {
		if i > 0 && slices.Contains(asked, fmt.Sprint("c", i)) {
			continue
		}
		if i > 0 {
			unasked += []string{"", "same ", "near ", "far "}[i]
		}
		if ran++; !strings.Contains(string(said), d.says) {
			w.t.Errorf("%s: call %d did not say %q:\n%s", approval, i, d.says, text)
		}
		if d.path == "" {
			continue
		}
		name := strings.NewReplacer("OUT", "out", "FAR", "far").Replace(d.path)
		if name == d.path {
			name = "p/" + name
		}
		if want[name] = d.content; d.content == gone {
			delete(want, name)
		}
	}
	if n := len(ranLines.FindAllString(text, -1)); n != ran { // an edit cannot be made twice
		w.t.Errorf("%s: %d calls ran, want %d:\n%s", approval, n, ran, text)
	}
	if diff := cmp.Diff(want, w.tree(top)); diff != "" {
		w.t.Errorf("%s: files (-want +got):\n%s\n%s", approval, diff, text)
	}
	if err := os.Remove(filepath.Join(w.home, ".umpire", "permissions.json")); err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(unasked), offers
}

// The lines with which an agent reports the ends of calls, and those that ran among them, and a
// terminal's lines that offer an approval.
var (
	ranLines   = regexp.MustCompile(`(?m)^\[(ok|error)\]`)
	endLines   = regexp.MustCompile(`(?m)^\[(ok|denied|error|timeout|cancelled)\]`)
	offerLines = regexp.MustCompile(`(?m)^  ([yspg][0-9]?) `)
)

// tree returns the files of a project and of the folders next to it.
func (w *approvalWorld) tree(top string) map[string]string {
	w.t.Helper()
	files := map[string]string{}
	root := filepath.Join(w.top, top)
	for _, dir := range []string{"p", "out", "far"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && (e.Name() == ".git" || e.Name() == ".umpire"):
				return fs.SkipDir
			case e.IsDir():
				return nil
			}
			text, err := os.ReadFile(path)
			name, _ := filepath.Rel(root, path)
			files[name] = string(text)
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return files
}

// answerAtGate runs an agent. It approves its first question, and denies the others.
func (w *approvalWorld) answerAtGate(cmd *exec.Cmd, approval string) (text string, asked, offers []string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), answerTime)
	defer cancel()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer cancel()
		_ = cmd.Wait() // 2 if a call was denied
		close(exited)
	}()
	answer := func() {
		pending, err := w.gate.Pending(ctx, umpire.PendingQuery{})
		if err != nil {
			return // the run has ended
		}
		for _, p := range pending {
			a := umpire.Answer{
				Request: p.Request, ArgsHash: p.ArgsHash, ShownDigest: p.ShownDigest, Version: p.Version,
				Choice: umpire.Refuse,
			}
			if asked = append(asked, string(p.Call)); len(asked) == 1 {
				session, err := w.gate.Sessions().Get(ctx, p.Session)
				if err != nil {
					w.t.Error(err)
				}
				for _, o := range view.New(p, session, "", catalogue.English, time.Now(), false).Options() {
					if o.Answer.Choice == umpire.Approve {
						offers = append(offers, o.Key)
					}
					if o.Key == approval {
						a.Choice, a.Scope, a.Width = o.Answer.Choice, o.Answer.Scope, o.Answer.Width
					}
				}
			}
			if _, err := w.gate.Resolve(ctx, a); err != nil {
				w.t.Errorf("%s: %v", approval, err)
			}
		}
	}
	answer()
	for _, err := range w.gate.Watch(ctx, umpire.Filter{}) {
		if err != nil {
			break
		}
		answer()
	}
	<-exited
	return stderr.String(), asked, offers
}

// answerOnTerminal runs an agent on a terminal, and types the answers.
func (w *approvalWorld) answerOnTerminal(cmd *exec.Cmd, approval string) (text string, asked, offers []string) {
	w.t.Helper()
	tty, err := pty.Start(cmd)
	if err != nil {
		w.t.Fatal(err)
	}
	defer tty.Close()
	var seen bytes.Buffer
	buf := make([]byte, 1<<16)
	for at := 0; ; {
		n, err := tty.Read(buf)
		seen.Write(buf[:n])
		if err != nil {
			break // the terminal closes when the run has ended
		}
		prompt := strings.LastIndex(seen.String(), "and Enter: ")
		if prompt < at {
			continue
		}
		card := seen.String()[at:prompt]
		at = prompt + 1
		key := "n"
		if asked = append(asked, fmt.Sprint("c", len(endLines.FindAllString(seen.String(), -1)))); len(asked) == 1 {
			key = approval
			for _, offer := range offerLines.FindAllStringSubmatch(card, -1) {
				offers = append(offers, offer[1])
			}
		}
		fmt.Fprintln(tty, key)
	}
	_ = cmd.Wait() // 2 if a call was denied
	return seen.String(), asked, offers
}
