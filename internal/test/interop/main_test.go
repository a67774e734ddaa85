//go:build interop

package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/host"
)

// claudeVersion is the release that is tested.
const claudeVersion = "2.1.329"

// The variables by which the outer process tells the inner one what it
// prepared; the first two may be given from outside.
const (
	envClaude  = "UMPIRE_CLAUDE"
	envProgram = "UMPIRE_PROGRAM"
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
		build.Dir = ".."
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
	return nil
}

// installClaude returns the native program of the tested release.
func installClaude() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "umpire-interop", "claude-"+claudeVersion)
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
		"--prefix", dir, "@anthropic-ai/claude-code@"+claudeVersion)
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
