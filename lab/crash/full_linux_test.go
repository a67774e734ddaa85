package crash

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
)

// full fills a gate's disk: all its writes fail. The function that it returns makes
// room again.
func full(t *testing.T, g *gate) (room func()) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Prlimit(g.pid, unix.RLIMIT_FSIZE, nil, &before); err != nil {
		t.Fatal(err)
	}
	set := func(bytes uint64) {
		t.Helper()
		if err := unix.Prlimit(g.pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: before.Max}, nil); err != nil {
			t.Fatal(err)
		}
	}
	set(1)
	return func() { set(before.Cur) }
}

// personally runs a command of umpire as a user in a separate terminal would, even if
// an agent runs the tests, and returns its output and exit code.
func (h *home) personally(t *testing.T, dir string, args ...string) (said, code string) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", `{ "$@"; echo "$?"; } 2>&1 &`, "sh", program}, args...)...)
	cmd.Dir, cmd.Env = dir, h.env()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	if err := cmd.Wait(); err != nil || len(lines) == 0 {
		t.Fatalf("umpire %v: %v", args, err)
	}
	last := len(lines) - 1
	return strings.Join(lines[:last], "\n"), lines[last]
}

// TestDiskFull: the gate reports an answer that it cannot store, the question stays
// open, and it can be answered once there is room.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := newFolder(t)
	h := newHome(t, filepath.Join(dir, "home"), "")
	h.start(func(err error) { t.Error(err) })
	t.Cleanup(func() { h.end(); h.done.Wait() })
	g, err := h.ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "p")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	person, agent := dialBoth(t, h)
	s, err := agent.Sessions().Open(t.Context(), umpire.Opening{Dir: project, Agent: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if err := submitTwo(t, agent, s.ID, "m1"); err != nil {
		t.Fatal(err)
	}
	first, second := waiting(t, person, "m1-0"), waiting(t, person, "m1-1")

	room := full(t, g)
	if _, err := person.Resolve(t.Context(), answerOf(&first, umpire.Approve)); !errors.Is(err, umpire.ErrNotRecorded) {
		t.Errorf("answering on a full disk: %v", err)
	}
	said, code := h.personally(t, project, "approve", string(first.Request), "--token-file", filepath.Join(h.dir, "state", "person.token"))
	if code != "1" || !strings.Contains(said, umpire.ErrNotRecorded.Error()) {
		t.Errorf("umpire approve ended with %s and said\n%s", code, said)
	}
	if err := submitTwo(t, agent, s.ID, "m2"); !errors.Is(err, umpire.ErrNotRecorded) {
		t.Errorf("handing in calls on a full disk: %v", err)
	}
	if _, err := agent.Sessions().Open(t.Context(), umpire.Opening{Dir: project}); !errors.Is(err, umpire.ErrNotRecorded) {
		t.Errorf("opening a session on a full disk: %v", err)
	}
	waiting(t, person, "m1-0")
	waiting(t, person, "m1-1")

	room()
	b, err := person.Resolve(t.Context(), answerOf(&first, umpire.Approve))
	if err != nil || b.Waiting() != 1 {
		t.Errorf("answering once there is room: %+v, %v", b, err)
	}

	full(t, g)
	if _, err := person.Resolve(t.Context(), answerOf(&second, umpire.Refuse)); !errors.Is(err, umpire.ErrNotRecorded) {
		t.Errorf("answering on a full disk: %v", err)
	}
	h.kill() // and the next one has room
	if err := g.over(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	waiting(t, person, "m1-1")
	b, err = person.Resolve(t.Context(), answerOf(&second, umpire.Refuse))
	if err != nil || b.State != umpire.BatchRunning {
		t.Errorf("answering the last one: %+v, %v", b, err)
	}
	if n := breaks(t, h); n != 0 {
		t.Errorf("%d breaks", n)
	}
}

func dialBoth(t *testing.T, h *home) (person, agent *server.Client) {
	t.Helper()
	var both []*server.Client
	for _, who := range []string{"person", "agent"} {
		c, err := h.dial(who)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		both = append(both, c)
	}
	return both[0], both[1]
}

// submitTwo hands in a message with two calls that ask.
func submitTwo(t *testing.T, c *server.Client, s umpire.SessionID, id umpire.BatchID) error {
	_, err := c.Submit(t.Context(), umpire.Submission{Session: s, Batch: id, Lane: string(id), Calls: []umpire.Call{
		{ID: umpire.CallID(id + "-0"), Tool: "Bash", Input: json.RawMessage(`{"command":"npm install x"}`)},
		{ID: umpire.CallID(id + "-1"), Tool: "Bash", Input: json.RawMessage(`{"command":"npm install y"}`)},
	}})
	return err
}

// waiting returns the question about a call, which has to wait.
func waiting(t *testing.T, c *server.Client, id umpire.CallID) umpire.Pending {
	t.Helper()
	list, err := c.Pending(t.Context(), umpire.PendingQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if list[i].Call == id {
			return list[i]
		}
	}
	t.Fatalf("call %s does not wait", id)
	return umpire.Pending{}
}
