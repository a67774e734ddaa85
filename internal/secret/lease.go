package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// A Lease is a secret that commands of a project may use without seeing it, for some requests to one host. Its value
// is stored beside it, sealed.
type Lease struct {
	Name      string           `json:"name"`
	Host      string           `json:"host"`
	Methods   []string         `json:"methods"`
	Paths     []string         `json:"paths"`
	Project   umpire.ProjectID `json:"project_id"`
	Session   umpire.SessionID `json:"session_id,omitempty"` // "" for all sessions, and commands outside of any
	CreatedAt time.Time        `json:"created_at"`
	ExpiresAt time.Time        `json:"expires_at"`
}

// A Vault seals and opens texts, as a [Sealer] does.
type Vault interface {
	Seal(label string, plain []byte) ([]byte, error)
	Open(label string, sealed []byte) ([]byte, error)
}

// A Keyring keeps texts by name, as that of the system does. The names are the paths of the leases' files.
type Keyring interface {
	Keep(name, text string) error
	Read(name string) (string, error)
	Drop(name string) error
}

// Leases are the leases in a folder, a file for each. A value opens only with its lease as it was made.
type Leases struct {
	Folder string
	Vault  Vault
	// Keyring keeps the sealed values. Without one, and if it fails, the files do.
	Keyring Keyring
	Now     func() time.Time
}

// A leaseFile is the content of a file.
type leaseFile struct {
	Lease  Lease  `json:"lease"`
	Sealed []byte `json:"sealed,omitempty"` // empty if it is in the keyring
}

// The limits of a secret in bytes. A shorter one could not be told from other text in answers.
const (
	minLeased = 8
	MaxLeased = 8 << 10
)

// ErrLeased is matched if a name is leased already.
var ErrLeased = errors.New("a lease with this name is in force")

// CheckValue returns why a text cannot be leased, or nil.
func CheckValue(value string) error {
	if len(value) < minLeased || len(value) > MaxLeased {
		return umpire.Errorf("the secret has %d characters; want %d to %d", len(value), minLeased, MaxLeased)
	}
	for _, c := range []byte(value) {
		if c < ' ' || c > '~' {
			return errors.New("the secret has a character that no header of HTTP can carry")
		}
	}
	return nil
}

// Add stores a lease with its value. It fails with ErrLeased if the project has one with this name.
func (s *Leases) Add(l *Lease, value string) error {
	if err := CheckValue(value); err != nil {
		return err
	}
	if _, err := s.Find(l.Project, l.Name); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(ErrLeased, err)
	}
	sealed, err := s.Vault.Seal(l.label(), []byte(value))
	if err != nil {
		return err
	}
	if s.Keyring != nil && s.Keyring.Keep(s.path(l.Project, l.Name), base64.StdEncoding.EncodeToString(sealed)) == nil {
		sealed = nil
	}
	text, err := json.Marshal(leaseFile{*l, sealed})
	if err != nil {
		return err
	}
	path := s.path(l.Project, l.Name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return files.Replace(path, text, 0o600)
}

// List returns the leases in force of a project, by name. It removes those that have expired.
func (s *Leases) List(project umpire.ProjectID) (all []Lease, err error) {
	entries, err := os.ReadDir(filepath.Dir(s.path(project, "x")))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		name, is := strings.CutSuffix(entry.Name(), leaseSuffix)
		if !is { // a file that is being written
			continue
		}
		l, failed := s.Find(project, name)
		switch {
		case failed == nil:
			all = append(all, l)
		case !errors.Is(failed, fs.ErrNotExist):
			err = errors.Join(err, failed)
		}
	}
	return all, err
}

// Find returns the lease of a name in a project. The error matches fs.ErrNotExist if the name is not leased.
func (s *Leases) Find(project umpire.ProjectID, name string) (Lease, error) {
	file, err := s.readLease(project, name)
	return file.Lease, err
}

// Value returns the secret of a lease. It fails as soon as the lease has expired, or was revoked.
func (s *Leases) Value(l *Lease) (string, error) {
	file, err := s.readLease(l.Project, l.Name)
	if err != nil {
		return "", err
	}
	if file.Lease.label() != l.label() {
		return "", umpire.Errorf("lease %s: another one took its place: %w", l.Name, fs.ErrNotExist)
	}
	if len(file.Sealed) == 0 {
		if file.Sealed, err = s.readKeyring(l); err != nil {
			return "", err
		}
	}
	value, err := s.Vault.Open(l.label(), file.Sealed)
	return string(value), err
}

// readKeyring returns a lease's sealed value from the keyring.
func (s *Leases) readKeyring(l *Lease) ([]byte, error) {
	if s.Keyring == nil {
		return nil, umpire.Errorf("the secret of lease %s is in the system's keyring, which this session cannot reach",
			l.Name)
	}
	text, err := s.Keyring.Read(s.path(l.Project, l.Name))
	if err != nil {
		return nil, umpire.Errorf("the secret of lease %s is in the system's keyring: %w", l.Name, err)
	}
	return base64.StdEncoding.DecodeString(text)
}

// Remove ends a lease. The error matches fs.ErrNotExist if the name is not leased.
func (s *Leases) Remove(project umpire.ProjectID, name string) (Lease, error) {
	l, err := s.Find(project, name)
	if errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	path := s.path(project, name)
	s.dropValue(path)
	return l, errors.Join(os.Remove(path), files.SyncFolder(filepath.Dir(path))) // also one that cannot be read
}

const leaseSuffix = ".json"

// dropValue removes the value of the lease in a file from the keyring. One that stays is useless: it opens with its
// lease alone.
func (s *Leases) dropValue(path string) {
	if s.Keyring != nil {
		_ = s.Keyring.Drop(path)
	}
}

// path returns the file of a lease. Names of variables and ids of projects have no separators.
func (s *Leases) path(project umpire.ProjectID, name string) string {
	return filepath.Join(s.Folder, filepath.Base(string(project)), filepath.Base(name)+leaseSuffix)
}

// maxLeaseFile bounds a file in bytes.
const maxLeaseFile = 64 << 10

// readLease reads a file, and removes it if its lease has expired.
func (s *Leases) readLease(project umpire.ProjectID, name string) (leaseFile, error) {
	path := s.path(project, name)
	text, err := files.ReadPrivate(path, maxLeaseFile)
	if err != nil {
		return leaseFile{}, err
	}
	var file leaseFile
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil || file.Lease.Project != project || file.Lease.Name != name {
		return leaseFile{}, umpire.Errorf("%s cannot be read; revoke it: umpire secrets revoke %s", path, name)
	}
	if !s.Now().Before(file.Lease.ExpiresAt) {
		_ = os.Remove(path) // the next reader tries again
		s.dropValue(path)
		return leaseFile{}, umpire.Errorf("lease %s has expired: %w", name, fs.ErrNotExist)
	}
	return file, nil
}

// label binds a value to every part of its lease.
func (l *Lease) label() string {
	text, err := json.Marshal(l)
	if err != nil {
		return "" // these types always marshal
	}
	return "lease:" + string(text)
}
