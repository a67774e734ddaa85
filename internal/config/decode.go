package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/umpirehq/umpire"
)

// A lineError is an error in another line than the one where its key's value begins.
type lineError struct {
	line int
	error
}

// Phrase returns the error without the line, which the caller shows after the file name.
func (e *lineError) Phrase() umpire.Phrase { return umpire.PhraseOf(e.error) }

// Unwrap returns the error without its line.
func (e *lineError) Unwrap() error { return e.error }

// lineOfError returns the line of an error in a value, or line, where the value begins, if the error has no line.
func lineOfError(err error, line int) int {
	if fault, ok := errors.AsType[*lineError](err); ok {
		return fault.line
	}
	return line
}

// knownKeys refuses, in a map of named things, keys that a thing does not have.
func knownKeys(n *yaml.Node, known ...string) error {
	for i := 1; i < len(n.Content); i += 2 {
		if err := onlyKeys(n.Content[i], known); err != nil {
			return err
		}
	}
	return nil
}

// onlyKeys refuses a mapping with a key that is not known.
func onlyKeys(n *yaml.Node, known []string) error {
	for k := 0; n.Kind == yaml.MappingNode && k < len(n.Content); k += 2 {
		if key := n.Content[k]; !slices.Contains(known, key.Value) {
			return &lineError{key.Line, umpire.Errorf("key %q is not known; want one of %s", key.Value,
				strings.Join(known, ", "))}
		}
	}
	return nil
}

func decode(n *yaml.Node, into any) error {
	err := n.Decode(into)
	if fault, ok := errors.AsType[*yaml.TypeError](err); ok {
		var line int
		first := fault.Errors[0]
		if _, err := fmt.Sscanf(first, "line %d:", &line); err == nil {
			_, first, _ = strings.Cut(first, ": ")
		}
		return &lineError{cmp.Or(line, n.Line), umpire.Errorf("cannot be read: %w", errors.New(first))}
	}
	if err != nil {
		return umpire.Errorf("cannot be read: %w", errors.New(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	return nil
}

func decodeText(n *yaml.Node, into interface{ UnmarshalText([]byte) error }) error {
	if n.Kind != yaml.ScalarNode {
		return errors.New("want one word")
	}
	return into.UnmarshalText([]byte(n.Value))
}

func decodeWord(n *yaml.Node, into *string, known ...string) error {
	if n.Kind != yaml.ScalarNode || !slices.Contains(known, n.Value) {
		return umpire.Errorf("%q: want one of %s", n.Value, strings.Join(known, ", "))
	}
	*into = n.Value
	return nil
}

// decodeIndex reads a constant by its name.
func decodeIndex[T ~uint8](n *yaml.Node, into *T, names []string) error {
	var word string
	if err := decodeWord(n, &word, names...); err != nil {
		return err
	}
	*into = T(slices.Index(names, word))
	return nil
}

// decodeChoice reads one of two words.
func decodeChoice(n *yaml.Node, into *bool, no, yes string) error {
	var word string
	if err := decodeWord(n, &word, no, yes); err != nil {
		return err
	}
	*into = word == yes
	return nil
}

// choice is the word that decodeChoice reads.
func choice(is bool, no, yes string) string {
	if is {
		return yes
	}
	return no
}

// decodeNot reads a key whose value is the negation of its field.
func decodeNot(n *yaml.Node, into *bool) error {
	is := !*into
	err := decode(n, &is)
	*into = !is
	return err
}

func decodeList(n *yaml.Node, into *[]string) error {
	*into = nil // a list is shared with the configuration before
	return decode(n, into)
}

func decodeCount(n *yaml.Node, into *int) error {
	var count int
	if err := decode(n, &count); err != nil {
		return err
	}
	if count < 1 {
		return umpire.Errorf("%d: want at least 1", count)
	}
	*into = count
	return nil
}

func decodeDuration(n *yaml.Node, into *time.Duration) error {
	d, ok := ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || !ok || d <= 0 {
		return umpire.Errorf("%q: want a duration such as 90s, 10m, 720h or 7d", n.Value)
	}
	*into = d
	return nil
}

// sizeUnits are the units of a size, the largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

func decodeSize(n *yaml.Node, into *int64) error {
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(n.Value, u.name)
		if !ok {
			continue
		}
		count, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || count < 0 || count > 1<<60/u.bytes {
			break
		}
		*into = count * u.bytes
		return nil
	}
	return umpire.Errorf("%q: want a size such as 500MiB or 2GiB", n.Value)
}

func formatSize(bytes int64) string {
	for _, u := range sizeUnits {
		if bytes%u.bytes == 0 && bytes > 0 {
			return strconv.FormatInt(bytes/u.bytes, 10) + u.name
		}
	}
	return "0B"
}

// ParseDuration reads a duration as people write it: as Go does, or in days, such as 7d.
func ParseDuration(text string) (time.Duration, bool) {
	if days, inDays := strings.CutSuffix(text, "d"); inDays {
		n, err := strconv.Atoi(days)
		return time.Duration(n) * day, err == nil && n >= 0 && n <= int(maxDuration/day)
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

const (
	day         = 24 * time.Hour
	maxDuration = time.Duration(1<<63 - 1)
)
