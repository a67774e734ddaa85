package secret

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func openSealer(t *testing.T, folder string) *Sealer {
	t.Helper()
	key, err := OpenKey(folder)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := key.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	return sealer
}

// TestSealedForOnePlace checks that a sealed text opens only with its own label and key,
// and only if it is complete.
func TestSealedForOnePlace(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, other := openSealer(t, folder), openSealer(t, t.TempDir())
	plain := []byte("PGPASSWORD=hunter2 psql")
	sealed, err := s.Seal("call:s1:c1", plain)
	if err != nil || bytes.Contains(sealed, []byte("hunter2")) {
		t.Fatalf("%q, %v", sealed, err)
	}
	if got, err := openSealer(t, folder).Open("call:s1:c1", sealed); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("opened %q, %v", got, err)
	}
	for label, tt := range map[string]struct {
		sealer *Sealer
		want   string
	}{
		"call:s1:c2": {s, "belongs elsewhere"}, "call:s2:c1": {s, "belongs elsewhere"}, "": {s, "belongs elsewhere"},
		"call:s1:c1": {other, "another key"}, "result:s1:c1": {s, "open result:s1:c1: "},
	} {
		if got, err := tt.sealer.Open(label, sealed); !errors.Is(err, errSealed) ||
			!strings.Contains(err.Error(), tt.want) || got != nil {
			t.Errorf("%q: %q, %v; want %q", label, got, err, tt.want)
		}
	}
	again, err := s.Seal("call:s1:c1", plain)
	if err != nil || bytes.Equal(again, sealed) {
		t.Error("sealing twice gave the same")
	}
}

func TestSealedAndChanged(t *testing.T) {
	t.Parallel()
	s := openSealer(t, t.TempDir())
	sealed, err := s.Seal("l", []byte("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		for _, bit := range []byte{1, 0x80} {
			changed := bytes.Clone(sealed)
			changed[i] ^= bit
			if got, err := s.Open("l", changed); !errors.Is(err, errSealed) || got != nil {
				t.Errorf("byte %d: %q, %v", i, got, err)
			}
		}
		if got, err := s.Open("l", sealed[:i]); !errors.Is(err, errSealed) || got != nil {
			t.Errorf("cut at %d: %q, %v", i, got, err)
		}
	}
	for _, nonsense := range [][]byte{nil, []byte("PGPASSWORD=[masked:password:3fa9] psql"), append(bytes.Clone(sealed), 0)} {
		if got, err := s.Open("l", nonsense); !errors.Is(err, errSealed) || got != nil {
			t.Errorf("%q: %q, %v", nonsense, got, err)
		}
	}
}

// TestWithoutAKey checks that nothing is sealed or opened.
func TestWithoutAKey(t *testing.T) {
	t.Parallel()
	var key *Key
	s, err := key.Sealer()
	if s != nil || err != nil {
		t.Fatal(s, err)
	}
	if got, err := s.Seal("call:s:c", []byte("x")); !errors.Is(err, errNoKey) || got != nil {
		t.Errorf("sealed %q, %v", got, err)
	}
	got, err := s.Open("call:s:c", []byte("[masked:password]"))
	if !errors.Is(err, errNoKey) || got != nil || err.Error() != "open call:s:c: the key is missing" {
		t.Errorf("opened %q, %v", got, err)
	}
	if masked := key.Masker().Text("--password hunter2"); masked != "--password [masked:password]" {
		t.Errorf("masked %s", masked)
	}
}

func TestSealRoundTrip(t *testing.T) {
	t.Parallel()
	s := openSealer(t, t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		label, plain := rapid.String().Draw(t, "label"), rapid.SliceOf(rapid.Byte()).Draw(t, "plain")
		sealed, err := s.Seal(label, plain)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Open(label, sealed); err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%q, %v", got, err)
		}
		if got, err := s.Open(label+"x", sealed); err == nil {
			t.Fatalf("opened under another label: %q", got)
		}
	})
}

// TestKeyIsMadeOnce checks that concurrent callers all get the same key.
func TestKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "home", "state")
	keys := make([]*Key, 8)
	var work sync.WaitGroup
	for i := range keys {
		work.Go(func() {
			key, err := OpenKey(folder)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	work.Wait()
	for _, key := range keys[1:] {
		if !bytes.Equal(key.seal, keys[0].seal) || !bytes.Equal(key.mask, keys[0].mask) {
			t.Fatal("two keys")
		}
	}
	if bytes.Equal(keys[0].seal, keys[0].mask) {
		t.Error("one key for two uses")
	}
	var names []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		names = append(names, entry.Name())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"state", keyFile}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]fs.FileMode{folder: fs.ModeDir | 0o700, filepath.Join(folder, keyFile): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

// TestKeyFilesThatAreRefused checks that no second key replaces an existing file.
func TestKeyFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	whole := keyHeader + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for name, tt := range map[string]struct {
		text string
		mode fs.FileMode
		want string
	}{
		"empty":        {"", 0o600, "contains no key"},
		"cut":          {whole[:30], 0o600, "contains no key"},
		"short":        {keyHeader + "AAAA", 0o600, "contains no key"},
		"something":    {"hello\n", 0o600, "contains no key"},
		"another kind": {strings.Replace(whole, "-1:", "-2:", 1), 0o600, "contains no key"},
		"for all":      {whole, 0o644, "(-rw-r--r--): check that none of them did"},
		"for a group":  {whole, 0o640, "other users can read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.mode != 0o600 && runtime.GOOS == "windows" {
				t.Skip("Windows has no such permissions")
			}
			path := filepath.Join(t.TempDir(), keyFile)
			if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			key, err := OpenKey(filepath.Dir(path))
			if key != nil || err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "AAAA") {
				t.Errorf("%v, %v; want %q", key, err, tt.want)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != tt.text {
				t.Errorf("the file is %q, %v", text, err)
			}
		})
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, keyFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if key, err := OpenKey(folder); key != nil || err == nil || !strings.Contains(err.Error(), "not a plain file") {
		t.Errorf("a folder: %v, %v", key, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := OpenKey(filepath.Join(file, "state")); key != nil || err == nil {
		t.Errorf("below a file: %v, %v", key, err)
	}
}
