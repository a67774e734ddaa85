package sandbox

import "path/filepath"

// cacheVariables name folders of caches, where people have moved them.
var cacheVariables = []string{"XDG_CACHE_HOME", "GOCACHE", "GOMODCACHE", "npm_config_cache", "CARGO_HOME", "GRADLE_USER_HOME", "PNPM_HOME"}

// cacheFolders are where programs keep what they have built or fetched, in a home.
var cacheFolders = []string{
	".cache", "go/pkg", ".npm", ".cargo/registry", ".cargo/git", ".gradle", ".m2/repository",
	".local/share/pnpm", ".bun/install/cache", ".yarn", ".nuget/packages", "Library/Caches",
}

// Caches are the folders in which builds and package managers keep their caches.
// Nothing says that they exist.
func Caches(home string, getenv func(string) string) []string {
	var all []string
	for _, name := range cacheVariables {
		if dir := getenv(name); filepath.IsAbs(dir) {
			all = append(all, dir)
		}
	}
	for _, name := range cacheFolders {
		if home != "" {
			all = append(all, filepath.Join(home, filepath.FromSlash(name)))
		}
	}
	return outermost(all)
}
