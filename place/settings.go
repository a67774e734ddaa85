package place

import (
	"path/filepath"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/shell"
)

// maxSettings is how long a file of settings may be.
const maxSettings = 1 << 20

// settingsFiles returns the files of the names that lie in a folder or in one above it,
// the nearest first. The person's home and what lies above it are left out: whoever can
// write there needs no project. An error says that a file could not be read.
func settingsFiles(dir, home string, names []string) ([]shell.SettingsFile, error) {
	dir, err := files.Canonical(dir)
	if err != nil {
		return nil, err
	}
	if home != "" {
		if home, err = files.Canonical(home); err != nil {
			return nil, err
		}
	}
	var found []shell.SettingsFile
	for dir != home {
		for _, name := range names {
			path := filepath.Join(dir, filepath.FromSlash(name))
			text, err := files.ReadSmall(path, maxSettings)
			if files.Missing(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			found = append(found, shell.SettingsFile{Path: filepath.ToSlash(path), Text: string(text)})
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return found, nil
}
