//go:build unix && !linux

package hook

import "syscall"

// dieWithParent is not to be had here.
func dieWithParent(*syscall.SysProcAttr) {}
