//go:build unix

package crash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/store"
)

// A home is one UMPIRE_HOME with the gate that serves it.
type home struct {
	*keeper

	dir   string
	where string // the gate's address
	// databaseDies says that the test crashes the database.
	databaseDies bool
}

// rules are the person's: some calls may run, some never, all others ask.
const rules = `{"version": 1, "rules": [
  {"id": "free", "action": "allow", "tool": "Bash", "match": {"commandPrefix": "./mark free"}},
  {"id": "never", "action": "deny", "tool": "Bash", "match": {"commandPrefix": "./mark never"}}
]}
`

// newFolder makes a folder with a name that is short enough for a socket in it.
func newFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "umpire-crash-") //nolint:usetesting // the name of a test's own folder is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	return dir
}

// newHome creates a home. Its configuration has the gate's address, so runners do not
// decide by themselves while the gate is away. Store may be "".
func newHome(t testing.TB, dir, store string) *home {
	t.Helper()
	h := &home{dir: dir, where: "unix:" + filepath.Join(dir, "state", "umpire.sock")}
	config := "listen: " + h.where + "\nsandbox: {require: off}\n" + // these tests do not need a sandbox
		"pending: {max_per_session: 1000}\n"
	if store != "" {
		config += "store: " + store + "\n"
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(h.scratch(), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "config.yaml"), config)
	write(t, filepath.Join(dir, "permissions.json"), rules)
	h.keeper = newKeeper(h)
	return h
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// env returns the environment of umpire in this home, without the tests' variables.
func (h *home) env() []string {
	return []string{
		"UMPIRE_HOME=" + h.dir, "HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "LANG=C", "GIT_CONFIG_NOSYSTEM=1",
		"TMPDIR=" + h.scratch(),
	}
}

// scratch is the folder for files that are useless after umpire was killed.
func (h *home) scratch() string { return filepath.Join(h.dir, "tmp") }

// command returns a command that runs umpire.
func (h *home) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, h.env()
	return cmd
}

// dial returns a client with one of the gate's credentials, "person" or "agent". The
// gate has been there.
func (h *home) dial(who string) (*server.Client, error) {
	token, err := server.ReadToken(filepath.Join(h.dir, "state", who+".token"))
	if err != nil {
		return nil, err
	}
	return server.Dial(h.where, token)
}

// do asks the gate for something that may be done twice, until it is answered. A gate
// that is away is waited for.
func (h *home) do(ctx context.Context, ask func(context.Context, *server.Client) error) error {
	for {
		g, err := h.ready(ctx)
		if err != nil {
			return err
		}
		c, err := h.dial("person")
		if err != nil {
			return err
		}
		err = ask(ctx, c)
		c.Close()
		if err == nil || !h.forgives(err.Error()) {
			return err
		}
		pause(ctx, g)
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// away reports whether an error means that the gate died or could not store something.
// The caller should try again.
func away(err error) bool { return err != nil && saysAway(err.Error()) }

func saysAway(text string) bool {
	for _, reason := range []error{server.ErrUnreachable, umpire.ErrNotRecorded, store.ErrUncertain} {
		if strings.Contains(text, reason.Error()) {
			return true
		}
	}
	return strings.Contains(text, "no gate answers on") || strings.Contains(text, "the gate is shutting down")
}

// forgives reports whether an error means that the database is away, in a home whose
// database crashes on purpose.
func (h *home) forgives(text string) bool {
	return saysAway(text) || h.databaseDies && strings.Contains(text, "postgres: ")
}

// sessionsIn returns the sessions of a folder, the latest activity first.
func (h *home) sessionsIn(ctx context.Context, dir string) (found []umpire.Session, err error) {
	err = h.do(ctx, func(ctx context.Context, c *server.Client) error {
		all, err := c.Sessions().List(ctx, umpire.SessionQuery{})
		found = found[:0]
		for _, s := range all {
			if s.Dir == dir {
				found = append(found, s)
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sessions in %s: %w", dir, err)
	}
	return found, nil
}
