package sandbox

import "golang.org/x/sys/unix"

// oldModeCalls are the calls with a mode that newer processors have no number for.
var oldModeCalls = []modeCall{
	{number: unix.SYS_CHMOD, mode: 1}, {number: unix.SYS_MKNOD, mode: 1}, {number: unix.SYS_MKDIR, mode: 1},
	{number: unix.SYS_CREAT, mode: 1},
	{number: unix.SYS_OPEN, mode: 2, flags: 1, makes: unix.O_CREAT | tmpfile},
}

// oldPathCalls are those calls with a path that do not start from a folder.
var oldPathCalls = map[uint32]pathCall{
	unix.SYS_OPEN: {-1, 0}, unix.SYS_CREAT: {-1, 0}, unix.SYS_MKDIR: {-1, 0}, unix.SYS_MKNOD: {-1, 0},
	unix.SYS_UNLINK: {-1, 0}, unix.SYS_RMDIR: {-1, 0},
}

// oldDeleteCalls are those of them that delete.
var oldDeleteCalls = []uint32{unix.SYS_UNLINK, unix.SYS_RMDIR}

// oldMakeCalls are those of them that make what is not there.
var oldMakeCalls = []uint32{unix.SYS_MKDIR, unix.SYS_MKNOD}

// oldMoveCalls are the calls that rename and do not start from a folder.
var oldMoveCalls = []uint32{unix.SYS_RENAME}
