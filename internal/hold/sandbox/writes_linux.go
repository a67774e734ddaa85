package sandbox

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files"
)

// This file detects attempts to write read-only paths, from the paths of calls that
// create, open for writing or delete. The kernel then refuses such a call as usual. Other
// changes of a file, such as its mode, are not observed.

// A pathCall holds the indexes of the arguments with a path and with the folder that it
// is relative to. folder is -1 if the path is always relative to the working directory.
type pathCall struct{ folder, path int }

// pathCalls are the calls whose paths are inspected.
var pathCalls = func() map[uint32]pathCall {
	all := map[uint32]pathCall{
		unix.SYS_OPENAT: {0, 1}, unix.SYS_MKDIRAT: {0, 1}, unix.SYS_MKNODAT: {0, 1}, unix.SYS_UNLINKAT: {0, 1},
	}
	maps.Copy(all, oldPathCalls)
	return all
}()

// deleteCalls are the deleting calls; all others have a mode.
var deleteCalls = append([]uint32{unix.SYS_UNLINKAT}, oldDeleteCalls...)

// makeCalls create an entry and fail if it exists.
var makeCalls = append([]uint32{unix.SYS_MKDIRAT, unix.SYS_MKNODAT}, oldMakeCalls...)

// toWrite are the flags of a call that opens a file for writing.
const toWrite = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC

// unremarkable are read-only folders with writable entries.
var unremarkable = []string{"/dev", "/proc"}

// observedCall returns how a call with a mode continues: the helper is asked about writing calls.
func (o *order) observedCall(c *modeCall) []bpf.Instruction {
	_, looked := pathCalls[c.number]
	switch {
	case !o.Observe || !looked:
		return []bpf.Instruction{permit}
	case c.makes == 0:
		return []bpf.Instruction{askAbout}
	}
	return []bpf.Instruction{
		loadArgument(c.flags), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: toWrite, SkipTrue: 1}, permit, askAbout,
	}
}

// noteWrite reports a call's path if it is read-only. It returns false if the call has no
// such path.
func (w *observer) noteWrite(n *notice) bool {
	call, is := pathCalls[n.number]
	if !is {
		return false
	}
	path, err := readText(n.thread, n.arguments[call.path])
	if err != nil || path == "" {
		return true
	}
	if !filepath.IsAbs(path) {
		start := fmt.Sprintf("/proc/%d/cwd", n.thread)
		if call.folder >= 0 && int32(n.arguments[call.folder]) != unix.AT_FDCWD {
			start = fmt.Sprintf("/proc/%d/fd/%d", n.thread, int32(n.arguments[call.folder]))
		}
		dir, err := os.Readlink(start)
		if err != nil {
			return true
		}
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	if w.isIdle(n.number, path) {
		return true
	}
	if !files.WithinAny(unremarkable, path) && w.refuses(filepath.Dir(path)) {
		w.tell(report{Write: []byte(path[:min(len(path), maxPath)])})
	}
	return true
}

// isIdle reports whether a call would never change anything: it creates an existing path,
// as programs do to ensure that a folder exists, or deletes a missing one.
func (w *observer) isIdle(call uint32, path string) bool {
	there := isPresent(path) || w.hides(path)
	return there && slices.Contains(makeCalls, call) || !there && slices.Contains(deleteCalls, call)
}

// refuses reports whether nothing can be created in an existing folder, visible or not.
func (w *observer) refuses(dir string) bool { return isReadOnly(dir) || w.hides(dir) }

// hides reports whether a path in a home exists but is hidden.
func (w *observer) hides(path string) bool {
	return !isPresent(path) && slices.ContainsFunc(w.homes, func(h realFolder) bool { return h.has(path) })
}

// isReadOnly reports whether a folder exists and is read-only. It follows links.
func isReadOnly(dir string) bool {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer closeFD(fd)
	var info unix.Statfs_t
	return unix.Fstatfs(fd, &info) == nil && info.Flags&unix.ST_RDONLY != 0
}
