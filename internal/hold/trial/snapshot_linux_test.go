package trial

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// snapshot describes a folder with all its content: names, modes, owners, times, link
// targets, hard links, and content.
func snapshot(t testing.TB, root string) map[string]string {
	t.Helper()
	all, first := map[string]string{}, map[uint64]string{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var info unix.Stat_t
		if err := unix.Lstat(path, &info); err != nil {
			return err
		}
		name := strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
		text := fmt.Sprintf("%o %d:%d", info.Mode, info.Uid, info.Gid)
		switch info.Mode & unix.S_IFMT {
		case unix.S_IFLNK:
			to, _ := os.Readlink(path)
			text += " -> " + to
		case unix.S_IFREG:
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %d.%09d %q", info.Mtim.Sec, info.Mtim.Nsec, content)
			if info.Nlink > 1 && first[info.Ino] == "" {
				first[info.Ino] = name
			} else if info.Nlink > 1 {
				text += " same as " + first[info.Ino]
			}
		case unix.S_IFDIR:
			text += fmt.Sprintf(" %d.%09d", info.Mtim.Sec, info.Mtim.Nsec)
		}
		all[name] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
