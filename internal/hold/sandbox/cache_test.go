package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// A variable must not expose a folder, let alone make it writable, if it holds anything but a cache.
func TestCacheVariables(t *testing.T) {
	home := t.TempDir()
	for _, path := range []string{
		"letters/2026/a.txt", "letters/pkg/a.txt", "built/00/x", "built/README", "modules/cache/download/x", "moved-cache/pip/x", "npm/_cacache/x",
	} {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		variable, folder string
		want             bool
	}{
		{"GOCACHE", "letters", false},
		{"GOCACHE", ".", false},
		{"GOCACHE", "built", true},
		{"GOCACHE", "missing", true},
		{"GOMODCACHE", "letters", false},
		{"GOMODCACHE", "modules", true},
		{"GOPATH", "letters", false},
		{"npm_config_cache", "letters", false},
		{"npm_config_cache", "npm", true},
		{"XDG_CACHE_HOME", "letters", false},
		{"XDG_CACHE_HOME", "moved-cache", true},
		{"CARGO_HOME", "letters", false},
		{"GRADLE_USER_HOME", "letters", false},
		{"PNPM_HOME", "letters", false},
	} {
		folder := filepath.Join(home, tt.folder)
		found := false
		for _, c := range sandbox.Caches(home, func(name string) string {
			return map[string]string{tt.variable: folder}[name]
		}) {
			found = found || c.Folder == folder || c.Folder == filepath.Join(folder, "pkg")
		}
		if found != tt.want {
			t.Errorf("%s=%s: a cache: %t, want %t", tt.variable, tt.folder, found, tt.want)
		}
	}
}

func TestCaches(t *testing.T) {
	home, bin := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	env := map[string]string{"GOCACHE": home + "/.cache/go-build", "GOPATH": home + "/a:" + home + "/b", "CARGO_HOME": "relative", "npm_config_cache": home + "/npm/"}
	got := map[string]bool{}
	for _, c := range sandbox.Caches(home, func(name string) string { return env[name] }) {
		got[strings.Replace(c.Folder, home, "~", 1)] = c.Make
	}
	for folder, made := range map[string]bool{"~/.cache": true, "~/go/pkg": true, "~/a/pkg": true, "~/b/pkg": true, "~/npm": false, "~/.npm": false, "~/.gradle": false} {
		if is, listed := got[folder]; !listed || is != made {
			t.Errorf("%s: listed %t, made %t, want it made: %t", folder, listed, is, made)
		}
	}
	if _, listed := got["~/.cache/go-build"]; listed {
		t.Error("a folder in another one is listed")
	}
	if all := sandbox.Caches(home+"/gone", func(string) string { return "" }); len(all) > 0 {
		t.Errorf("%v in a home that is not there", all)
	}
}
