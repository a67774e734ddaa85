package sandbox

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// An Overlay is a folder that a command may write and that stays as it is: what is written
// goes to another one. All paths are absolute and without links, and the folders exist.
type Overlay struct {
	Folder string
	// Upper gets what is written, and Work is the kernel's. Both lie in one file system, are
	// empty and for one command. It has not been flushed to the disk when that has ended.
	Upper, Work string
	// Device and Inode, where they are not 0, are those of Folder: if another one stands
	// there by now, the command does not start.
	Device, Inode uint64
}

// stepOverlays is the step of the set-up that lays overlays.
const stepOverlays = "overlays"

// NoOverlay reports whether an error says that the command did not start because a file
// system, or the kernel, has no overlays. With other folders to write to it may.
func NoOverlay(err error) bool {
	setup, ok := errors.AsType[*SetupError](err)
	return ok && setup.Step == stepOverlays
}

// overlaid decides what may be written and seen where overlays lie over the workspace. No
// path is really open: what a command changes in an overlay is looked at afterwards, so
// nothing in it has to be guarded.
func (p *Place) overlaid(o *order, limits Limits, b *Box) error {
	if limits.Mode != umpire.SandboxWorkspaceWrite || !o.Layers.has(withNamespaces) {
		return umpire.Errorf("overlays need %s with namespaces", umpire.SandboxWorkspaceWrite)
	}
	if len(limits.Open) > 0 {
		return errors.New("beside overlays nothing is open")
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

// A Sight is what could be observed of a command. Its zero value is that nothing happened.
type Sight struct {
	// Addresses are those that it could not connect to, with their ports: those of TCP and
	// UDP to which it connected or sent, up to a limit. A name that it looked up stands for
	// its address, and without a port if it did no more than that.
	Addresses []string
	// Writes are paths outside that it wanted to make, write or delete, up to a limit.
	Writes []string
	// Stuck are folders under an overlay that it could not move.
	Stuck []string
	// Blind says that it could not be observed, or not to its end.
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
