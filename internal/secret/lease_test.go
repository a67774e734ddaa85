package secret

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// leaseStore returns a store of leases, and its clock.
func leaseStore(t *testing.T) (*Leases, *time.Time) {
	t.Helper()
	folder := t.TempDir()
	key, err := OpenKey(folder)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := key.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &Leases{Folder: filepath.Join(folder, "leases"), Vault: sealer, Now: func() time.Time { return now }}, &now
}

const leasedValue = "a secret of a person"

func leased(s *Leases, name string) *Lease {
	return &Lease{
		Name: name, Host: "api.example.com", Methods: []string{"GET"}, Paths: []string{"/*"}, Project: "p",
		CreatedAt: s.Now(), ExpiresAt: s.Now().Add(time.Hour),
	}
}

// TestLeases: a value is sealed, opens with its lease alone, and is gone with it.
func TestLeases(t *testing.T) {
	t.Parallel()
	s, now := leaseStore(t)
	first, second := leased(s, "FIRST"), leased(s, "SECOND")
	for _, l := range []*Lease{first, second} {
		if err := s.Add(l, leasedValue); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Add(first, leasedValue); !errors.Is(err, ErrLeased) {
		t.Errorf("leased twice: %v", err)
	}
	if all, err := s.List("p"); err != nil || len(all) != 2 || all[0].Name != "FIRST" {
		t.Errorf("%v, %v", all, err)
	}
	if all, err := s.List("another"); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	text, err := os.ReadFile(s.path("p", "FIRST"))
	if err != nil || strings.Contains(string(text), leasedValue) {
		t.Errorf("%s, %v", text, err)
	}
	if value, err := s.Value(first); err != nil || value != leasedValue {
		t.Errorf("%q, %v", value, err)
	}
	wider := *first
	wider.Paths = []string{"/", "/*"}
	if value, err := s.Value(&wider); err == nil {
		t.Errorf("another lease opened %q", value)
	}
	if _, err := s.Remove("p", "SECOND"); err != nil {
		t.Error(err)
	}
	*now = now.Add(time.Hour)
	for _, l := range []*Lease{first, second} {
		if value, err := s.Value(l); !errors.Is(err, fs.ErrNotExist) || value != "" {
			t.Errorf("%s: %q, %v", l.Name, value, err)
		}
		if _, err := s.Remove("p", l.Name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(s.Folder, "p")); err != nil || len(left) > 0 {
		t.Errorf("an ended lease left %v, %v", left, err)
	}
}

// TestChangedLease: a value does not open with a file that was changed, and such a file can be removed.
func TestChangedLease(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"host": {"api.example.com", "evil.example.com"}, "path": {`"/*"`, `"/"`}, "end": {"04:04:05", "05:04:05"},
		"an unknown key": {`"name"`, `"nam"`}, "name": {"FIRST", "OTHER"},
	} {
		s, _ := leaseStore(t)
		if err := s.Add(leased(s, "FIRST"), leasedValue); err != nil {
			t.Fatal(err)
		}
		path := s.path("p", "FIRST")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), change[0], change[1])), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := s.Find("p", "FIRST")
		if value, failed := s.Value(&l); err == nil && failed == nil {
			t.Errorf("%s: opened %q", name, value)
		}
		if err := s.Add(leased(s, "FIRST"), leasedValue); !errors.Is(err, ErrLeased) {
			t.Errorf("%s: replaced: %v", name, err)
		}
		if _, err := s.Remove("p", "FIRST"); err != nil && !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: not removed: %v", name, err)
		}
	}
}

func TestCheckValue(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		leasedValue: true, "": false, "short": false, "with\r\nInjected: x": false, "with an ümlaut": false,
		strings.Repeat("x", MaxLeased): true, strings.Repeat("x", MaxLeased+1): false,
	} {
		if err := CheckValue(value); (err == nil) != want {
			t.Errorf("%.20q: %v", value, err)
		}
	}
}

// A fakeKeyring keeps texts unless it is locked.
type fakeKeyring struct {
	texts  map[string]string
	locked bool
}

var errLocked = errors.New("it is locked")

func (k *fakeKeyring) Keep(name, text string) error {
	if k.locked {
		return errLocked
	}
	k.texts[name] = text
	return nil
}

func (k *fakeKeyring) Read(name string) (string, error) {
	if k.locked {
		return "", errLocked
	}
	return k.texts[name], nil
}

func (k *fakeKeyring) Drop(name string) error { delete(k.texts, name); return nil }

// TestKeyring: where there is a keyring it keeps the values, sealed. The files keep those that it refuses.
func TestKeyring(t *testing.T) {
	t.Parallel()
	s, now := leaseStore(t)
	ring := &fakeKeyring{texts: map[string]string{}}
	s.Keyring = ring
	first, second, short := leased(s, "FIRST"), leased(s, "SECOND"), leased(s, "SHORT")
	short.ExpiresAt = s.Now().Add(time.Minute)
	for _, l := range []*Lease{first, short} {
		if err := s.Add(l, leasedValue); err != nil {
			t.Fatal(err)
		}
	}
	ring.locked = true
	if err := s.Add(second, leasedValue); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Value(first); !errors.Is(err, errLocked) || !strings.Contains(err.Error(), "lease FIRST") {
		t.Errorf("a locked keyring: %v", err)
	}
	ring.locked = false
	for name, text := range ring.texts {
		if strings.Contains(text, leasedValue) || !strings.HasPrefix(name, s.Folder) {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, l := range []*Lease{first, second} {
		if value, err := s.Value(l); value != leasedValue || err != nil {
			t.Errorf("%s: %q, %v", l.Name, value, err)
		}
	}
	ring.texts[s.path("p", "FIRST")] = ring.texts[s.path("p", "SHORT")]
	if value, err := s.Value(first); value != "" || err == nil {
		t.Errorf("the value of another lease: %q, %v", value, err)
	}
	if _, err := s.Remove("p", "FIRST"); err != nil {
		t.Error(err)
	}
	*now = now.Add(2 * time.Minute)
	if _, err := s.List("p"); err != nil || len(ring.texts) != 0 {
		t.Errorf("%d values are left: %v", len(ring.texts), err)
	}
	s.Keyring = nil
	if value, err := s.Value(second); value != leasedValue || err != nil {
		t.Errorf("without a keyring: %q, %v", value, err)
	}
}
