//go:build unix

package process

import (
	"errors"
	"os"
	"syscall"
)

// openProfile opens a file for appending. It does not follow a link, wait for the reader of a pipe,
// or accept a file that others own or that has a second name.
func openProfile(name string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	f, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || int(s.Uid) != os.Geteuid() || s.Nlink != 1 {
		return nil, errors.Join(errProfile, f.Close())
	}
	return f, nil
}
