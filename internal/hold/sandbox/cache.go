package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
)

// A Cache is a folder in which programs keep build results or downloads. Commands may
// change its content in a layer: the folder itself stays unchanged.
type Cache struct {
	Folder string
	// Make creates the folder if it is missing, because a layer needs a folder below it.
	// Without it, the first build on a new machine could not download anything.
	Make bool
}

// A cacheVariable is an environment variable for the path of a cache of a program ("" means several
// programs). It is used only if the folder is empty or has the content that marks such a cache.
type cacheVariable struct{ name, below, program, holds string }

var cacheVariables = []cacheVariable{
	{"XDG_CACHE_HOME", "", "", ""},
	{"GOCACHE", "", "go", "00"}, {"GOMODCACHE", "", "go", "cache/download"}, {"GOPATH", "pkg", "go", "mod"},
	{"npm_config_cache", "", "npm", "_cacache"},
	{"CARGO_HOME", "", "cargo", "registry"}, {"CARGO_HOME", "", "cargo", "bin/cargo"},
	{"GRADLE_USER_HOME", "", "java", "caches"}, {"GRADLE_USER_HOME", "", "java", "gradle.properties"},
	{"PNPM_HOME", "", "pnpm", "store"}, {"PNPM_HOME", "", "pnpm", "pnpm"},
}

// isAt reports whether a folder is the variable's cache: a variable must not expose
// another folder of a home.
func (v cacheVariable) isAt(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err != nil:
		return errors.Is(err, fs.ErrNotExist)
	case len(entries) == 0:
		return true
	case v.holds == "":
		return strings.Contains(filepath.Base(dir), "cache")
	}
	return files.Exists(dir, v.holds)
}

// cacheFolders are the usual paths of caches in a home, and the program of each.
var cacheFolders = [][2]string{
	{".cache", ""}, {"go/pkg", "go"}, {".npm", "npm"}, {".cargo/registry", "cargo"}, {".cargo/git", "cargo"},
	{".gradle", "java"}, {".m2/repository", "java"}, {".local/share/pnpm", "pnpm"}, {".bun/install/cache", "bun"},
	{".yarn", "yarn"}, {".nuget/packages", "dotnet"},
}

// Caches returns the cache folders of builds and package managers. Missing ones are
// created if their program is installed.
func Caches(home string, getenv func(string) string) []Cache {
	var all []Cache
	add := func(dir, program string) {
		_, err := exec.LookPath(program)
		all = append(all, Cache{Folder: dir, Make: program == "" || err == nil})
	}
	for _, v := range cacheVariables {
		for _, dir := range filepath.SplitList(getenv(v.name)) {
			if dir = filepath.Join(dir, v.below); v.isAt(dir) {
				add(dir, v.program)
			}
		}
	}
	for _, f := range cacheFolders {
		if files.IsFolder(home) {
			add(filepath.Join(home, filepath.FromSlash(f[0])), f[1])
		}
	}
	return outermostCaches(all)
}

// outermostCaches leaves out caches inside other caches.
func outermostCaches(all []Cache) []Cache {
	paths := make([]string, len(all))
	for i := range all {
		paths[i] = all[i].Folder
	}
	var kept []Cache
	for _, path := range files.Outermost(paths) {
		kept = append(kept, all[slices.IndexFunc(all, func(c Cache) bool { return c.Folder == path })])
	}
	return kept
}

// Find returns the cache's path with links resolved, and whether it exists. It first
// creates the cache if Make is set.
func (c Cache) Find() (string, bool) {
	if c.Make {
		_ = os.MkdirAll(c.Folder, 0o700) // if it fails, the program reports the missing folder
	}
	plain, err := filepath.EvalSymlinks(c.Folder)
	return plain, err == nil
}
