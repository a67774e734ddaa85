package sandbox

import (
	"path/filepath"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// An order is the helper's work in plain steps, planned by the process that starts it.
// Paths contain no links; the helper refuses those that do. It is not encoded as JSON
// because arguments and paths need not be UTF-8.
type order struct {
	Path string
	Args []string
	Env  []string
	Dir  string

	Layers layers
	Reach  reach
	// NoSockets refuses new unix sockets except pairs, because not every listening socket
	// could be hidden.
	NoSockets bool
	// Observe lets the kernel ask the helper about calls that may be refused.
	Observe bool
	// Exit passes connections to names to the process that started the helper.
	Exit bool
	// Texts replace the content of files that exist, by their names.
	Texts map[string]string
	// Open are writable files and folders, outer before inner.
	Open []string
	// Pinned are folders inside them that may be written but not moved, because guarded
	// paths are inside.
	Pinned []string
	// Guarded are files and folders inside them that must stay unchanged.
	Guarded []string
	// Absent are names inside them that must not be created. Empty folders take their place.
	Absent []string
	// Hidden are invisible, except for Shown.
	Hidden []string
	Shown  []string
	// Homes are the paths in Hidden of which parts are visible, and in which nothing can
	// be created. Stubs are links in them, or folders if they have no target.
	Homes []string
	Stubs []files.Link
	// Tmp is the folder that is mounted as /tmp; "" makes a temporary one.
	Tmp    string
	Caches []caches
	// Over are writable folders that stay unchanged.
	Over []caches
	// Check sets up the sandbox without starting a command.
	Check bool
	// Fault makes a step fail, for tests.
	Fault string
}

// A caches is a folder with a layer over it that receives the writes.
type caches struct {
	Folder string
	Upper  string
	Work   string // "" if Upper replaces Folder, which is empty
	// Inside are the visible folders of the layer. If empty, the whole folder is visible.
	Inside []string
	// At is the layer's temporary place while Inside is opened.
	At string
	// Volatile lets the system flush the layer at any time; it must not be reused.
	// Otherwise the kernel waits for the disk after each file that it copies up.
	Volatile bool
	// Device and Inode, if not 0, must match the folder.
	Device uint64
	Inode  uint64
}

// shown returns the writable folders.
func (c *caches) shown() []string {
	if len(c.Inside) == 0 {
		return []string{c.Folder}
	}
	var all []string
	for _, name := range c.Inside {
		all = append(all, filepath.Join(c.Folder, name))
	}
	return all
}

// A reach limits how far a command's sockets reach. The zero value is the strictest.
type reach uint8

const (
	reachNothing reach = iota // only unix sockets
	reachItself               // a private loopback
	reachMachine              // the machine's network
)

// reach returns the reach of a command. A private loopback needs a namespace; a read-only
// command needs it only for its way out.
func (l Limits) reach(which layers) reach {
	switch {
	case l.Network:
		return reachMachine
	case (l.Mode == umpire.SandboxWorkspaceWrite || l.Exit != nil) && which.has(withNamespaces):
		return reachItself
	}
	return reachNothing
}

// layers are the mechanisms in use. Each is useful without the others.
type layers uint8

const (
	withLandlock layers = 1 << iota
	withFilter          // seccomp
	withNamespaces
	allLayers = withLandlock | withFilter | withNamespaces
	// weakerLayers are available without namespaces.
	weakerLayers = withLandlock | withFilter
)

func (l layers) has(one layers) bool { return l&one == one }

// writable returns the folders that a command may write, really or in an overlay.
func (o *order) writable() []string {
	paths := slices.Clone(o.Open)
	for i := range o.Over {
		paths = append(paths, o.Over[i].Folder)
	}
	return paths
}

// A report is a message of the helper: first whether the command was started, then one
// for each observation.
type report struct {
	Started bool   `json:"started,omitempty"`
	Step    string `json:"step,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Address is an address that the command could not connect to.
	Address string `json:"address,omitempty"`
	// Write is a path that it could not write.
	Write []byte `json:"write,omitempty"`
	// Stuck is a folder that it could not move because of an overlay.
	Stuck []byte `json:"stuck,omitempty"`
	// Blind means that it could not be observed.
	Blind bool `json:"blind,omitempty"`
}
