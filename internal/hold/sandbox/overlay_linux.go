package sandbox

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
)

// makeOverlays mounts overlays over the workspace, before other mounts hide the folders
// that they need.
func (h *helper) makeOverlays() error {
	for i := range h.Over {
		c := &h.Over[i]
		if err := checkUpper(c); err != nil {
			return umpire.Errorf("%s cannot hold a trial's changes: %w", c.Upper, err)
		}
		m, err := c.layer()
		if err != nil {
			return umpire.Errorf("over %s: %w", c.Folder, explainOverlay(err))
		}
		h.over = append(h.over, m)
	}
	return nil
}

// explainOverlay explains why an overlay was refused.
func explainOverlay(err error) error {
	if errors.Is(err, unix.EINVAL) {
		return umpire.Errorf("something is mounted below it, or the file system cannot hold a trial's changes: %w", err)
	}
	return err
}

// checkUpper tests a requirement on a layer's file system that the kernel does not check:
// without attributes, a folder that replaced another one would show the old entries.
func checkUpper(c *caches) error {
	const name = "user.overlay.umpire"
	if err := unix.Setxattr(c.Work, name, []byte("y"), 0); err != nil {
		return umpire.Errorf("attributes: %w", err)
	}
	if err := unix.Removexattr(c.Work, name); err != nil {
		return umpire.Errorf("attributes: %w", err)
	}
	whiteout := filepath.Join(c.Work, "whiteout")
	if err := unix.Mknod(whiteout, unix.S_IFCHR, int(unix.Mkdev(0, 0))); err != nil {
		return umpire.Errorf("whiteouts: %w", err)
	}
	return unix.Unlink(whiteout)
}
