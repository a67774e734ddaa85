package config

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/files"
)

// maxSize bounds a configuration file; a long one takes a few kilobytes.
const maxSize = 256 << 10

// open opens a configuration file. A missing file has no keys.
func open(file string) (*docedit.Doc, error) {
	data, err := files.ReadSmall(file, maxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return docedit.Open(docedit.YAML, data)
}

// A given is one key of a file.
type given struct {
	key   string
	value *docedit.Value
}

// flatten joins nested keys with dots, up to a key that is known.
func flatten(prefix string, v *docedit.Value) []given {
	var all []given
	for _, m := range v.Items {
		key := prefix + m.Key
		_, err := keyOf(key)
		if err != nil && m.Kind == docedit.Object && isPrefix(key+".") {
			all = append(all, flatten(key+".", m)...)
			continue
		}
		all = append(all, given{key, m})
	}
	return all
}

// keyOf finds a key, or suggests the likely one.
func keyOf(key string) (*Key, error) {
	for i := range Keys {
		if Keys[i].Name == key {
			return &Keys[i], nil
		}
	}
	if near := nearestKey(key); near != "" {
		return nil, umpire.Errorf("unknown key %q; did you mean %q?", key, near)
	}
	return nil, umpire.Errorf("unknown key %q", key)
}

func nearestKey(key string) string {
	var known []string
	for i := range Keys {
		known = append(known, Keys[i].Name)
	}
	return docedit.Nearest(key, known)
}

func isPrefix(prefix string) bool {
	for i := range Keys {
		if strings.HasPrefix(Keys[i].Name, prefix) {
			return true
		}
	}
	return false
}
