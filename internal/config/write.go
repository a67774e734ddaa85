package config

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// Write sets one key of a configuration file to a list. Comments and all other keys
// stay. The file is replaced in one step, and only by one that can be read.
func Write(file string, path, list []string) error {
	return rewrite(file, func(top *yaml.Node) error {
		at := top
		for _, key := range path {
			next, err := valueOf(at, key)
			if err != nil {
				return err
			}
			at = next
		}
		setList(at, list)
		return nil
	})
}

// rewrite changes the top of a configuration file.
func rewrite(file string, change func(top *yaml.Node) error) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	data, err := readFile(file)
	if err != nil {
		return umpire.Errorf("%s: %w", file, err)
	}
	next, err := changed(data, change)
	if err != nil {
		return umpire.Errorf("%s: %w", file, err)
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return files.Replace(file, next, mode)
}

// changed is a configuration after a change, with its comments.
func changed(data []byte, change func(top *yaml.Node) error) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var b bytes.Buffer
	if document.Kind == 0 { // an empty file, or only comments
		b.Write(data)
		document = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode, Tag: "!!map"}}}
	}
	if err := change(document.Content[0]); err != nil {
		return nil, err
	}
	e := yaml.NewEncoder(&b)
	e.SetIndent(indentOf(data))
	if err := errors.Join(e.Encode(&document), e.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// valueOf returns the value of a key in a mapping, adding it if it is missing.
func valueOf(at *yaml.Node, key string) (*yaml.Node, error) {
	if at.Tag == "!!null" && at.Kind == yaml.ScalarNode { // the key has no value
		*at = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", HeadComment: at.HeadComment,
			LineComment: at.LineComment, FootComment: at.FootComment}
	}
	if at.Kind != yaml.MappingNode {
		return nil, umpire.Errorf("line %d: want a mapping of keys to values", at.Line)
	}
	for i := 0; i+1 < len(at.Content); i += 2 {
		if at.Content[i].Value == key {
			return at.Content[i+1], nil
		}
	}
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
	return value, nil
}

// setList makes a node a list on one line, and leaves its comments.
func setList(at *yaml.Node, list []string) {
	at.Kind, at.Tag, at.Style, at.Value, at.Content = yaml.SequenceNode, "!!seq", yaml.FlowStyle, "", nil
	for _, text := range list {
		at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text,
			Style: yaml.DoubleQuotedStyle})
	}
}

// indentOf returns the indentation of a file's first indented line, or 2.
func indentOf(data []byte) int {
	for line := range strings.Lines(string(data)) {
		text := strings.TrimLeft(line, " ")
		if n := len(line) - len(text); n >= 2 && n <= 8 && !strings.HasPrefix(text, "#") &&
			!strings.HasPrefix(text, "-") {
			return n
		}
	}
	return 2
}
