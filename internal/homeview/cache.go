package homeview

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

// A Cache is a folder in which programs keep what they have built or fetched. Commands
// may change its content as they like: the folder stays as it is.
type Cache struct {
	Folder string
	// Make has the folder made, empty, where it is missing: a layer has to lie over
	// something, and without one the first build on a new machine could fetch nothing.
	Make bool
}

// A cacheVariable names folders in which caches are, where people have moved them, and the program that
// they are for; "" is for many. It is believed where the cache is empty, or holds what such a cache has.
type cacheVariable struct{ name, below, program, holds string }

var cacheVariables = []cacheVariable{
	{"XDG_CACHE_HOME", "", "", ""},
	{"GOCACHE", "", "go", "00"}, {"GOMODCACHE", "", "go", "cache/download"}, {"GOPATH", "pkg", "go", "mod"},
	{"npm_config_cache", "", "npm", "_cacache"},
	{"CARGO_HOME", "", "cargo", "registry"}, {"CARGO_HOME", "", "cargo", "bin/cargo"},
	{"GRADLE_USER_HOME", "", "java", "caches"}, {"GRADLE_USER_HOME", "", "java", "gradle.properties"},
	{"PNPM_HOME", "", "pnpm", "store"}, {"PNPM_HOME", "", "pnpm", "pnpm"},
}

// isAt reports whether a folder is the cache of the variable: a variable must not make another folder
// of a home seen.
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

// cacheFolders are where caches are in a home, and the program that each is for.
var cacheFolders = [][2]string{
	{".cache", ""}, {"go/pkg", "go"}, {".npm", "npm"}, {".cargo/registry", "cargo"}, {".cargo/git", "cargo"},
	{".gradle", "java"}, {".m2/repository", "java"}, {".local/share/pnpm", "pnpm"}, {".bun/install/cache", "bun"},
	{".yarn", "yarn"}, {".nuget/packages", "dotnet"},
}

// Caches are the folders in which builds and package managers keep their caches. Those
// of programs that are installed are made where they are missing.
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
		if isFolder(home) {
			add(filepath.Join(home, filepath.FromSlash(f[0])), f[1])
		}
	}
	return outermostCaches(all)
}

// outermostCaches leaves out what lies in another one.
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

// Find is where a cache is without links, and whether it is there. A cache that is wanted and
// missing is created now.
func (c Cache) Find() (string, bool) {
	if c.Make {
		_ = os.MkdirAll(c.Folder, 0o700) // without it the program says what it misses
	}
	plain, err := filepath.EvalSymlinks(c.Folder)
	return plain, err == nil
}
