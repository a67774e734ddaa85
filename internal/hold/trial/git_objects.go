package trial

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git names objects by it
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// Limits on reading objects. A larger file is not recognized as one.
const (
	maxObject = 256 << 20
	maxPack   = 4 << 30
	maxTable  = 1 << 30
)

// An objectStore looks up the objects of a git directory, before and after the changes.
type objectStore struct {
	*repository

	packed map[string]bool // objects in packs after the changes, read once
}

func newObjectStore(r *repository) *objectStore { return &objectStore{repository: r} }

// recorded reports whether git itself makes such a change of objects: it adds them, packs them,
// and deletes the ones it has packed.
func (s *objectStore) recorded(name string, c *gitdir.Change) bool {
	names := strings.Split(name, "/")[1:]
	switch {
	case len(names) == 0 || !c.Gone && c.After.IsDir():
		return !c.Gone
	case c.Gone && c.Before.IsDir():
		return true // its files are listed as separate changes
	case len(names) == 2 && len(names[0]) == 2:
		id := names[0] + names[1]
		if c.Gone {
			return s.isPacked(id)
		}
		return c.New && isObject(c.File, id)
	case len(names) == 2 && names[0] == "pack":
		return s.packRecorded(names[1], c)
	case len(names) == 2 && names[0] == "info":
		return names[1] == "packs" || names[1] == "commit-graph"
	}
	return len(names) > 2 && names[0] == "info" && names[1] == "commit-graphs"
}

// packRecorded judges one file of a pack.
func (s *objectStore) packRecorded(name string, c *gitdir.Change) bool {
	kind := filepath.Ext(name)
	switch {
	case c.Gone && kind == ".idx":
		ids, ok := readTable(c.Path)
		for _, id := range ids {
			ok = ok && (s.isPacked(id) || s.isLoose(id))
		}
		return ok
	case c.Gone && kind == ".pack":
		idx := strings.TrimSuffix(c.Path, kind) + ".idx"
		gone := s.View[idx]
		return gone != nil && gone.Gone
	case c.Gone:
		return true
	case kind == ".pack":
		return c.New && isWhole(c.File, "PACK") && s.View[strings.TrimSuffix(c.Path, kind)+".idx"] != nil
	case kind == ".idx":
		_, ok := readTable(c.File)
		return c.New && ok && s.View[strings.TrimSuffix(c.Path, kind)+".pack"] != nil
	}
	return c.New || strings.HasPrefix(name, "multi-pack-index")
}

func (s *objectStore) isLoose(id string) bool {
	return s.Has(filepath.Join(s.dir, "objects", id[:2], id[2:]))
}

// isPacked reports whether a pack contains an object after the changes.
func (s *objectStore) isPacked(id string) bool {
	if s.packed == nil {
		s.packed = map[string]bool{}
		for _, path := range s.listPaths(s.View, filepath.Join(s.dir, "objects/pack"), false) {
			if filepath.Ext(path) != ".idx" {
				continue
			}
			ids, _ := readTable(s.File(path)) // an unreadable table lists nothing
			for _, id := range ids {
				s.packed[id] = true
			}
		}
	}
	return s.packed[id]
}

func hashFor(id string) hash.Hash {
	if len(id) == hex.EncodedLen(sha256.Size) {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // see above
}

// isObject reports whether a file holds the object named id.
func isObject(file, id string) bool {
	f, err := files.OpenSmall(file, maxObject)
	if err != nil {
		return false
	}
	defer f.Close()
	in, err := zlib.NewReader(f)
	if err != nil {
		return false
	}
	h := hashFor(id)
	n, err := io.Copy(h, io.LimitReader(in, maxObject))
	return err == nil && n < maxObject && hex.EncodeToString(h.Sum(nil)) == id
}

// isWhole reports whether a file begins with a magic number and ends with the hash of the rest.
func isWhole(file, mark string) bool {
	f, err := files.OpenSmall(file, maxPack)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	for _, h := range []hash.Hash{sha1.New(), sha256.New()} { //nolint:gosec // see above
		head, sum := make([]byte, len(mark)), make([]byte, h.Size())
		if _, err := f.ReadAt(head, 0); err != nil || string(head) != mark {
			return false
		}
		body := info.Size() - int64(h.Size())
		if _, err := f.ReadAt(sum, max(body, 0)); err != nil {
			return false
		}
		if _, err := io.Copy(h, io.NewSectionReader(f, 0, body)); err == nil && bytes.Equal(h.Sum(nil), sum) {
			return true
		}
	}
	return false
}

// readTable reads the object names in a pack's index, according to gitformat-pack(5).
func readTable(file string) (ids []string, ok bool) {
	data, err := files.ReadSmall(file, maxTable)
	const head, fanout = 8, 256 * 4
	if err != nil || len(data) < head+fanout || string(data[:head]) != "\xfftOc\x00\x00\x00\x02" {
		return nil, false
	}
	count := int(binary.BigEndian.Uint32(data[head+fanout-4:]))
	size := sha1.Size
	if !isHashed(data, sha1.New()) { //nolint:gosec // see above
		if size = sha256.Size; !isHashed(data, sha256.New()) {
			return nil, false
		}
	}
	if len(data) < head+fanout+count*size {
		return nil, false
	}
	for i := range count {
		at := head + fanout + i*size
		ids = append(ids, hex.EncodeToString(data[at:at+size]))
	}
	return ids, true
}

// isHashed reports whether data ends with its own hash.
func isHashed(data []byte, h hash.Hash) bool {
	if len(data) < h.Size() {
		return false
	}
	body := data[:len(data)-h.Size()]
	h.Write(body)
	return bytes.Equal(h.Sum(nil), data[len(body):])
}

// hidesNothing reports whether an index is valid and hides no more files from git than the one
// before, with the assume-unchanged and skip-worktree bits.
func hidesNothing(before, after string) bool {
	was, err := gitdir.ReadHidden(before)
	now, also := gitdir.ReadHidden(after)
	for name := range now {
		if !was[name] {
			return false
		}
	}
	return err == nil && also == nil
}
