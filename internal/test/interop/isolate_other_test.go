//go:build interop && !linux

package interop

import "errors"

func isolated() (int, error) { return 0, errors.New("only Linux has network namespaces") }

func loopbackUp() error { return nil }
