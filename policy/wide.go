package policy

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// HoldsSystem reports whether a resolved folder is a part of the operating system, or a
// person's whole home: nobody but a person makes such a folder a project. Home is that of
// the person, "" where it is not known.
func HoldsSystem(dir, home string) bool {
	dir, home = strings.ReplaceAll(dir, `\`, "/"), strings.ReplaceAll(home, `\`, "/")
	if home != "" && strings.HasPrefix(home+"/", strings.TrimSuffix(dir, "/")+"/") {
		return true // it is the home, or the home lies in it
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
