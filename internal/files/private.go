package files

import (
	"io"
	"runtime"
	"strings"

	"github.com/umpirehq/umpire"
)

// ReadPrivate reads a regular file of at most limit bytes that only its owner can read.
func ReadPrivate(name string, limit int64) ([]byte, error) {
	f, err := OpenSmall(name, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, umpire.Errorf("%s can be read by others: chmod 600", f.Name())
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// maxSecret is the maximum size of a token or secret in bytes.
const maxSecret = 4 << 10

// ReadSecret reads a token or a secret from a file that only its owner can read.
func ReadSecret(name string) (string, error) {
	data, err := ReadPrivate(name, maxSecret)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(data))
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	if secret == "" || strings.ContainsFunc(secret, odd) {
		return "", umpire.Errorf("%s: want one line of printable ASCII characters without spaces", name)
	}
	return secret, nil
}
