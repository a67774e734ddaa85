package policy

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// HoldsSystem reports whether a resolved folder is a part of the operating system, or a
// person's whole home: only a person may make such a folder a project. home is the person's
// home, or "" if it is unknown.
func HoldsSystem(dir, home string) bool {
	dir, home = strings.ReplaceAll(dir, `\`, "/"), strings.ReplaceAll(home, `\`, "/")
	if home != "" && strings.HasPrefix(home+"/", strings.TrimSuffix(dir, "/")+"/") {
		return true // it is the home, or contains it
	}
	for _, list := range [][]string{systemFolders, homeFolders} {
		for _, pattern := range list {
			if doublestar.MatchUnvalidated(pattern, dir) {
				return true
			}
		}
	}
	return false
}
