package console

import (
	"crypto/tls"
	"os"
	"sync"
	"time"

	"github.com/umpirehq/umpire/internal/files"
)

// maxPEM is the largest file of a certificate or its key.
const maxPEM = 64 << 10

// CertificateIn returns a function for [Remote] that reads a certificate and its key from files,
// and again after they change. While the new ones are unreadable or do not match, it returns the
// previous ones with an error. Other users must not be able to read the key.
func CertificateIn(certificateFile, keyFile string) func() (*tls.Certificate, error) {
	var mu sync.Mutex
	var read *tls.Certificate
	var stamp [2]time.Time
	return func() (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		now := [2]time.Time{changedAt(certificateFile), changedAt(keyFile)}
		if read != nil && now == stamp {
			return read, nil
		}
		pair, err := readCertificate(certificateFile, keyFile)
		if err != nil {
			return read, err
		}
		read, stamp = &pair, now
		return read, nil
	}
}

func readCertificate(certificateFile, keyFile string) (tls.Certificate, error) {
	chain, err := files.ReadSmall(certificateFile, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := files.ReadPrivate(keyFile, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(chain, key)
}

// changedAt returns the modification time of a file, or the zero time if it does not exist.
func changedAt(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
