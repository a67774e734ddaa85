package secret

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// keyFile is the name of a store's key file.
const keyFile = "seal.key"

// The file has one line: a header, and the key in base64.
const (
	keyHeader = "umpire-key-1:"
	keySize   = 32
	maxFile   = 256
)

// A Key has one store's keys for masking and sealing.
type Key struct{ seal, mask, id []byte }

// OpenKey reads the key in a folder, and makes one if it is missing. Several processes
// may call it at once and get the same key. If the file is lost, only sealed texts are
// lost. A file that other users may read is refused.
func OpenKey(folder string) (*Key, error) {
	seed, err := OpenSeed(folder, keyFile)
	if err != nil {
		return nil, err
	}
	return deriveKey(seed)
}

// OpenSeed reads the 32 secret bytes in a file, and creates them at random if the file is
// missing. Several processes may call it at once. A file that other users may read is
// refused.
func OpenSeed(folder, name string) ([]byte, error) {
	seed, err := ReadSeed(folder, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return seed, err
	}
	if err := createKey(folder, name); err != nil {
		return nil, umpire.Errorf("key: %w", err)
	}
	return ReadSeed(folder, name)
}

// ReadSeed is OpenSeed for an existing file. Its error matches fs.ErrNotExist if the file
// is missing.
func ReadSeed(folder, name string) ([]byte, error) {
	seed, err := readKey(filepath.Join(folder, name))
	if err != nil {
		return nil, umpire.Errorf("key: %w", err)
	}
	return seed, nil
}

// deriveKey derives a separate key for each use.
func deriveKey(secret []byte) (*Key, error) {
	k := &Key{}
	for _, part := range []struct {
		use  string
		size int
		to   *[]byte
	}{{"umpire seal", keySize, &k.seal}, {"umpire mask", keySize, &k.mask}, {"umpire key id", idSize, &k.id}} {
		derived, err := hkdf.Key(sha256.New, secret, nil, part.use, part.size)
		if err != nil {
			return nil, umpire.Errorf("key: %w", err)
		}
		*part.to = derived
	}
	return k, nil
}

// Masker returns a masker that adds the key's hashes. A nil key returns one without hashes.
func (k *Key) Masker() *Masker {
	if k == nil {
		return nil
	}
	return &Masker{key: k.mask}
}

// readKey checks the open file, because the path could be replaced between a check and
// opening it.
func readKey(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, umpire.Errorf("%s is not a plain file", path)
	}
	if others := info.Mode().Perm() & 0o077; others != 0 && runtime.GOOS != "windows" {
		return nil, umpire.Errorf(
			"other users can read %s (%v): check that none of them did, then run chmod 600", path, info.Mode().Perm(),
		)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, err
	}
	encoded, ok := strings.CutPrefix(strings.TrimSpace(string(text)), keyHeader)
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(secret) != keySize {
		return nil, umpire.Errorf(
			"%s contains no key: restore the right one, or remove the file to get a new key and lose everything "+
				"made with the old one", path,
		)
	}
	return secret, nil
}

// createKey writes a new key under another name and then links it to its path. The file
// is complete as soon as it is visible, and the first one wins.
func createKey(folder, name string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	secret := make([]byte, keySize)
	rand.Read(secret) // aborts the process if there is no randomness
	file, err := os.CreateTemp(folder, name+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // a leftover does no harm
	_, err = fmt.Fprintf(file, "%s%s\n", keyHeader, base64.StdEncoding.EncodeToString(secret))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return files.SyncFolder(folder) // before anything is sealed
}
