package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/umpirehq/umpire/internal/sandbox"
)

// A variable must not make a folder seen, and written, that holds something else than a cache.
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
