package sandbox

import "golang.org/x/sys/unix"

// oldModeCalls are the calls with a mode that newer processors have no number for.
var oldModeCalls = []modeCall{
	{number: unix.SYS_CHMOD, mode: 1}, {number: unix.SYS_MKNOD, mode: 1}, {number: unix.SYS_MKDIR, mode: 1},
	{number: unix.SYS_CREAT, mode: 1},
	{number: unix.SYS_OPEN, mode: 2, flags: 1, makes: unix.O_CREAT | tmpfile},
}

// oldMoveCalls are the calls that rename and do not start from a folder.
var oldMoveCalls = []uint32{unix.SYS_RENAME}
