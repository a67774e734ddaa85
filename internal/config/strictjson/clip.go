package strictjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// The bytes that Clip keeps of the beginning and of the end of a long string. The end is always
// kept, because that is where a long harmless command turns harmful.
const (
	clipHead = 5500
	clipTail = 2000
)

// Clip returns a JSON value with about limit bytes of text from value: it leaves out the middle of
// long strings, then the end of long lists, and the largest of many fields, and marks each omission
// in its place. Text that is not JSON becomes a string.
func Clip(value json.RawMessage, limit int) json.RawMessage {
	if len(value) <= limit {
		return value
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var decoded any
	if d.Decode(&decoded) != nil {
		decoded = string(value)
	}
	c := clipper{left: limit}
	clipped, err := json.Marshal(c.clip(decoded))
	if err != nil {
		return json.RawMessage(`""`) // a value decoded from JSON always encodes
	}
	return clipped
}

// A clipper counts down the remaining budget.
type clipper struct{ left int }

func (c *clipper) clip(value any) any {
	switch value := value.(type) {
	case string:
		return c.clipText(value)
	case json.Number:
		if len(value) > clipTail {
			return c.clipText(value.String())
		}
		c.left -= len(value)
		return value
	case []any:
		return c.clipList(value)
	case map[string]any:
		return c.clipObject(value)
	}
	c.left -= len("false")
	return value
}

func (c *clipper) clipText(text string) string {
	if len(text) > min(clipHead+clipTail, c.left) {
		head, tail := max(min(clipHead, c.left/2), 0), len(text)-max(min(clipTail, c.left/4), 0)
		for head > 0 && !utf8.RuneStart(text[head]) {
			head--
		}
		for tail < len(text) && !utf8.RuneStart(text[tail]) {
			tail++
		}
		text = fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", text[:head], tail-head, text[tail:])
	}
	c.left -= len(text)
	return text
}

func (c *clipper) clipList(all []any) []any {
	kept := []any{}
	for i, item := range all {
		if c.left <= 0 {
			return append(kept, fmt.Sprintf("[... %d values left out ...]", len(all)-i))
		}
		kept = append(kept, c.clip(item))
		c.left--
	}
	return kept
}

// minShare is the guaranteed budget of each field of an object, as long as anything is left.
const minShare = 64

// clipObject keeps small fields first, and keeps a large field from using up the others' budget: a
// long list must not hide the command next to it.
func (c *clipper) clipObject(all map[string]any) map[string]any {
	kept, sizes := map[string]any{}, map[string]int{}
	for name, value := range all {
		sizes[name] = len(name) + sizeOf(value)
	}
	bySize := func(a, b string) int { return cmp.Or(cmp.Compare(sizes[a], sizes[b]), cmp.Compare(a, b)) }
	for i, name := range slices.SortedFunc(maps.Keys(all), bySize) {
		if c.left < len(name) {
			kept["..."] = fmt.Sprintf("[... %d fields left out ...]", len(all)-i)
			break
		}
		share := max(c.left/(len(all)-i), min(minShare, c.left)) - len(name)
		field := clipper{left: share}
		kept[name] = field.clip(all[name])
		c.left -= len(name) + share - field.left
	}
	return kept
}

// sizeOf returns the approximate size of a value in bytes.
func sizeOf(value any) (size int) {
	switch value := value.(type) {
	case string:
		return len(value)
	case json.Number:
		return len(value)
	case []any:
		for _, item := range value {
			size += 1 + sizeOf(item)
		}
	case map[string]any:
		for name, item := range value {
			size += len(name) + sizeOf(item)
		}
	}
	return size
}
