//go:build linux && !amd64

package sandbox

// oldModeCalls is empty here: this processor has only the calls that start from a folder.
var oldModeCalls []modeCall

// oldMoveCalls are none either.
var oldMoveCalls []uint32

// oldPathCalls are none either, and so are those of them that delete and that make.
var (
	oldPathCalls   map[uint32]pathCall
	oldDeleteCalls []uint32
	oldMakeCalls   []uint32
)
