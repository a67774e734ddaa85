package rulefile

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// A Format is the language of a rule file.
type Format uint8

// The formats.
const (
	FormatUmpire         Format = iota // umpire's own JSON, version 1
	FormatMuse                         // .muse/permissions.json: the same schema
	FormatClaudeYAML                   // .claude/permissions.yml
	FormatClaudeSettings               // the permissions block of Claude Code's settings.json
)

var formatNames = [...]string{
	FormatUmpire: "umpire", FormatMuse: "muse",
	FormatClaudeYAML: "claude-yaml", FormatClaudeSettings: "claude-settings",
}

// String returns the format's name; a value out of range is "unknown".
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return "unknown"
}

// FormatOf returns the format of a file by its name and folder. An unknown path has
// umpire's own format, the strictest.
func FormatOf(path string) Format {
	switch filepath.Base(path) {
	case "permissions.yml", "permissions.yaml":
		return FormatClaudeYAML
	case "settings.json", "settings.local.json":
		return FormatClaudeSettings
	}
	if filepath.Base(filepath.Dir(path)) == ".muse" {
		return FormatMuse
	}
	return FormatUmpire
}

// A Layer is one file that may hold rules. The zero Source never allows.
type Layer struct {
	Source umpire.Source
	Path   string
	Format Format
	// Root is the project's root; set for project layers only. A project
	// layer without a root can not be trusted.
	Root string
}

// fileName is the name of umpire's own rule files.
const fileName = "permissions.json"

// folderName is the folder of umpire's files in a project.
const folderName = ".umpire"

// Layers lists the rule files of a project: the managed one, the project's, the user's,
// in this order. Home is umpire's own folder of the user. An empty root means that
// there is no project.
//
// AlsoRead lists files of other tools. A relative name is relative to the project, and
// one that starts with ~/ to the user's home. A file inside the project always counts as
// the project's, because it comes with a clone.
func Layers(home, root string, alsoRead []string) []Layer {
	layers := []Layer{{Source: umpire.SourceManaged, Path: filepath.Join(files.Managed.Dir, fileName)}}
	user := Layer{Source: umpire.SourceUser, Path: filepath.Join(home, fileName)}
	if own := filepath.Join(root, folderName, fileName); root != "" && own != user.Path {
		layers = append(layers, Layer{Source: umpire.SourceProject, Path: own, Root: root})
	}
	users := []Layer{user}
	for _, name := range alsoRead {
		l, ok := alsoLayer(name, root)
		switch {
		case !ok:
		case l.Source == umpire.SourceProject:
			layers = append(layers, l)
		default:
			users = append(users, l)
		}
	}
	return append(layers, users...)
}

// alsoLayer places another tool's file in the project or with the user.
func alsoLayer(name, root string) (Layer, bool) {
	path, relative := filepath.Clean(name), false
	switch {
	case name == "":
		return Layer{}, false
	case strings.HasPrefix(name, "~/"):
		home, err := os.UserHomeDir()
		if err != nil {
			return Layer{}, false
		}
		path = filepath.Join(home, name[2:])
	case !filepath.IsAbs(path):
		path, relative = filepath.Join(root, path), true
	}
	if root == "" && relative {
		return Layer{}, false
	}
	l := Layer{Source: umpire.SourceUser, Path: path, Format: FormatOf(path)}
	if root != "" && (relative || isInside(root, path)) {
		l.Source, l.Root = umpire.SourceProject, root
	}
	return l, true
}

// isInside reports whether a path is below root, as written or with links resolved.
// Either suffices: in doubt, a file is the project's.
func isInside(root, path string) bool {
	return files.Within(root, path) || files.Within(resolveLinks(root), resolveLinks(path))
}

// resolveLinks follows links on the deepest existing ancestor of a path.
func resolveLinks(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolveLinks(parent), filepath.Base(path))
}

// shown is the name of the layer's file for people: relative to the project
// for a project's file.
func (l Layer) shown() string {
	if l.Root != "" && files.Within(l.Root, l.Path) {
		if rel, err := filepath.Rel(l.Root, l.Path); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return l.Path
}
