package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestLoadsLibraries: a program that the dynamic linker starts is told from one that starts by itself.
func TestLoadsLibraries(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skipf("the ELF of Linux is read, and this is %s", runtime.GOOS)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skipf("no program to look at: %v", err)
	}
	static := filepath.Join(t.TempDir(), "static")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", static, "../../../cmd/umpire-hook")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for path, want := range map[string]bool{shell: true, static: false, script: false, script + "-": false} {
		if loadsLibraries(path) != want {
			t.Errorf("%s loads libraries: %t", path, !want)
		}
	}
}
