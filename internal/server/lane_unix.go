//go:build unix

package server

import (
	"errors"
	"syscall"
)

// canPush says that lanes can write without waiting here.
const canPush = true

// tryWrite writes as much as the connection takes at once.
func tryWrite(raw syscall.RawConn, b []byte) (n int, err error) {
	failed := raw.Write(func(fd uintptr) bool {
		for {
			n, err = syscall.Write(int(fd), b)
			if !errors.Is(err, syscall.EINTR) {
				return true // do not wait until it can be written to
			}
		}
	})
	if failed != nil {
		return 0, failed
	}
	if errors.Is(err, syscall.EAGAIN) {
		return 0, nil
	}
	return max(n, 0), err
}
