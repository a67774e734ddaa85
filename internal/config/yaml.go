package config

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/rulefile"
)

// maxSize bounds a configuration file; a long one takes a few kilobytes.
const maxSize = 256 << 10

// readYAML returns the mapping in a file, or nil if it is empty.
func readYAML(file string) (*yaml.Node, error) {
	data, err := readFile(file)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	if !utf8.Valid(data) {
		return nil, errors.New("is not valid UTF-8")
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 || document.Content[0].Tag == "!!null" {
		return nil, nil
	}
	if top := document.Content[0]; top.Kind == yaml.MappingNode && !hasAlias(top) {
		return top, nil
	}
	return nil, errors.New("want a mapping of keys to values, without aliases")
}

// readFile returns a file's content, or nil if it does not exist.
func readFile(file string) ([]byte, error) {
	data, err := files.ReadSmall(file, maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// hasAlias reports whether the file uses aliases: a few lines of them can expand to gigabytes.
func hasAlias(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		return true
	}
	return slices.ContainsFunc(n.Content, hasAlias)
}

// A given is one key of a file.
type given struct {
	key  string
	node *yaml.Node
}

// flatten joins nested keys with dots, up to a key that is known.
func flatten(prefix string, n *yaml.Node) []given {
	if n == nil {
		return nil
	}
	var all []given
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := prefix+n.Content[i].Value, n.Content[i+1]
		_, err := keyOf(key)
		if err != nil && value.Kind == yaml.MappingNode && isPrefix(key+".") {
			all = append(all, flatten(key+".", value)...)
			continue
		}
		all = append(all, given{key, value})
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
		return nil, umpire.Errorf("key %q is not known; did you mean %q?", key, near)
	}
	return nil, umpire.Errorf("key %q is not known", key)
}

func nearestKey(key string) string {
	var known []string
	for i := range Keys {
		known = append(known, Keys[i].Name)
	}
	return rulefile.Nearest(key, known)
}

func isPrefix(prefix string) bool {
	for i := range Keys {
		if strings.HasPrefix(Keys[i].Name, prefix) {
			return true
		}
	}
	return false
}
