//go:build linux && !amd64

package sandbox

// oldModeCalls is empty because this architecture only has calls with folder arguments.
var oldModeCalls []modeCall

// oldMoveCalls is empty for the same reason.
var oldMoveCalls []uint32

// oldPathCalls, oldDeleteCalls and oldMakeCalls are empty for the same reason.
var (
	oldPathCalls   map[uint32]pathCall
	oldDeleteCalls []uint32
	oldMakeCalls   []uint32
)
