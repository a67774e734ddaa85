package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// TestMain makes the test binary run as umpire, or as an MCP server, when a script
// calls it.
func TestMain(m *testing.M) {
	sandbox.Main()
	testscript.Main(m, map[string]func(){
		"umpire": scriptMain, "mcp-server": fake.MCPMain, "mcp-client": fake.MCPClientMain,
		"acp-agent": fake.AgentMain, "acp-editor": fake.EditorMain,
		"acp-conductor": fake.ConductorMain, "person-posts": personPostsMain, "claude-player": claudePlayerMain,
	})
}

// TestScripts runs the scripts in testdata/script, in a folder for each command, with the
// real program. A script is a subtest by its name, without its folder. Each has its own home,
// $HOME, and begins in an empty git repository, $WORK/p.
func TestScripts(t *testing.T) {
	t.Parallel()
	p := scriptParams()
	p.Dir, p.Files = "", scripts(t, "*")
	if raced {
		p.Files = sample.Of(t, 6, p.Files)
	} else if testing.Short() {
		p.Files = scriptsOfEach(t, p.Files)
	}
	testscript.Run(t, p)
}

// scripts are those in the folders of testdata/script whose names match the pattern.
func scripts(t *testing.T, pattern string) []string {
	t.Helper()
	var files []string
	for _, folder := range []string{"", "*"} {
		found, err := filepath.Glob(filepath.Join("testdata", "script", folder, pattern+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatalf("no script is named %s", pattern)
	}
	return files
}

// scriptsOfEach samples a sixth of the scripts in each folder, and at least one.
func scriptsOfEach(t *testing.T, files []string) []string {
	t.Helper()
	folders := map[string][]string{}
	for _, name := range files {
		folders[filepath.Dir(name)] = append(folders[filepath.Dir(name)], name)
	}
	var few []string
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		few = append(few, sample.Of(t, (len(folders[folder])+5)/6, folders[folder])...)
	}
	return few
}

// TestP0DScripts runs the acceptance scripts in testdata/p0d.
func TestP0DScripts(t *testing.T) {
	t.Parallel()
	params := scriptParams()
	params.Dir = filepath.Join("testdata", "p0d")
	testscript.Run(t, params)
}

func scriptParams() testscript.Params {
	verbs := map[string]func(*testscript.TestScript, bool, []string){
		"exits":    scriptExits,
		"decides":  scriptDecides,
		"class":    scriptClass,
		"field":    scriptField,
		"stream":   scriptStream,
		"call":     scriptCall,
		"await":    scriptAwait,
		"web":      scriptWeb,
		"listener": scriptListener,
		"reached":  scriptReached,
	}
	maps.Copy(verbs, gateVerbs)
	maps.Copy(verbs, modelVerbs)
	maps.Copy(verbs, execVerbs)
	maps.Copy(verbs, terminalVerbs)
	return testscript.Params{
		Dir:                filepath.Join("testdata", "script"),
		RequireUniqueNames: true,
		UpdateScripts:      os.Getenv("UPDATE") != "",
		Setup:              setUpScript,
		Condition: func(name string) (bool, error) {
			switch name {
			case "sandbox":
				return sandbox.Available().Whole(), nil
			case "addressed":
				return ownAddress() != "127.0.0.1", nil
			}
			return false, fmt.Errorf("condition %q is not known", name)
		},
		Cmds: verbs,
	}
}

// raceEnv is for programs that tests start. By default the race detector waits a second
// before they exit, for reports from threads that are still running.
const raceEnv = "GORACE=atexit_sleep_ms=20"

// setUpScript gives a script its home and its project.
func setUpScript(env *testscript.Env) error {
	home, project := filepath.Join(env.WorkDir, "home"), filepath.Join(env.WorkDir, "p")
	for _, dir := range []string{home, project} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if a := sandbox.Available(); !a.Whole() {
		// The scripts about the sandbox are skipped there. The others must not ask because
		// it is missing.
		if err := withoutSandbox(home); err != nil {
			return err
		}
	}
	env.Setenv("HOME", home)
	env.Setenv("RUN", filepath.Base(filepath.Dir(env.WorkDir))) // unique, for names outside of the folder
	env.Setenv("SHELL", "/bin/sh")
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Setenv("GIT_AUTHOR_NAME", "A")
	env.Setenv("GIT_AUTHOR_EMAIL", "a@example.com")
	env.Setenv("GIT_COMMITTER_NAME", "A")
	env.Setenv("GIT_COMMITTER_EMAIL", "a@example.com")
	name, value, _ := strings.Cut(raceEnv, "=")
	env.Setenv(name, value)
	env.Cd = project
	env.Values[streamKey{}] = &stream{}
	env.Values[daemonKey{}] = &daemon{}
	env.Values[ntfyKey{}] = new(*fake.Ntfy)
	env.Values[listenerKey{}] = &listenerBox{}
	env.Values[terminalKey{}] = &terminal{}
	env.Values[watchersKey{}] = map[string]*watcher{}
	env.Values[heldHookKey{}] = new(*heldHook)
	env.Values[modelServerKey{}] = new(*fake.ModelServer)
	env.Setenv(testRoot, strconv.Itoa(os.Getpid()))
	env.Setenv("MANAGED", filepath.Join(env.WorkDir, "etc"))
	env.Setenv(testManaged, env.Getenv("MANAGED"))
	path, err := programIn(env.Getenv("PATH"))
	if err != nil {
		return err
	}
	env.Setenv("UMPIRE", path)
	git := exec.Command("git", "init", "-q", "-b", "main", project)
	git.Env = env.Vars
	if out, err := git.CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w: %s", err, out)
	}
	return nil
}

