// Package sandbox runs a command that can change little more than its workspace, even if
// it is malicious.
//
//	place := sandbox.Place{Workspace: []string{root}, Home: home, Scratch: dir}
//	box, err := place.Wrap(cmd, limits) // cmd starts in the sandbox from now on
//	err = cmd.Start() ...
//	err = box.Close(cmd.Wait())
//
// A program that uses the package must call [Main] first: on Linux the sandbox's helper
// is the same program, started again.
//
// Guarantees if [Available] reports full:
//
//   - The command and its child processes change files below the writable folders and nothing else, not even
//     the times, modes or attributes of other files.
//   - Inside a writable folder it cannot change the policy's guarded places, which decide what runs without anyone
//     asking: git's hooks and settings, umpire's rules, editors' tasks. A new one is renamed after the command has
//     ended.
//   - It sees only its own processes and no sockets of the machine's services, and has a private /tmp. It has no
//     network unless allowed; a command that may write to its workspace has a private loopback, because tests
//     start servers and connect to them.
//   - It cannot gain privileges, and ends with the process that started it.
//   - If a step of the setup fails, the sandbox exits with code 125 before the command starts, and [Box.Close]
//     names the step: no command runs with less protection than requested.
//
// Reading is not restricted, except for paths hidden by name, and in homes for a command with a [View]: it sees
// toolchains and settings that a table names, and none of the users' own files. No home is visible as a whole,
// regardless of the environment, links or lists, and a project cannot make anything visible, for example with a link.
//
// # Temporary folders
//
// A [ScratchLedger] remembers which files in temporary folders a session was about to make, so it may
// write them again without a question. Other projects, builds and agents also have files there.
//
//	ledger := sandbox.NewScratchLedger(state, time.Now)
//	err := ledger.Claim(session, paths)  // before a call makes them
//	own := ledger.Made(session, path)    // before a later call writes one
//
// A claim applies to a file created shortly after it. If the system does not report
// creation times, a session has made no files.
package sandbox

import (
	"errors"
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/egress"
)

// exitSetup is the exit code of a failed setup. A command may use it too; only
// [Box.Close] distinguishes the two.
const exitSetup = 125

// ErrUnavailable means that this machine has no sandbox.
var ErrUnavailable = errors.New("there is no sandbox on this machine")

// A SetupError is the reason why the sandbox was not set up. The command did not start.
type SetupError struct {
	Step   string // the failed step
	Reason string
}

func (e *SetupError) Error() string {
	return fmt.Sprintf("the sandbox could not be set up, so the command did not start: %s: %s", e.Step, e.Reason)
}

// Limits describe what a command may do. The zero value allows no writes and no network.
type Limits struct {
	Mode    umpire.SandboxMode
	Network bool
	// Open are absolute paths that may be written in addition to the workspace, even
	// guarded ones in it, because a person allowed exactly these.
	Open []string
	// Seen are paths that may be read although the sandbox hides their surroundings, such
	// as /tmp.
	Seen []string
	// Git are the git subcommands that the command line itself runs. Their own state may
	// be written, such as that of a rebase.
	Git []string
	// Installs means that the command line runs a package manager. It replaces files
	// linked to its store instead of writing to them.
	Installs bool
	// Weaker uses the available layers if not all are available.
	Weaker bool
	// Observe reports refused operations in [Box.Seen], and moves folders that an overlay
	// cannot move.
	Observe bool
	// Exit leads connections to names out of the private network of an observed command. If nil, none leave. Only
	// Linux has it.
	Exit *egress.Exit
	// Ahead is a helper that has already started, for a command started by [Box.Start], or nil.
	Ahead *Ahead
}

// A Place is the environment in which the commands of a session run. All paths are
// absolute. It is safe for concurrent use.
type Place struct {
	// Workspace are the folders that workspace-write may write.
	Workspace []string
	// Home is the user's home, and State umpire's own folder; "" if unknown.
	Home, State string
	// Scratch is a private folder of the session. It keeps /tmp and changes in caches for
	// later commands. If "", they are deleted after each command.
	Scratch string
	// Cache are the build caches. Changes by commands are stored in Scratch; without
	// Scratch the caches are read-only.
	Cache []Cache
	// CacheLayers replaces Scratch for the cache changes of a command under Overlays. It has no links and is
	// used by one command at a time; the next one sees these changes. If "", Scratch is used.
	CacheLayers string
	// Show are paths that the user wants visible although homes are hidden; ~ stands for Home.
	Show []string
	// View is the visible part of homes, if it hides anything.
	View View
	// Overlays lie over the folders of Workspace, if any: a command sees its own changes,
	// and the folders stay unchanged. Nothing inside is guarded then, because its changes
	// are not real. Overlays need namespaces.
	Overlays []Overlay

	slots slots
	watch sentry
}

// clockTolerance is the accepted lag of a file system's clock.
const clockTolerance = time.Second

// String describes the limits to a model or user whose command failed.
func (l Limits) String() string {
	text := "the sandbox let this command change nothing but its own /tmp"
	if l.Mode == umpire.SandboxWorkspaceWrite {
		text = "the sandbox let this command change only the workspace (not git's hooks and settings in it, nor " +
			"what decides what runs by itself) and its own /tmp"
	}
	if l.Exit != nil {
		text += ", and connect only to the destinations that it names"
	} else if !l.Network {
		text += ", and kept it from the network and from servers that it did not start itself"
	}
	return text + "; if that is why it failed, running it again will not help"
}
