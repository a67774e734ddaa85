package sandbox

import "golang.org/x/sys/unix"

// oldModeCalls are the calls with a mode that newer architectures lack.
var oldModeCalls = []modeCall{
	{number: unix.SYS_CHMOD, mode: 1}, {number: unix.SYS_MKNOD, mode: 1}, {number: unix.SYS_MKDIR, mode: 1},
	{number: unix.SYS_CREAT, mode: 1},
	{number: unix.SYS_OPEN, mode: 2, flags: 1, makes: unix.O_CREAT | tmpfile},
}

// oldPathCalls are the calls with a path that is not relative to a folder argument.
var oldPathCalls = map[uint32]pathCall{
	unix.SYS_OPEN: {-1, 0}, unix.SYS_CREAT: {-1, 0}, unix.SYS_MKDIR: {-1, 0}, unix.SYS_MKNOD: {-1, 0},
	unix.SYS_UNLINK: {-1, 0}, unix.SYS_RMDIR: {-1, 0},
}

// oldDeleteCalls are the deleting calls among oldPathCalls.
var oldDeleteCalls = []uint32{unix.SYS_UNLINK, unix.SYS_RMDIR}

// oldMakeCalls are the calls among oldPathCalls that create new entries.
var oldMakeCalls = []uint32{unix.SYS_MKDIR, unix.SYS_MKNOD}

// oldMoveCalls are the renaming calls without folder arguments.
var oldMoveCalls = []uint32{unix.SYS_RENAME}
