package rulefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umpirehq/umpire"
)

// The modes of new files and folders. A project's files are shared through version
// control and hold no secrets; the user's files are private.
const (
	userFileMode      fs.FileMode = 0o600
	userFolderMode    fs.FileMode = 0o700
	projectFileMode   fs.FileMode = 0o644
	projectFolderMode fs.FileMode = 0o755
)

// errLink says that a rule file or a folder on the way to it is a symbolic link.
// Writing would change a file that the caller did not name.
var errLink = errors.New("refusing to write through a symbolic link")

// modes returns the modes of a file and of a folder that a layer's writer creates.
func (l Layer) modes() (file, folder fs.FileMode) {
	if l.Source == umpire.SourceProject {
		return projectFileMode, projectFolderMode
	}
	return userFileMode, userFolderMode
}

// refuseLinks returns errLink when the file is a link, or in a project when any
// folder between the project's root and the file is one.
func (l Layer) refuseLinks() error {
	path := filepath.Clean(l.Path)
	for {
		info, err := os.Lstat(path)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return umpire.Errorf("%s: %w", escapeControl(path), errLink)
		}
		path = filepath.Dir(path)
		if l.Source != umpire.SourceProject || path == filepath.Clean(l.Root) || path == filepath.Dir(path) {
			return nil
		}
	}
}

func makeFolder(path string, mode fs.FileMode) error {
	if err := os.MkdirAll(path, mode); err != nil {
		return umpire.Errorf("make folder %s: %w", escapeControl(path), err)
	}
	return nil
}
