package gitdir

import (
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
)

// maxTracked is how long a file may be whose content is compared with the index.
const maxTracked = 4 << 20

// Tracked returns which of some files are just as the index of their repository has them,
// so that everybody who has the repository has them. A file that cannot be compared is
// not among them. An entry for a file with another content tells nothing: whoever can
// write the index can make one. The hashes are those that git may use, which a hook that
// imports this package has no use for.
func Tracked(paths []string, hashes ...func() hash.Hash) map[string]bool {
	found := map[string]bool{}
	tops := map[string][]string{}
	for _, path := range paths {
		if top := worktreeOf(filepath.Dir(path)); top != "" {
			tops[top] = append(tops[top], path)
		}
	}
	for top, files := range tops {
		gitDir, err := Find(filepath.Join(top, ".git"))
		if err != nil {
			continue
		}
		for _, h := range hashes {
			if trackedIn(filepath.Join(gitDir, "index"), top, files, h, found) == nil {
				break
			}
		}
	}
	return found
}

// worktreeOf is the folder at or above a folder that has a .git, or "".
func worktreeOf(dir string) string {
	for {
		if files.Exists(dir, ".git") {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// trackedIn adds the files that are as an index, and the one that it builds on, has them.
func trackedIn(file, top string, paths []string, newHash func() hash.Hash, found map[string]bool) error {
	f, err := files.OpenSmall(file, maxIndex)
	if err != nil {
		return err
	}
	wanted := map[string]string{}
	for _, path := range paths {
		wanted[filepath.ToSlash(strings.TrimPrefix(path, top+string(filepath.Separator)))] = path
	}
	base, err := parseIndex(f, newHash().Size(), func(e indexed) {
		path := wanted[string(e.name)]
		if path == "" {
			return
		}
		if name, err := blobName(path, newHash()); err == nil && name == string(e.object) {
			found[path] = true
		}
	})
	_ = f.Close() // it was only read
	if err == nil && base != "" {
		err = trackedIn(filepath.Join(filepath.Dir(file), "sharedindex."+base), top, paths, newHash, found)
	}
	return err
}

// blobName is the name that git gives to the content of a file.
func blobName(path string, h hash.Hash) (string, error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return "", files.ErrNotRegular
	}
	data, err := files.ReadSmall(path, maxTracked)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return string(h.Sum(nil)), nil
}
