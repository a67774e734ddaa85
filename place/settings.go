package place

import (
	"path/filepath"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/shell"
)

// maxSettings is the maximum size of a settings file.
const maxSettings = 1 << 20

// settingsFiles returns the files with one of the names in a folder or above it, the nearest
// first. It leaves out the person's home and the folders above it, because an attacker with
// write access there needs no project. It fails if a file cannot be read.
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
