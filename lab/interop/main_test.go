//go:build interop

package interop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/host/drive"
)

// The variables with which the outer process passes its preparations to the inner one.
// The first may be set from outside. The next three end in a host's name.
const (
	envProgram = "UMPIRE_PROGRAM"
	envHost    = "UMPIRE_INTEROP_HOST_"
	envSkip    = "UMPIRE_INTEROP_SKIP_"    // why it is left out
	envMissing = "UMPIRE_INTEROP_MISSING_" // why it cannot be started
	envCache   = "UMPIRE_INTEROP_CACHE"
	envInside  = "UMPIRE_INTEROP_INSIDE"
)

// TestMain prepares everything that needs the network, and then runs the tests without
// a network.
func TestMain(m *testing.M) {
	if os.Getenv(envInside) != "" {
		if err := drive.RaiseLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, "interop: loopback:", err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	}
	scratch, err := os.MkdirTemp("", "umpire-interop-")
	if err == nil {
		err = os.Chmod(scratch, 0o755) // the world's user runs programs in it
	}
	if err != nil {
		panic(err)
	}
	code := outside(m, scratch)
	os.RemoveAll(scratch)
	os.Exit(code)
}

func outside(m *testing.M, scratch string) int {
	if err := prepare(scratch); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		return 1
	}
	code, err := isolated()
	if err == nil {
		return code
	}
	fmt.Fprintln(os.Stderr, "interop: no private network, so the agent could reach the real one:", err)
	return m.Run()
}

// isolated runs this test program again without a network, and returns its exit code.
// The error says why isolation failed.
func isolated() (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), envInside+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := drive.Isolate(cmd); err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	err = cmd.Wait()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode(), nil
	}
	return 0, err
}

// prepare builds umpire and finds the hosts. A host that is not available concerns its own tests
// alone; an umpire that does not build concerns all.
func prepare(scratch string) error {
	if os.Getenv(envProgram) == "" {
		program := filepath.Join(scratch, "umpire")
		build := exec.Command("go", "build", "-o", program, "./cmd/umpire")
		build.Dir = filepath.Join("..", "..")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build umpire: %w", err)
		}
		os.Setenv(envProgram, program)
	}
	for _, d := range drivers {
		if only := os.Getenv("UMPIRE_INTEROP_ONLY"); only != "" && !slices.Contains(strings.Split(only, ","), d.Name) {
			os.Setenv(envSkip+d.Name, "UMPIRE_INTEROP_ONLY does not name it")
			continue
		}
		if program := os.Getenv("UMPIRE_" + strings.ToUpper(d.Program)); program != "" {
			os.Setenv(envHost+d.Name, program)
			continue
		}
		dir, err := install(d)
		if err == nil {
			dir, err = reachable(dir, scratch)
		}
		if err != nil {
			os.Setenv(envMissing+d.Name, err.Error())
			continue
		}
		os.Setenv(envHost+d.Name, d.Installed(dir))
	}
	return makeCache(scratch)
}

// makeCache creates a folder for the Go build cache of all worlds, so the standard
// library is built only once.
func makeCache(scratch string) error {
	cache := filepath.Join(scratch, "gocache")
	os.Setenv(envCache, cache)
	user := ordinaryUser()
	if err := os.Mkdir(cache, 0o755); err != nil || user == 0 {
		return err
	}
	return os.Lchown(cache, user, user)
}

// reachable puts an installation where every user can start it: root's own folders are
// closed.
func reachable(dir, scratch string) (string, error) {
	if ordinaryUser() == 0 {
		return dir, nil
	}
	to := filepath.Join(scratch, filepath.Base(dir))
	if _, err := os.Stat(to); err == nil {
		return to, nil // another driver starts the same program
	}
	return to, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(path, dir))
		switch {
		case entry.IsDir():
			return os.Mkdir(at, 0o755)
		case entry.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			return errors.Join(err, os.Symlink(target, at))
		case os.Link(path, at) == nil:
			return nil
		}
		return copyFile(path, at)
	})
}

func copyFile(path, to string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	copied, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, from)
	return errors.Join(err, copied.Close())
}

// install returns the folder in which npm has put the tested release of a host.
func install(d *driver) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	version := cmp.Or(os.Getenv("UMPIRE_"+strings.ToUpper(d.Program)+"_VERSION"), d.Version)
	dir := filepath.Join(cache, "umpire-interop", d.Program+"-"+version)
	if _, err := os.Stat(d.Installed(dir)); err == nil {
		return dir, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("%s is not installed and there is no npm to install it", d.Name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	install := exec.CommandContext(ctx, npm, "install", "--ignore-scripts", "--no-audit", "--no-fund",
		"--prefix", dir, d.Package+"@"+version)
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install of %s failed: %w: %s", d.Package, err, lastLine(out))
	}
	_, err = os.Stat(d.Installed(dir))
	return dir, err
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
