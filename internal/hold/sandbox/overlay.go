package sandbox

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// An Overlay is a writable folder that stays unchanged because writes go to another
// folder. All paths are absolute and contain no links, and the folders exist.
type Overlay struct {
	Folder string
	// Upper receives the writes, and Work belongs to the kernel. Both are empty, in one file system
	// and for one command. Upper has not been flushed to the disk when the command has ended.
	Upper, Work string
	// Device and Inode, if not 0, identify Folder. If it was replaced, the command does
	// not start.
	Device, Inode uint64
}

// stepOverlays is the step of the setup that mounts overlays.
const stepOverlays = "overlays"

// NoOverlay reports whether the command did not start because a file system or the kernel
// does not support overlays. Other folders may work.
func NoOverlay(err error) bool {
	setup, ok := errors.AsType[*SetupError](err)
	return ok && setup.Step == stepOverlays
}

// overlaid decides which paths are writable and visible if overlays cover the workspace.
// No real path is writable: changes in an overlay are inspected afterwards, so nothing in
// it needs guarding.
func (p *Place) overlaid(o *order, limits Limits, b *Box) error {
	if limits.Mode != umpire.SandboxWorkspaceWrite || !o.Layers.has(withNamespaces) {
		return umpire.Errorf("overlays need %s with namespaces", umpire.SandboxWorkspaceWrite)
	}
	if len(limits.Open) > 0 {
		return errors.New("an overlay cannot be combined with open folders")
	}
	for _, v := range p.Overlays {
		o.Over = append(o.Over, caches{
			Folder: v.Folder, Upper: v.Upper, Work: v.Work, Device: v.Device, Inode: v.Inode, Volatile: true,
		})
		o.Hidden = append(o.Hidden, filepath.Dir(v.Upper))
	}
	if err := p.private(o, b, true); err != nil {
		return err
	}
	p.hide(o, limits.Seen)
	return nil
}

// A Sight is the result of observing a command. Its zero value means that nothing happened.
type Sight struct {
	// Addresses are the TCP and UDP addresses with ports to which it could not connect or
	// send, up to a limit. If it looked up a name, the name replaces the address; a name
	// that was only looked up has no port.
	Addresses []string
	// Writes are outside paths that it tried to create, write or delete, up to a limit.
	Writes []string
	// Stuck are folders under an overlay that it could not move.
	Stuck []string
	// Blind means that it could not be observed, or not until its end.
	Blind bool
}

func (s *Sight) add(r *report) {
	if r.Address != "" {
		name, _, _ := strings.Cut(r.Address, ":")
		s.Addresses = append(
			slices.DeleteFunc(s.Addresses, func(looked string) bool { return looked == name }), r.Address,
		)
	}
	if len(r.Write) > 0 {
		s.Writes = append(s.Writes, string(r.Write))
	}
	if len(r.Stuck) > 0 {
		s.Stuck = append(s.Stuck, string(r.Stuck))
	}
	s.Blind = s.Blind || r.Blind
}
