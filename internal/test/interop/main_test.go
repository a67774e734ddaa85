//go:build interop

package interop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/host"
)

// claudeVersion is the release that is tested: the one that the tables of folders and
// tools were checked against. UMPIRE_CLAUDE_VERSION names another one, or latest.
const claudeVersion = host.ClaudeVersion

// The variables by which the outer process tells the inner one what it
// prepared; the first two may be given from outside.
const (
	envClaude  = "UMPIRE_CLAUDE"
	envProgram = "UMPIRE_PROGRAM"
	envCache   = "UMPIRE_INTEROP_CACHE"
	envSkip    = "UMPIRE_INTEROP_SKIP"
	envInside  = "UMPIRE_INTEROP_INSIDE"
)

// TestMain prepares what needs the network, and then runs the tests where there
// is none.
func TestMain(m *testing.M) {
	if os.Getenv(envInside) != "" {
		if err := loopbackUp(); err != nil {
			fmt.Fprintln(os.Stderr, "interop: loopback:", err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	}
	scratch, err := os.MkdirTemp("", "umpire-interop-")
	if err == nil {
		err = os.Chmod(scratch, 0o755) // the world's user starts what lies there
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

// prepare builds umpire and finds Claude Code. A Claude Code that cannot be had
// is a reason to skip; an umpire that does not build is not.
func prepare(scratch string) error {
	if os.Getenv(envProgram) == "" {
		program := filepath.Join(scratch, "umpire")
		build := exec.Command("go", "build", "-o", program, "./cmd/umpire")
		build.Dir = filepath.Join("..", "..", "..")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build umpire: %w", err)
		}
		os.Setenv(envProgram, program)
	}
	if os.Getenv(envClaude) == "" {
		claude, err := installClaude()
		if err != nil {
			os.Setenv(envSkip, err.Error())
		}
		os.Setenv(envClaude, claude)
	}
	if err := makeCache(scratch); err != nil {
		return err
	}
	if ordinaryUser == 0 || os.Getenv(envSkip) != "" {
		return nil
	}
	claude, err := reachable(os.Getenv(envClaude), scratch)
	os.Setenv(envClaude, claude)
	return err
}

// makeCache makes a folder for what the worlds' Go builds, so that they build the
// standard library once.
func makeCache(scratch string) error {
	cache := filepath.Join(scratch, "gocache")
	os.Setenv(envCache, cache)
	if err := os.Mkdir(cache, 0o755); err != nil || ordinaryUser == 0 {
		return err
	}
	return os.Lchown(cache, ordinaryUser, ordinaryUser)
}

// reachable puts a program where every user can start it: root's own folders are closed.
func reachable(program, scratch string) (string, error) {
	to := filepath.Join(scratch, "claude", filepath.Base(program))
	if err := os.Mkdir(filepath.Dir(to), 0o755); err != nil {
		return "", err
	}
	if os.Link(program, to) == nil {
		return to, nil
	}
	from, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer from.Close()
	copied, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(copied, from)
	return to, errors.Join(err, copied.Close())
}

// installClaude returns the native program of the tested release.
func installClaude() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	version := cmp.Or(os.Getenv("UMPIRE_CLAUDE_VERSION"), claudeVersion)
	dir := filepath.Join(cache, "umpire-interop", "claude-"+version)
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	program := filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch, "claude")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("Claude Code is not installed and there is no npm to install it")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	install := exec.CommandContext(ctx, npm, "install", "--ignore-scripts", "--no-audit", "--no-fund",
		"--prefix", dir, "@anthropic-ai/claude-code@"+version)
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install of Claude Code failed: %w: %s", err, lastLine(out))
	}
	_, err = os.Stat(program)
	return program, err
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
