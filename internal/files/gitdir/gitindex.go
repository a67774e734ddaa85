package gitdir

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// Limits on a repository's index: the size of a tree with half a million files, and an entry
// name longer than file systems allow.
const (
	maxIndex   = 64 << 20
	maxEntry   = 8 << 10
	indexPiece = 64 << 10
)

// The layout of an index entry, according to gitformat-index(5): ten words of times, numbers
// and sizes, an object name, and flags.
const (
	indexHeader   = 12
	entryMode     = 24
	entryFixed    = 40
	entryAlign    = 8
	modeGitlink   = 0o160000
	flagAssumed   = 0x8000 // assume-unchanged
	flagExtended  = 0x4000
	flagSkipped   = 0x4000 // skip-worktree, among the extended flags
	flagNameSize  = 0xfff
	sha1Size      = 20
	sha256Size    = 32
	extensionHead = 8
)

var errIndex = errors.New("not an index of git")

// links reads the submodules in the work tree that have their git directory inside it, because
// commands in the outer repository look into these too.
func (r *settingsReader) links(gitDir, worktree string, hashSize int) {
	if worktree == "" || r.err != nil {
		return
	}
	for name := range r.linksIn(filepath.Join(gitDir, "index"), hashSize) {
		inner := filepath.Join(worktree, filepath.FromSlash(name))
		if files.Exists(inner, ".git") {
			r.folder(inner)
		}
	}
}

// linksIn returns the paths of submodules in an index and in the shared index that it builds
// on.
func (r *settingsReader) linksIn(file string, hashSize int) map[string]bool {
	f, err := files.OpenSmall(file, maxIndex)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	links := map[string]bool{}
	var base string
	if err == nil {
		base, err = parseIndex(f, hashSize, func(e indexed) {
			if e.mode&^0o7777 == modeGitlink {
				links[string(e.name)] = true
			}
		})
		_ = f.Close() // the file was only read
	}
	if err != nil {
		r.noteError(umpire.Errorf("%q: %w", file, err))
		return nil
	}
	if base != "" {
		for name := range r.linksIn(filepath.Join(filepath.Dir(file), "sharedindex."+base), hashSize) {
			links[name] = true
		}
	}
	return links
}

// An indexed file is an entry of an index. It is valid only during the visit.
type indexed struct {
	mode         uint32
	name, object []byte
	hidden       bool // git does not look at the file
}

// parseIndex visits the entries of an index, and returns the name of the shared index that it
// builds on. It reads piece by piece, because an index may be large and is read for every call.
func parseIndex(file io.Reader, hashSize int, visit func(indexed)) (base string, err error) {
	in := bufio.NewReaderSize(file, indexPiece)
	head, err := in.Peek(indexHeader)
	if err != nil || string(head[:4]) != "DIRC" {
		return "", errIndex
	}
	version, count := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if version < 2 || version > 4 {
		return "", umpire.Errorf("version %d: %w", version, errIndex)
	}
	in.Discard(indexHeader) //nolint:errcheck // Peek has buffered it
	var name []byte
	for range count {
		data, err := in.Peek(maxEntry)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		mode, next, size, err := indexEntry(data, name, version, hashSize)
		if err != nil {
			return "", err
		}
		flags := binary.BigEndian.Uint16(data[entryFixed+hashSize:])
		hidden := flags&flagAssumed != 0
		if flags&flagExtended != 0 {
			hidden = hidden || binary.BigEndian.Uint16(data[entryFixed+hashSize+2:])&flagSkipped != 0
		}
		visit(indexed{mode, next, data[entryFixed : entryFixed+hashSize], hidden})
		name = append(name[:0], next...)
		in.Discard(size) //nolint:errcheck // Peek has buffered it
	}
	return indexBase(in, hashSize), nil
}

