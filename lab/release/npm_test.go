//go:build unix

package release

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestNPMPackages packs a release for npm, installs it from a local registry, and removes it again.
func TestNPMPackages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"node", "npm", "tar"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	dist, packed, prefix, home := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	writeArchive(t, filepath.Join(dist, fmt.Sprintf("umpire_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)))
	packNPM(t, dist, "1.2.3", packed)
	registry := serveRegistry(t, packed)
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "NO_UPDATE_NOTIFIER=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	program := filepath.Join(prefix, "bin", "umpire")
	run("npm", "install", "--global", "--prefix", prefix, "--registry", registry, "@umpirehq/umpire")
	if out := run(program, "--version"); !strings.Contains(out, "umpire 1.2.3 ") {
		t.Errorf("umpire --version says %s", out)
	}
	if out := run(program, "upgrade"); !strings.Contains(out, "next: npm install --global @umpirehq/umpire@latest") {
		t.Errorf("umpire setup upgrade says %s", out)
	}
	if out := run(program, "setup", "uninstall", "--yes"); !strings.Contains(out, "next: npm uninstall --global @umpirehq/umpire") {
		t.Errorf("umpire setup uninstall says %s", out)
	}
	run("npm", "uninstall", "--global", "--prefix", prefix, "@umpirehq/umpire")
	if _, err := os.Lstat(program); err == nil {
		t.Errorf("%s is still there", program)
	}
}

// packNPM makes the packages for npm of a release.
func packNPM(t *testing.T, dist, version, to string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "../../packaging/npm.mjs", dist, version, to)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm.mjs: %v\n%s", err, out)
	}
}

// TestConfiguration makes goreleaser check its configuration, if installed, and checks that the named files exist.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"packaging/documents.sh", "packaging/install.sh", "packaging/Dockerfile", "LICENSE", "CHANGELOG.md"} {
		if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
			t.Error(err)
		}
	}
	program, err := exec.LookPath("goreleaser")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "check")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
