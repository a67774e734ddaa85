package judge

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/place"
)

// maxEntries bounds the names read from a folder.
const maxEntries = 100_000

// findManifest returns the first of the files in a folder or one above it, up to the root of the project,
// whose content matters. It returns "" if it finds no such file. Above the project the files are
// the user's own. Outside it, Find searches every folder above except the home.
func findManifest(g *place.Bounds, dir string, names ...string) string {
	dir, err := files.Canonical(dir)
	if err != nil {
		return dir + string(filepath.Separator) // a file that cannot be looked for may exist
	}
	for {
		for _, name := range names {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if _, err := os.Lstat(file); err == nil && !namesNoCode(file) {
				return file
			}
		}
		above := filepath.Dir(dir)
		if dir == g.Root || above == dir || above == g.Home {
			return ""
		}
		dir = above
	}
}

// codeWords are words that name code in the settings of package managers. Only settings with such a
// word matter. Files of other names always matter.
var codeWords = []struct {
	file  string
	words []string
}{
	{".npmrc", []string{
		"shell", "git", "browser", "viewer", "editor", "node-options", "prefix", "globalconfig", "userconfig",
		"init-module", "onload", "pnpmfile", "hook", "cache", "tmp", "gyp", "python", "script",
	}},
	{"pnpm-workspace.yaml", []string{
		"pnpmfile", "configdependencies", "shell", "hook", "script", "nodeoptions", "managepackagemanager", "execpath",
	}},
}

// namesNoCode reports whether a settings file names no code.
func namesNoCode(file string) bool {
	for _, l := range codeWords {
		if l.file == filepath.Base(file) {
			return !saysAny(file, l.words)
		}
	}
	return false
}

// saysAny reports whether a settings file contains one of the words, is unreadable, or could hide a
// word: with escapes and anchors, or with variables in the name of a setting, which npm expands.
func saysAny(file string, words []string) bool {
	data, err := files.ReadSmall(file, maxManifest)
	if err != nil || bytes.ContainsAny(data, "\\&") {
		return true
	}
	text := strings.ToLower(string(data))
	for line := range strings.Lines(text) {
		if name, _, _ := strings.Cut(line, "="); strings.Contains(name, "$") {
			return true
		}
	}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// listEntries returns the names in a folder.
func listEntries(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxEntries)
	if len(names) == maxEntries {
		return nil, errTooLarge
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}
