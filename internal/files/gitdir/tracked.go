package gitdir

import (
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
)

// maxTracked is the maximum size of a file to compare with the index.
const maxTracked = 4 << 20

// Tracked returns the files whose content equals the entry in their repository's index, which
// means that everyone with the repository has them. It leaves out files that it cannot compare.
// An entry with another content proves nothing, because any writer of the index can create one.
// hashes are the hash functions git may use; they are parameters because a hook that imports
// this package does not need them.
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

// worktreeOf returns the nearest folder at or above dir that has a .git, or "".
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

// trackedIn adds the files that match their entry in an index or its shared index.
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
	_ = f.Close() // the file was only read
	if err == nil && base != "" {
		err = trackedIn(filepath.Join(filepath.Dir(file), "sharedindex."+base), top, paths, newHash, found)
	}
	return err
}

// blobName returns git's object name for the content of a file.
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
