package trees

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/umpirehq/umpire/internal/files"
)

// folderOutsideTmp returns a folder outside of /tmp, because the sandbox has a private /tmp.
func folderOutsideTmp(t *testing.T) string {
	t.Helper()
	dir, err := makeFolderOutsideTmp()
	must(t, err)
	t.Cleanup(func() { must(t, files.RemoveTree(dir)) })
	return dir
}

func makeFolderOutsideTmp() (string, error) {
	user, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(user, 0o700)
	}
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(user, "umpire-trees-test-")
}

// builtIn is the folder of the program under test after the first test has built it. TestMain
// removes it.
var builtIn string

var build = sync.OnceValue(func() (err error) {
	if builtIn, err = makeFolderOutsideTmp(); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", builtIn, "./cmd/umpire")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

// buildUmpire puts the program under test into a folder outside of /tmp.
func buildUmpire(t *testing.T, dir string) string {
	t.Helper()
	must(t, build())
	program := filepath.Join(dir, "umpire")
	must(t, os.Link(filepath.Join(builtIn, "umpire"), program))
	return program
}

// newWorld creates a home, or uses the existing one, and sets the level.
func newWorld(t *testing.T, program, home, level string) *world {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(home, ".config"), 0o755))
	w := &world{program: program, home: home, env: []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb", "GOTOOLCHAIN=local", "GOFLAGS=-p=2",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}}
	w.run(t, home, program, "autonomy", level)
	return w
}

// run runs a program as the person does, outside of any sandbox.
func (w *world) run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, w.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%q: %v\n%s%s", args, err, &stdout, &stderr)
	}
	return stdout.String()
}

// commit makes a folder a repository with all that is in it.
func commit(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c",
		"git init -q -b main && git add -A && git -c user.name=a -c user.email=a@example.com commit -qm first")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// fetch makes the tree in a folder, if it does not exist, and returns its path. No code of the
// tree runs: its tests are built, but not started.
func (o *tree) fetch(t *testing.T, w *world, folder string) string {
	t.Helper()
	dir := filepath.Join(folder, strings.NewReplacer("/", "-", "@", "-").Replace(o.name))
	if files.Exists(dir, ".git/HEAD") {
		return dir
	}
	making := dir + ".making"
	must(t, files.RemoveTree(making))
	must(t, os.MkdirAll(making, 0o755))
	if o.registry == "go" {
		o.fetchModule(t, w, making)
	} else {
		o.fetchPackage(t, w, making)
	}
	commit(t, making)
	must(t, os.Rename(making, dir))
	return dir
}

func (o *tree) fetchModule(t *testing.T, w *world, dir string) {
	t.Helper()
	var module struct {
		Dir string `json:"Dir"`
	}
	must(t, json.Unmarshal([]byte(w.run(t, dir, "go", "mod", "download", "-json", o.name)), &module))
	w.run(t, dir, "cp", "-rT", "--no-preserve=mode", module.Dir, dir)
	w.run(t, dir, "go", "mod", "download")
	w.run(t, dir, "go", "test", "-vet=off", "-exec=true", "./...")
	w.run(t, dir, "go", "build", "-o", os.DevNull, "./...")
	w.run(t, dir, "sh", "-c", "go vet ./... || true")
}

func (o *tree) fetchPackage(t *testing.T, w *world, dir string) {
	t.Helper()
	packed := strings.TrimSpace(w.run(t, dir, "npm", "pack", "--silent", o.name))
	w.run(t, dir, "tar", "xzf", packed, "--strip-components", "1")
	must(t, os.Remove(filepath.Join(dir, packed)))
	must(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("node_modules\n"), 0o644))
	tools := dir + ".tools" // inside the tree, npm would install the dependencies of its package.json
	must(t, files.RemoveTree(tools))
	must(t, os.MkdirAll(tools, 0o755))
	must(t, os.WriteFile(filepath.Join(tools, "package.json"), []byte("{}"), 0o644))
	w.run(t, tools, append([]string{"npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"}, o.tools...)...)
	must(t, os.Rename(filepath.Join(tools, "node_modules"), filepath.Join(dir, "node_modules")))
	must(t, files.RemoveTree(tools))
}
