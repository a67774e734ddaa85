package cli

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// A projectChange is how the id of the folder c changes while a session is open in it.
type projectChange struct {
	before, change string // of a shell
	folder         string // the project's folder after the change; "" is c
	same           bool   // the id does not change
}

const (
	commits = "git init -q -b main c; git -C c commit -q --allow-empty -m 1; git -C c commit -q --allow-empty -m 2\n"
	origin  = "git init -q -b main o; git -C o commit -q --allow-empty -m 1; git -C o commit -q --allow-empty -m 2\n"
)

var projectChanges = map[string]projectChange{
	"shallow file":   {before: commits, change: "git -C c rev-parse HEAD >c/.git/shallow"},
	"shallow fetch":  {before: origin + "git clone -q file://$PWD/o c", change: "git -C c fetch -q --depth 1"},
	"unshallow":      {before: origin + "git clone -q --depth 1 file://$PWD/o c", change: "git -C c fetch -q --unshallow"},
	"first commit":   {before: "git init -q -b main c", change: "git -C c commit -q --allow-empty -m 1"},
	"git init":       {before: "mkdir c", change: "git init -q -b main c; git -C c commit -q --allow-empty -m 1"},
	"new root":       {before: commits, change: "git -C c checkout -q --orphan other; git -C c commit -q --allow-empty -m other"},
	"git taken away": {before: commits, change: "rm -rf c/.git"},
	"another clone":  {before: commits, change: "rm -rf c; git init -q -b main c; git -C c commit -q --allow-empty -m other"},
	"moved":          {before: commits, change: "mv c d", folder: "d", same: true},
}

const changedThroughGate = `[!exec:git] skip 'git is not installed'
cd $WORK
exec sh -e before.sh
cp config.yaml $HOME/.umpire/config.yaml
gate
posts 200 agent SessionService/Open '{"session_id":"s1","working_dir":"'$WORK/c'"}'
posts 200 agent GateService/Submit @ask.json
waits 1
exec sh -e change.sh
cd $WORK/FOLDER
exec umpire pending
stdout 'npm install x'
exec umpire sessions
stdout '^s1 '
exec umpire status --json
field pending 1
field sessions/latest s1
exec umpire timeline --events
stdout 'PermissionAsked +s1 '
[same] exec sh -c '! umpire status | grep -q "open sessions keep"'
[!same] exec umpire status
[!same] stdout 'note +open sessions keep the project id that they were opened with: [0-9a-f]{12}'
[same] posts 400 agent SessionService/Continue '{"working_dir":"'$WORK/FOLDER'"}'
[same] stdout 'to continue session s1 of this project, in '
[!same] posts 200 agent SessionService/Continue '{"working_dir":"'$WORK/FOLDER'"}'
[!same] field session_id s1
[!same] posts 200 agent SessionService/Continue '{"session_id":"s1","working_dir":"'$WORK/FOLDER'"}'
exec umpire timeline --session s1 --json
[same] ! stdout 'This project is known as'
[!same] stdout -count=1 'This project is known as'
# Nor is anything lost without the gate.
gate-ends TERM 0
exec umpire pending
stdout 'npm install x'
exec umpire sessions
stdout '^s1 '
`

const changedAlone = `[!exec:git] skip 'git is not installed'
cd $WORK
exec sh -e before.sh
cp config.yaml $HOME/.umpire/config.yaml
cd $WORK/c
exec umpire run --model script:$WORK/hi.json hello
exec umpire sessions --json
keep S 0/session_id
cd $WORK
exec sh -e change.sh
cd $WORK/FOLDER
exec umpire sessions
stdout $S
[same] ! exec umpire run --model script:$WORK/hi.json --continue more
[same] stderr 'to continue session '$S' of this project, in '
[!same] exec umpire run --model script:$WORK/hi.json --continue more
exec umpire sessions --json
field 0/session_id $S
! stdout 'session_id.*session_id'
exec umpire timeline --session $S --json
[same] ! stdout 'This project is known as'
[!same] stdout -count=1 'This project is known as'
`

const changedFiles = `-- before.sh --
BEFORE
-- change.sh --
CHANGE
-- ask.json --
{"session_id":"s1","batch_id":"m1","calls":[{"id":"c1","tool":"Bash","input":{"command":"npm install x"}}]}
-- hi.json --
[{"text": "hi"}, {"text": "hi"}]
-- config.yaml --
store: STORE
`

// TestProjectsWhoseIDChanges: after any change of a folder's id, its open question is listed and its session is
// listed and continued, through a gate and without one, on each database. The change is reported once. A session of a
// moved folder is listed, and named when a person tries to continue it, because its folder is gone.
func TestProjectsWhoseIDChanges(t *testing.T) {
	t.Parallel()
	stores := map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "umpire.db") },
		"postgres": func(t *testing.T) string { return asURL(storetest.Postgres(t)) },
	}
	for kind, store := range stores {
		for _, name := range sample.Of(t, 1, slices.Sorted(maps.Keys(projectChanges))) {
			change := projectChanges[name]
			for how, script := range map[string]string{"gate": changedThroughGate, "alone": changedAlone} {
				t.Run(kind+" "+name+" "+how, func(t *testing.T) {
					t.Parallel()
					runChange(t, change, script, store(t))
				})
			}
		}
	}
}

func runChange(t *testing.T, change projectChange, script, store string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	folder := change.folder
	if folder == "" {
		folder = "c"
	}
	text := strings.NewReplacer("FOLDER", folder, "BEFORE", change.before, "CHANGE", change.change, "STORE", store).
		Replace(script + changedFiles)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "change.txtar"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	params := scriptParams()
	params.Dir, params.UpdateScripts = dir, false
	known, setUp := params.Condition, params.Setup
	params.Condition = func(name string) (bool, error) {
		if name == "same" {
			return change.same, nil
		}
		return known(name)
	}
	params.Setup = func(env *testscript.Env) error {
		err := setUp(env)
		if err != nil {
			return fmt.Errorf("set up: %w", err)
		}
		return os.MkdirAll(filepath.Join(env.Getenv("HOME"), ".umpire"), 0o700)
	}
	params.Cmds = maps.Clone(params.Cmds)
	testscript.Run(t, params)
}
