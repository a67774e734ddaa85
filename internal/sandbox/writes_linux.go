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
	"github.com/umpirehq/umpire/internal/homeview"
)

// This file is how the observer sees that a command wanted to write where it may not: by the
// paths of calls that make, open for writing, or delete. The kernel refuses such a call after
// that, as it would anyway. Other ways to change a file, such as its mode, are not looked at.

// A pathCall says which arguments of a call are a path and the folder that it starts from, if
// there is one.
type pathCall struct{ folder, path int }

// pathCalls are those whose paths are looked at.
var pathCalls = func() map[uint32]pathCall {
	all := map[uint32]pathCall{
		unix.SYS_OPENAT: {0, 1}, unix.SYS_MKDIRAT: {0, 1}, unix.SYS_MKNODAT: {0, 1}, unix.SYS_UNLINKAT: {0, 1},
	}
	maps.Copy(all, oldPathCalls)
	return all
}()

// deleteCalls are those of them that delete; all others have a mode.
var deleteCalls = append([]uint32{unix.SYS_UNLINKAT}, oldDeleteCalls...)

// makeCalls are those that make something and fail where it is there already.
var makeCalls = append([]uint32{unix.SYS_MKDIRAT, unix.SYS_MKNODAT}, oldMakeCalls...)

// toWrite are the flags of a call that opens a file to write it.
const toWrite = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC

// unremarkable are folders that cannot be written and hold what can.
var unremarkable = []string{"/dev", "/proc"}

// observedCall is how a call with a mode goes on: the helper is asked about one that writes.
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

// noteWrite reports a path that a call is about, if nothing can be written there. With false it
// is another call.
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

// isIdle reports whether a call would change nothing anywhere: it makes what is there, as
// programs make sure of their folders, or deletes what is not.
func (w *observer) isIdle(call uint32, path string) bool {
	there := isPresent(path) || w.hides(path)
	return there && slices.Contains(makeCalls, call) || !there && slices.Contains(deleteCalls, call)
}

// refuses reports whether nothing can be made in a folder that is there, seen or not.
func (w *observer) refuses(dir string) bool { return isReadOnly(dir) || w.hides(dir) }

// hides reports whether a path is not seen and there all the same, in a home.
func (w *observer) hides(path string) bool {
	return !isPresent(path) && slices.ContainsFunc(w.homes, func(h homeview.Real) bool { return h.Has(path) })
}

// isReadOnly reports whether a folder is there and nothing can be written to it, wherever the
// links on the way lead.
func isReadOnly(dir string) bool {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer closeFD(fd)
	var info unix.Statfs_t
	return unix.Fstatfs(fd, &info) == nil && info.Flags&unix.ST_RDONLY != 0
}
