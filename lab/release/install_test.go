//go:build unix

// Package release tests the ways to install umpire.
package release

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestInstallScript installs a release from a local server, and removes it again. The script
// does not install files that differ from checksums.txt.
func TestInstallScript(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"curl", "tar", "sh", "awk"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	dist := t.TempDir()
	archive := fmt.Sprintf("umpire_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	sum := writeArchive(t, filepath.Join(dist, archive))
	server := httptest.NewServer(http.FileServer(http.Dir(dist)))
	t.Cleanup(server.Close)
	home := t.TempDir()
	bin := filepath.Join(home, ".local/bin")
	completion := filepath.Join(home, ".local/share/bash-completion/completions/umpire")

	write(t, filepath.Join(dist, "checksums.txt"), strings.Repeat("0", len(sum))+"  "+archive+"\n")
	if out, err := install(t, home, server.URL); err == nil || !strings.Contains(out, "nothing was installed") {
		t.Errorf("installed what it should not have: %v\n%s", err, out)
	}
	write(t, filepath.Join(dist, "checksums.txt"), sum+"  other.tar.gz\n")
	if out, err := install(t, home, server.URL); err == nil || !strings.Contains(out, "does not name "+archive) {
		t.Errorf("installed what has no checksum: %v\n%s", err, out)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Fatalf("there is something in the home folder: %v, %v", left, err)
	}

	write(t, filepath.Join(dist, "checksums.txt"), sum+"  other.tar.gz\n"+sum+"  "+archive+"\n")
	for range 2 { // an upgrade is the same once more
		out, err := install(t, home, server.URL)
		if err != nil || !strings.Contains(out, "umpire 1.2.3 ") || !strings.Contains(out, "installed in "+bin) {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if _, err := os.Stat(completion); err != nil {
		t.Error(err)
	}
	if out := umpire(t, home, "upgrade"); !strings.Contains(out, "install.sh | sh") {
		t.Errorf("upgrade says\n%s", out)
	}
	umpire(t, home, "setup", "uninstall", "--state", "--yes")
	for _, path := range []string{filepath.Join(bin, "umpire"), filepath.Join(bin, "umpire-hook"), completion} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
}

// install runs the script.
func install(t *testing.T, home, from string) (string, error) {
	t.Helper()
	script, err := filepath.Abs("../../packaging/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", script)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "UMPIRE_RELEASE=" + from}
	cmd.Dir = home
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// umpire runs the program that was installed.
func umpire(t *testing.T, home string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(home, ".local/bin/umpire"), args...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	cmd.Dir = home
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("umpire %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// writeArchive writes an archive of a release, and returns its checksum.
func writeArchive(t *testing.T, path string) string {
	t.Helper()
	built := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", built,
		"-ldflags", "-s -w -X github.com/umpirehq/umpire/internal/cli/app.release=1.2.3",
		"./cmd/umpire", "./cmd/umpire-hook")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	zipped := gzip.NewWriter(file)
	archive := tar.NewWriter(zipped)
	if err := archive.AddFS(os.DirFS(built)); err != nil {
		t.Fatal(err)
	}
	for _, end := range []func() error{archive.Close, zipped.Close, file.Close} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
