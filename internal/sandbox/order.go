package sandbox

import (
	"path/filepath"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// An order is what the helper is told: plain steps, worked out by the process that
// starts it. Paths hold no links; the helper refuses those that do. It travels as bytes and not
// as JSON: arguments and paths need not be UTF-8.
type order struct {
	Path string
	Args []string
	Env  []string
	Dir  string

	Layers layers
	Reach  reach
	// NoSockets refuses new unix sockets, but for pairs: not every one that somebody
	// listens at could be hidden.
	NoSockets bool
	// Observe has the helper asked about system calls that may be refused.
	Observe bool
	// Open are files and folders that may be written, the outer before the inner.
	Open []string
	// Pinned are folders inside them that may be written and not be moved away, since
	// something guarded lies in them.
	Pinned []string
	// Guarded are files and folders inside them that stay as they are.
	Guarded []string
	// Absent are names inside them that must not be made. Empty folders stand there.
	Absent []string
	// Hidden cannot be seen, but for Shown.
	Hidden []string
	Shown  []string
	// Homes are those of Hidden of which only parts are seen, and in which nothing can be made. Stubs are links in
	// them, and folders where they have no target.
	Homes []string
	Stubs []files.Link
	// Tmp is the folder that is /tmp inside; "" makes one that is forgotten.
	Tmp    string
	Caches []caches
	// Over are folders that may be written, and stay as they are.
	Over []caches
	// Check sets everything up and starts nothing.
	Check bool
	// Fault makes a step fail, for tests.
	Fault string
}

// A caches is a folder with a layer over it that takes what is written.
type caches struct {
	Folder string
	Upper  string
	Work   string // "" where Upper itself takes the place of Folder, which is empty
	// Inside are the folders in it of which the layer is seen; nothing else of it is. None
	// says the folder itself.
	Inside []string
	// At is where the layer is while these are taken hold of.
	At string
	// Volatile says that the layer is written to the disk when the system likes, and is not
	// used again. Else the kernel waits for the disk with each file that it copies up.
	Volatile bool
	// Device and Inode, where they are not 0, are those that the folder must have.
	Device uint64
	Inode  uint64
}

// shown are the folders that can be written.
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

// A reach is how far a command's sockets get. The zero value is the shortest.
type reach uint8

const (
	reachNothing reach = iota // no sockets but unix ones
	reachItself               // a loopback of its own, which leads nowhere else
	reachMachine              // the network that the machine has
)

// reach is how far a command gets. A loopback of its own takes a namespace; a command
// that only looks needs none.
func (l Limits) reach(which layers) reach {
	switch {
	case l.Network:
		return reachMachine
	case l.Mode == umpire.SandboxWorkspaceWrite && which.has(withNamespaces):
		return reachItself
	}
	return reachNothing
}

// layers say which means are used. Each is of use without the others.
type layers uint8

const (
	withLandlock layers = 1 << iota
	withFilter          // seccomp
	withNamespaces
	allLayers = withLandlock | withFilter | withNamespaces
	// weakerLayers are to be had where namespaces are not.
	weakerLayers = withLandlock | withFilter
)

func (l layers) has(one layers) bool { return l&one == one }

// writable are the folders that a command may write, really or in an overlay.
func (o *order) writable() []string {
	paths := slices.Clone(o.Open)
	for i := range o.Over {
		paths = append(paths, o.Over[i].Folder)
	}
	return paths
}

// A report is what the helper says: first that the command was started, or why not, then
// one for each thing that was seen.
type report struct {
	Started bool   `json:"started,omitempty"`
	Step    string `json:"step,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Address is one that the command could not connect to.
	Address string `json:"address,omitempty"`
	// Write is a path that it could not write.
	Write []byte `json:"write,omitempty"`
	// Stuck is a folder that it could not move, which only an overlay refuses.
	Stuck []byte `json:"stuck,omitempty"`
	// Blind says that it could not be observed.
	Blind bool `json:"blind,omitempty"`
}
