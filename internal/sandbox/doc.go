// Package sandbox runs a command so that it can change little more than its
// workspace, whatever it turns out to do.
//
//	place := sandbox.Place{Workspace: []string{root}, Home: home, Scratch: dir}
//	box, err := place.Wrap(cmd, limits) // cmd starts in the sandbox from now on
//	err = cmd.Start() ...
//	err = box.Close(cmd.Wait())
//
// A program that uses the package calls [Main] before anything else: on Linux the
// sandbox is set up by the same program, started anew.
//
// What the package keeps true, where [Available] says full:
//
//   - The command, and everything that it starts, changes files below its writable
//     folders and nothing else: not their times, modes or attributes either.
//   - Inside a writable folder it cannot change what decides what runs without
//     anyone asking, the places of the policy's table: git's hooks and settings, umpire's
//     rules, editors' tasks. A new one is renamed when the command has ended.
//   - It sees no process but its own, no socket of the machine's services, and has
//     a /tmp of its own. It has no network unless it was given one; what may write in its
//     workspace has a loopback of its own, since tests start servers and ask them.
//   - It cannot gain rights, and ends with the process that started it.
//   - A step of the set-up that fails ends it before the command starts, with exit
//     code 125, and [Box.Close] says which: nothing runs with less than was asked.
//
// Reading is not restricted, but for what is hidden by name.
package sandbox

import (
	"errors"
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/homeview"
)

// exitSetup is the exit code of a sandbox that could not be set up. A command may
// end with it too; only [Box.Close] tells the two apart.
const exitSetup = 125

// ErrUnavailable says that this machine has no sandbox.
var ErrUnavailable = errors.New("there is no sandbox on this machine")

// A SetupError says why the sandbox was not set up. The command did not start.
type SetupError struct {
	Step   string // what was being done
	Reason string
}

func (e *SetupError) Error() string {
	return fmt.Sprintf("the sandbox could not be set up, so the command did not start: %s: %s", e.Step, e.Reason)
}

// Limits are what a command may do. The zero value may write nothing and has no
// network.
type Limits struct {
	Mode    umpire.SandboxMode
	Network bool
	// Open are paths that may be written beside the workspace, protected ones in it
	// included, because a person allowed just that. They are absolute.
	Open []string
	// Seen are paths that may be read although they lie where the sandbox hides things,
	// such as in /tmp.
	Seen []string
	// Git are the subcommands of git that the command line itself runs. Their own state may
	// be written, such as that of a rebase.
	Git []string
	// Installs says that the command line runs a package manager, which replaces the files
	// that it has linked to its store and does not write to them.
	Installs bool
	// Weaker uses the available layers where not all are available.
	Weaker bool
	// Observe reports in [Box.Seen] what the command was refused, and moves folders that an
	// overlay would not.
	Observe bool
	// Ahead is a helper that has started already, for a command that [Box.Start] starts; nil for none.
	Ahead *Ahead
}

// A Place is where the commands of a session run. All paths are absolute. It is
// safe for concurrent use.
type Place struct {
	// Workspace are the folders that may be written in workspace-write.
	Workspace []string
	// Home is the person's, and State umpire's own folder; "" where it is not known.
	Home, State string
	// Scratch is a private folder of the session: what its commands leave in /tmp and
	// in caches lasts as long as it. "" forgets it after each command.
	Scratch string
	// Cache are the caches of builds. What commands change in them goes to Scratch;
	// without Scratch they are read-only.
	Cache []homeview.Cache
	// CacheLayers takes the place of Scratch for what a command under Overlays changes in caches. It has
	// no links, and one command uses it at a time; the next one sees those changes. "" is Scratch.
	CacheLayers string
	// Show are paths that the person wants seen where homes are hidden; ~ stands for Home.
	Show []string
	// View, where it hides something, is what a command sees of homes.
	View homeview.View
	// Overlays, where there are any, lie over the folders of Workspace: a command sees its
	// own changes, and the folders stay as they are. Nothing is guarded in them then,
	// since nothing in them is real. They need namespaces.
	Overlays []Overlay

	slots slots
	watch sentry
}

// clockTolerance is by how much a file system's clock may be behind.
const clockTolerance = time.Second

// String says what holds, for a model or a person whose command failed.
func (l Limits) String() string {
	text := "the sandbox let this command change nothing but its own /tmp"
	if l.Mode == umpire.SandboxWorkspaceWrite {
		text = "the sandbox let this command change only the workspace (not git's hooks and settings in it, nor " +
			"what decides what runs by itself) and its own /tmp"
	}
	if !l.Network {
		text += ", and kept it from the network and from servers that it did not start itself"
	}
	return text + "; if that is why it failed, running it again will not help"
}