// withoutSandbox configures that commands run without one.
func withoutSandbox(home string) error {
	dir := filepath.Join(home, ".umpire")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("sandbox: {require: off}\n"), 0o600)
}

// exitOf runs a program and returns its exit code.
func exitOf(ts *testscript.TestScript, name string, args ...string) int {
	err := ts.Exec(name, args...)
	if err == nil {
		return 0
	}
	exited, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		ts.Fatalf("%s: %v", name, err)
	}
	return exited.ExitCode()
}

// exits CODE PROGRAM ARGS...: the program ends with that code.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitOf(ts, args[1], args[2:]...); (got == want) == neg {
		ts.Fatalf("exit code %d, want %d\n%s", got, want, ts.ReadFile("stderr"))
	}
}

// decides VERDICT ARGS...: umpire check gives that verdict, in JSON and as its
// exit code.
func scriptDecides(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("decides takes no !")
	}
	code := exitOf(ts, "umpire", append([]string{"check", "--json"}, args[1:]...)...)
	want, ok := map[string]int{"allow": app.ExitDone, "ask": app.ExitAsks, "deny": app.ExitDenied}[args[0]]
	if !ok {
		ts.Fatalf("no such verdict: %s", args[0])
	}
	got := decodeAnswer(ts, ts.ReadFile("stdout"))
	if code != want || got["verdict"] != args[0] {
		ts.Fatalf("want %s, got verdict %v and exit code %d: %v", args[0], got["verdict"], code, got["reason"])
	}
}

// class CLASS ARGS...: umpire check gives that class.
func scriptClass(ts *testscript.TestScript, neg bool, args []string) {
	exitOf(ts, "umpire", append([]string{"check", "--json"}, args[1:]...)...)
	if got := decodeAnswer(ts, ts.ReadFile("stdout")); (got["class"] == args[0]) == neg {
		ts.Fatalf("want class %s, got %v for %v", args[0], got["class"], got["accesses"])
	}
}

// field PATH VALUE: the JSON on standard output has that value at that path of
// keys and indexes, with slashes between them.
func scriptField(ts *testscript.TestScript, neg bool, args []string) {
	var at any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &at))
	if got := fmt.Sprint(valueAt(ts, at, args[0])); (got == args[1]) == neg {
		ts.Fatalf("%s is %q, want %q", args[0], got, args[1])
	}
}

// valueAt follows a path into a JSON value.
func valueAt(ts *testscript.TestScript, at any, path string) any {
	for key := range strings.SplitSeq(path, "/") {
		switch value := at.(type) {
		case map[string]any:
			at = value[key]
		case []any:
			i, err := strconv.Atoi(key)
			ts.Check(err)
			if i >= len(value) {
				ts.Fatalf("%s: the list has %d items", path, len(value))
			}
			at = value[i]
		default:
			ts.Fatalf("%s: nothing at %q", path, key)
		}
	}
	return at
}

func decodeAnswer(ts *testscript.TestScript, text string) map[string]any {
	answer := map[string]any{}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		ts.Fatalf("not a JSON object: %v: %.200q", err, text)
	}
	return answer
}
