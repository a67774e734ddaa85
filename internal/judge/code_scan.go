package judge

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// Limits of a project. A project that exceeds them is not trusted.
const (
	maxFolders   = 50_000
	maxManifests = 5_000
	maxManifest  = 4 << 20
	// settled is the minimum age of a file whose times prove that it is unchanged.
	settled = 2 * time.Second
)

var errTooLarge = errors.New("the project has too many folders to search")

// findFiles returns the files of a project that name code, by their paths from its root with
// slashes, and the repositories in it. It follows a link with the name of a folder of such files,
// but no link below it.
func findFiles(root string) (files, repositories []string, err error) {
	folders, linked := []string{""}, map[string]bool{}
	for at := 0; at < len(folders); at++ {
		if at > maxFolders || len(files) > maxManifests {
			return nil, nil, errTooLarge
		}
		dir := folders[at]
		entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
		if err != nil {
			return nil, nil, umpire.Errorf("search the project: %w", err)
		}
		for _, entry := range entries {
			name := path.Join(dir, entry.Name())
			switch {
			case entry.Name() == ".git" && dir != "":
				repositories = append(repositories, name)
			case entry.IsDir() && !isPassed(entry.Name()):
				folders = append(folders, name)
				linked[name] = linked[dir]
			case !linked[dir] && leadsToFolder(root, name, entry) && inKindFolder(entry.Name()):
				folders = append(folders, name)
				linked[name] = true
			case !entry.IsDir() && kindOf(name) != nil:
				files = append(files, name)
			}
		}
	}
	return files, repositories, nil
}

// leadsToFolder reports whether an entry is a link to a folder.
func leadsToFolder(root, name string, entry os.DirEntry) bool {
	if entry.Type()&os.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil && info.IsDir()
}

// readParts reads the relevant parts of a file. A link counts as its target's content and path.
func readParts(root, name string) (map[string][]byte, error) {
	file := filepath.Join(root, filepath.FromSlash(name))
	data, err := files.ReadSmall(file, maxManifest)
	switch {
	case errors.Is(err, files.ErrNotRegular) || files.Missing(err):
		data = []byte("not a file") // a folder of that name, or a dangling link
	case err != nil:
		return nil, err
	}
	parts := map[string][]byte{"": data}
	if split := kindOf(name).parts; split != nil {
		parts = split(data)
	}
	if target, err := os.Readlink(file); err == nil {
		parts["link"] = []byte(target)
	}
	return parts, nil
}

// stampOf returns the current stamp of a file, or "" if its times cannot prove that it stays the
// same.
func stampOf(root, name string, now time.Time) string {
	text, changed, err := files.Stamp(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil || now.Sub(changed) < settled {
		return ""
	}
	return text
}

// innerHead returns the commit of a repository within the project.
func innerHead(root, name string) string {
	dotGit := filepath.Join(root, filepath.FromSlash(name))
	gitDir, err := gitdir.Find(dotGit)
	if err != nil {
		return "unknown"
	}
	commit, err := gitdir.ReadHead(gitDir, gitDir)
	if err != nil {
		return "unknown"
	}
	return commit
}
