package sensitive

import (
	"slices"
	"strings"
)

// outputs are dot-folders that tools fill with builds, caches or reports. Only these tools read
// them again, so a trial may create them.
const outputs = `
	.venv .tox .nox .pytest_cache .mypy_cache .ruff_cache .pytype .hypothesis .ipynb_checkpoints .eggs .pixi .pdm-build
	.next .nuxt .svelte-kit .astro .output .turbo .nx .parcel-cache .vite .cache .angular .docusaurus .expo .nyc_output
	.vercel .netlify .wrangler .serverless .aws-sam .terraform .pnpm-store .yarn
	.gradle .kotlin .dart_tool .stack-work .elixir_ls .build .swiftpm .metals .bloop .zig-cache .phpunit.cache
	.scannerwork .fingerprint
`

// packages are folders that package managers fill with third-party files, including dot-folders.
var packages = []string{"node_modules", "vendor", "bower_components"}

// builds are further folders that tools fill with builds and can recreate.
var builds = []string{"target", "dist", "build", "__pycache__", "htmlcov", "obj", "zig-out"}

// IsOutputFolder reports whether tools fill, and can refill, folders with this name.
func IsOutputFolder(name string) bool {
	return slices.Contains(packages, name) || slices.Contains(builds, name) ||
		slices.Contains(strings.Fields(outputs), name)
}

// workTrees is the conventional folder for further work trees of the repository. Each folder in
// it is judged by its own name.
const workTrees = ".worktrees"

// DotFolders returns the dot-folders on the way to a path below a project, outermost first. It
// stops at a folder that tools fill. If folder is true, the path itself may be one.
func DotFolders(path string, folder bool) (found []string) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		switch {
		case slices.Contains(packages, part), slices.Contains(strings.Fields(outputs), part):
			return found
		case len(part) > 1 && part[0] == '.' && part != ".." && part != workTrees && (folder || i < len(parts)-1):
			found = append(found, strings.Join(parts[:i+1], "/"))
		}
	}
	return found
}
