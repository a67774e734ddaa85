package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// This file caches the secrets in each folder of a workspace in umpire's state, where
// commands cannot write. An unchanged folder holds the same names, so checking its time
// replaces reading and matching all of them.

// A secretLook is the result of reading one folder: names of secrets and of folders to search.
type secretLook struct {
	Path           string
	Device, Number uint64
	Changed        int64
	Secrets, Inner []string
}

// A secretSearch searches one workspace for secrets.
type secretSearch struct {
	names   *secretNames
	file    string                 // the cache, or ""
	devices []uint64               // only folders on these devices are cached
	known   map[string]*secretLook // by folder
	made    []secretLook           // new content of the cache
	fresh   bool                   // made has results that were not cached
}

// newSecretSearch prepares a search of some folders.
func (p *Place) newSecretSearch(names *secretNames, folders []string) *secretSearch {
	s := &secretSearch{names: names}
	if s.devices = timedDevices(folders); p.State == "" || len(s.devices) == 0 {
		return s
	}
	// Other rules, or another umpire, find other secrets.
	key := sha256.New()
	patterns, except := sensitive.SecretFiles()
	fmt.Fprintln(key, folders, patterns, except, neverHolds, secretDepth)
	s.file = filepath.Join(p.State, "state", "looks", hex.EncodeToString(key.Sum(nil)[:16]))
	s.load()
	return s
}

// load reads the cache. It ignores an unreadable one.
func (s *secretSearch) load() {
	text, err := os.ReadFile(s.file)
	var looks []secretLook
	if err != nil || gob.NewDecoder(bytes.NewReader(text)).Decode(&looks) != nil {
		return
	}
	s.known = make(map[string]*secretLook, len(looks))
	for i := range looks {
		s.known[looks[i].Path] = &looks[i]
	}
}

// save writes the cache if it has changed.
func (s *secretSearch) save() {
	if s.file == "" || !s.fresh && len(s.made) == len(s.known) {
		return
	}
	var text bytes.Buffer
	if gob.NewEncoder(&text).Encode(s.made) != nil || os.MkdirAll(filepath.Dir(s.file), 0o700) != nil {
		return // the next search reads the folders again
	}
	// It need not survive a crash, so nothing waits for the disk; load ignores a torn file.
	f, err := os.CreateTemp(filepath.Dir(s.file), ".looks-")
	if err != nil {
		return
	}
	_, err = f.Write(text.Bytes())
	if closed := f.Close(); err != nil || closed != nil || os.Rename(f.Name(), s.file) != nil {
		_ = os.Remove(f.Name()) // incomplete
	}
	forgetOldLooks(filepath.Dir(s.file))
}

// maxLookAge is how long an unused cache is kept. Many workspaces are temporary folders.
const maxLookAge = 30 * 24 * time.Hour

// forgetOldLooks removes old caches.
func forgetOldLooks(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > maxLookAge {
			_ = os.Remove(filepath.Join(folder, e.Name())) // the next search may remove it
		}
	}
}

// look reads a folder, or returns the cached result. A folder that changed very recently
// may have changed again with the same time.
func (s *secretSearch) look(folder string) secretLook {
	l := secretLook{Path: folder}
	if s.file != "" {
		info, err := os.Lstat(folder)
		if err != nil || !info.IsDir() {
			return l
		}
		id, _ := idOf(info)
		l.Device, l.Number, l.Changed = id.device, id.number, changed(info)
		was := s.known[folder]
		if was != nil && was.Device == l.Device && was.Number == l.Number && was.Changed == l.Changed {
			return *was
		}
		if l.Changed > time.Now().Add(-clockTolerance).UnixNano() || !slices.Contains(s.devices, l.Device) {
			l.Changed = 0
		}
	}
	if s.names.readNames(&l) != nil {
		l.Changed = 0 // another user may be able to read it
	}
	return l
}

// add collects the results of one level of folders.
func (s *secretSearch) add(looks []secretLook) (secrets, inner []string) {
	for i := range looks {
		l := &looks[i]
		within := strings.TrimSuffix(l.Path, "/") + "/"
		for _, name := range l.Secrets {
			secrets = append(secrets, within+name)
		}
		for _, name := range l.Inner {
			inner = append(inner, within+name)
		}
		if l.Changed == 0 {
			continue // not cacheable
		}
		was := s.known[l.Path]
		s.fresh = s.fresh || was == nil || was.Changed != l.Changed || was.Number != l.Number
		s.made = append(s.made, *l)
	}
	return secrets, inner
}
