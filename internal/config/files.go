package config

import (
	"errors"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/rulefile"
)

// A file is one configuration file, and whose it is.
type file struct {
	path   string
	source umpire.Source
}

// managedFile is the administrator's configuration of this machine.
func managedFile() string { return filepath.Join(files.Managed.Dir, FileName) }

// filesOf lists the files of a configuration, highest precedence first. It skips the file
// of an empty home or root.
func filesOf(home, root string) []file {
	files := []file{{managedFile(), umpire.SourceManaged}}
	user := filepath.Join(home, FileName)
	if home != "" {
		files = append(files, file{user, umpire.SourceUser})
	}
	own := filepath.Join(root, ".umpire", FileName)
	if root != "" && (home == "" || own != user) {
		files = append(files, file{own, umpire.SourceProject})
	}
	return files
}

// Files are the paths of the files that the configuration of a project is read from,
// whether they exist or not.
func Files(home, root string) []string {
	var paths []string
	for _, f := range filesOf(home, root) {
		paths = append(paths, f.path)
	}
	return paths
}

// readFiles reads files over the defaults, in their order.
func readFiles(files []file) (*Config, error) {
	c := defaults()
	for _, f := range files {
		if err := c.read(f); err != nil {
			return nil, err
		}
	}
	c.prepare()
	return c, nil
}

// guarded refuses a file that users other than its owner could have written, because it can start
// programs and switch the mode.
func (f file) guarded() error {
	switch {
	case f.source == umpire.SourceManaged && !rulefile.OwnedByAdmin(f.path):
		return umpire.Errorf("%s: users other than the administrator can write the file or its folder: chown root "+
			"and chmod go-w both", f.path)
	case f.source == umpire.SourceUser && rulefile.WritableByAll(f.path):
		return umpire.Errorf("%s: everybody can write the file or its folder: chmod go-w", f.path)
	}
	return nil
}

// fault returns an error in the file, with its line if it has one.
func (f file) fault(err error) error {
	if at, located := errors.AsType[*docedit.Error](err); located {
		return umpire.Errorf("%s:%d: %w", f.path, at.Line, at.Err)
	}
	return umpire.Errorf("%s: %w", f.path, err)
}