// indexEntry decodes one entry and returns its size. In version 4 its name shares a prefix with
// the name before it.
func indexEntry(data, before []byte, version uint32, hashSize int) (mode uint32, name []byte, size int, err error) {
	at := entryFixed + hashSize
	if len(data) < at+2 {
		return 0, nil, 0, errIndex
	}
	mode = binary.BigEndian.Uint32(data[entryMode:])
	flags := binary.BigEndian.Uint16(data[at:])
	if at += 2; flags&flagExtended != 0 {
		at += 2
	}
	if version < 4 {
		length := int(flags & flagNameSize)
		if length == flagNameSize && at < len(data) {
			length = bytes.IndexByte(data[at:], 0)
		}
		end := (at+length)/entryAlign*entryAlign + entryAlign // padded with at least one zero
		if length < 0 || end > len(data) {
			return 0, nil, 0, errIndex
		}
		return mode, data[at : at+length], end, nil
	}
	drop, n := indexNumber(data[min(at, len(data)):])
	at += n
	length := -1
	if at < len(data) {
		length = bytes.IndexByte(data[at:], 0)
	}
	if n == 0 || length < 0 || drop > len(before) {
		return 0, nil, 0, errIndex
	}
	name = append(append([]byte{}, before[:len(before)-drop]...), data[at:at+length]...)
	return mode, name, at + length + 1, nil
}

// indexNumber decodes a variable-length number and returns its size, or 0 if it is malformed.
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

// indexBase returns the name of the shared index that this one builds on, or "". It skips the
// extensions, which state their size; the last part is the hash of the whole file.
func indexBase(in *bufio.Reader, hashSize int) string {
	for {
		head, err := in.Peek(extensionHead + hashSize)
		if err != nil {
			return ""
		}
		if string(head[:4]) == "link" {
			return hex.EncodeToString(head[extensionHead:])
		}
		if _, err := in.Discard(extensionHead + int(binary.BigEndian.Uint32(head[4:]))); err != nil {
			return ""
		}
	}
}

// SameIndex reports whether two indexes have the same entries. It ignores the file times and
// sizes, because git rewrites an index whenever it refreshes them. A split index is the same
// only if all bytes are equal.
func SameIndex(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	for _, size := range []int{sha1Size, sha256Size} {
		first, ok := entriesIn(a, size)
		second, also := entriesIn(b, size)
		if ok && also {
			return first == second
		}
	}
	return false
}

// entriesIn formats the entries of an index, and reports whether it is not split.
func entriesIn(index []byte, hashSize int) (string, bool) {
	var b strings.Builder
	base, err := parseIndex(bytes.NewReader(index), hashSize, func(e indexed) {
		fmt.Fprintf(&b, "%o %x %q\n", e.mode, e.object, e.name)
	})
	return b.String(), err == nil && base == ""
}

// ReadHidden returns the files of an index that git assumes unchanged or skips. It returns an
// empty map for a missing index.
func ReadHidden(file string) (map[string]bool, error) {
	return readNames(file, func(e indexed) bool { return e.hidden })
}

// ReadNames returns the files that git tracks in the work tree whose top folder is top. The map
// is empty for a missing index, and lacks the entries of a shared index.
func ReadNames(top string) (map[string]bool, error) {
	gitDir, err := Find(filepath.Join(top, ".git"))
	if err != nil {
		return nil, err
	}
	return readNames(filepath.Join(gitDir, "index"), func(e indexed) bool { return e.mode&^0o7777 != modeGitlink })
}

// readNames returns the files of an index for which wanted is true.
func readNames(file string, wanted func(indexed) bool) (map[string]bool, error) {
	found := map[string]bool{}
	f, err := files.OpenSmall(file, maxIndex)
	if errors.Is(err, os.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for _, size := range []int{sha1Size, sha256Size} {
		clear(found)
		if _, err = f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		_, err = parseIndex(f, size, func(e indexed) {
			if wanted(e) {
				found[string(e.name)] = true
			}
		})
		if err == nil {
			return found, nil
		}
	}
	return nil, err
}
