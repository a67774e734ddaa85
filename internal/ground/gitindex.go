package ground

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// maxIndex bounds a repository's index: that of a tree with half a million files.
const maxIndex = 64 << 20

// The parts of an entry of the index, as gitformat-index(5) has them: times, numbers and
// sizes of ten words, the name of an object, and flags.
const (
	indexHeader   = 12
	entryMode     = 24
	entryFixed    = 40
	entryAlign    = 8
	modeGitlink   = 0o160000
	flagExtended  = 0x4000
	flagNameSize  = 0xfff
	sha1Size      = 20
	sha256Size    = 32
	extensionHead = 8
)

var errIndex = errors.New("not an index of git")

// links reads the repositories that lie in the work tree as submodules, with a git
// directory of their own in them: what looks at the outer one looks into these.
func (r *settingsReader) links(gitDir, worktree string, hashSize int) {
	if worktree == "" || r.err != nil {
		return
	}
	for name := range r.linksIn(filepath.Join(gitDir, "index"), hashSize) {
		inner := filepath.Join(worktree, filepath.FromSlash(name))
		if Exists(inner, ".git") {
			r.folder(inner)
		}
	}
}

// linksIn are the paths of an index that stand for repositories, and of the one that it
// builds on.
func (r *settingsReader) linksIn(file string, hashSize int) map[string]bool {
	data, err := ReadSmall(file, maxIndex)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var links map[string]bool
	var base string
	if err == nil {
		links, base, err = parseIndex(data, hashSize)
	}
	if err != nil {
		r.fail(fmt.Errorf("%q: %w", file, err))
		return nil
	}
	if base != "" {
		for name := range r.linksIn(filepath.Join(filepath.Dir(file), "sharedindex."+base), hashSize) {
			links[name] = true
		}
	}
	return links
}

// parseIndex finds the links in an index, and the name of the one that it builds on.
func parseIndex(data []byte, hashSize int) (links map[string]bool, base string, err error) {
	if len(data) < indexHeader+hashSize || string(data[:4]) != "DIRC" {
		return nil, "", errIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, "", fmt.Errorf("version %d: %w", version, errIndex)
	}
	links = map[string]bool{}
	rest := data[indexHeader : len(data)-hashSize]
	var name []byte
	for range count {
		mode, next, after, err := indexEntry(rest, name, version, hashSize)
		if err != nil {
			return nil, "", err
		}
		if name, rest = next, after; mode&^0o7777 == modeGitlink {
			links[string(name)] = true
		}
	}
	return links, indexBase(rest, hashSize), nil
}

// indexEntry reads one entry. In version 4 its name begins as the one before it does.
func indexEntry(data, before []byte, version uint32, hashSize int) (mode uint32, name, rest []byte, err error) {
	at := entryFixed + hashSize
	if len(data) < at+2 {
		return 0, nil, nil, errIndex
	}
	mode = binary.BigEndian.Uint32(data[entryMode:])
	flags := binary.BigEndian.Uint16(data[at:])
	if at += 2; flags&flagExtended != 0 {
		at += 2
	}
	if version < 4 {
		size := int(flags & flagNameSize)
		if size == flagNameSize && at < len(data) {
			size = bytes.IndexByte(data[at:], 0)
		}
		end := (at+size)/entryAlign*entryAlign + entryAlign // one zero at least
		if size < 0 || end > len(data) {
			return 0, nil, nil, errIndex
		}
		return mode, data[at : at+size], data[end:], nil
	}
	drop, n := indexNumber(data[min(at, len(data)):])
	at += n
	size := -1
	if at < len(data) {
		size = bytes.IndexByte(data[at:], 0)
	}
	if n == 0 || size < 0 || drop > len(before) {
		return 0, nil, nil, errIndex
	}
	name = append(append([]byte{}, before[:len(before)-drop]...), data[at:at+size]...)
	return mode, name, data[at+size+1:], nil
}

// indexNumber reads a number of several bytes, and says how many; 0 for none.
func indexNumber(data []byte) (value, size int) {
	for i, c := range data {
		if i > 4 {
			return 0, 0
		}
		if i > 0 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// indexBase is the name of the index that this one builds on, or "".
func indexBase(data []byte, hashSize int) string {
	for len(data) >= extensionHead {
		size := int(binary.BigEndian.Uint32(data[4:]))
		if size > len(data)-extensionHead {
			return ""
		}
		if string(data[:4]) == "link" && size >= hashSize {
			return hex.EncodeToString(data[extensionHead : extensionHead+hashSize])
		}
		data = data[extensionHead+size:]
	}
	return ""
}
