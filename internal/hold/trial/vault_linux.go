package trial

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// errNoVault means that a file is or must be sealed.
var errNoVault = errors.New("it contains secrets, and the key is missing")

// sealFile encrypts an open file into a record.
func sealFile(v Vault, from *os.File, record, path, name string) error {
	if v == nil {
		return errNoVault
	}
	plain, err := io.ReadAll(io.LimitReader(from, maxSealed+1))
	if err != nil {
		return err
	}
	if len(plain) > maxSealed {
		return ErrUnavailable
	}
	sealed, err := v.Seal(vaultLabel(filepath.Base(record), path), plain)
	if err != nil {
		return err
	}
	return files.Replace(filepath.Join(record, filesFolder, name+sealedSuffix), sealed, 0o600)
}

// sealOld encrypts the old content of paths with secrets, once a rollback is no longer possible.
func (t *transaction) sealOld() error {
	for i := range t.Steps {
		s := &t.Steps[i]
		if !s.Secret {
			continue
		}
		folder, err := t.openFiles()
		if err != nil {
			return err
		}
		name := strconv.Itoa(i)
		f, err := openFile(folder, name)
		if err == nil {
			err = errors.Join(sealFile(t.vault, f, t.record, s.Path, name), f.Close(), unix.Unlinkat(folder, name, 0))
		}
		closeFD(folder)
		notFile := errors.Is(err, files.ErrNotRegular) || errors.Is(err, unix.ELOOP) // a link holds no secret
		if err != nil && !files.Missing(err) && !notFile {
			return err
		}
	}
	return nil
}

// unsealOld decrypts the old file of a step into the folder of merged texts and returns
// its place. A file that is not sealed stays where it is.
func (u *undoing) unsealOld(i int) (content, error) {
	old := content{u.files, strconv.Itoa(i)}
	sealed, err := os.ReadFile(filepath.Join(u.old, filesFolder, old.name+sealedSuffix))
	if files.Missing(err) {
		return old, nil
	}
	if err != nil {
		return old, err
	}
	path := u.was.Steps[i].Path
	if u.vault == nil {
		return old, umpire.Errorf("%s: %w", path, errNoVault)
	}
	plain, err := u.vault.Open(vaultLabel(u.was.ID, path), sealed)
	if err != nil {
		return old, err
	}
	return content{u.merged, old.name}, os.WriteFile(filepath.Join(u.record, mergedFolder, old.name), plain, 0o600)
}
