//go:build !unix

package server

import (
	"errors"
	"syscall"
)

// canPush says that every watcher has a goroutine here.
const canPush = false

func tryWrite(syscall.RawConn, []byte) (int, error) {
	return 0, errors.New("this system has no write that does not wait")
}
