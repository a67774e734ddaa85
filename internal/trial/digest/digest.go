// Package digest names the content of a file without reading its holes.
package digest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"slices"
)

// holeSize is the grain in which holes are told from content. It is a part of the digest's
// definition: content of the same bytes has the same digest, wherever its holes are.
const holeSize = 64 << 10

// holesPrefix begins the digests of content with holes.
const holesPrefix = "holes-"

// Of returns a digest of a regular file's content, and how many bytes were read. Without a piece of 64 KiB of
// zeros, counted from the beginning, it is the SHA-256 of the bytes. With such pieces it is
// one of the others and of the places of the zeros, and the holes of a disk image are not
// read. It reads from the beginning, wherever the file's offset is.
func Of(ctx context.Context, f *os.File) (digest string, read int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	d := digester{content: sha256.New(), runs: sha256.New()}
	buf := make([]byte, min(holeSize, info.Size()+1))
	for at := int64(0); at < info.Size(); {
		if err := ctx.Err(); err != nil {
			return "", read, err
		}
		data := nextData(f, at)
		if data < 0 { // only a hole follows; its end may not be a whole piece
			data = info.Size()
		}
		if skip := data / holeSize * holeSize; skip > at {
			d.zeros(skip - at)
			at = skip
			continue
		}
		n, err := f.ReadAt(buf[:min(holeSize, len(buf))], at)
		if err != nil && err != io.EOF {
			return "", read, err
		}
		if n == 0 {
			break // it was cut meanwhile
		}
		d.piece(buf[:n])
		at, read = at+int64(n), read+int64(n)
	}
	return d.sum(), read, nil
}

// A digester takes content piece by piece.
type digester struct {
	content, runs hash.Hash
	length, run   int64 // of all, and of the zeros that came last
	holes         bool
}

func (d *digester) zeros(n int64) {
	d.length, d.run, d.holes = d.length+n, d.run+n, true
}

func (d *digester) piece(p []byte) {
	if len(p) == holeSize && allZero(p) {
		d.zeros(int64(len(p)))
		return
	}
	d.endRun()
	d.length += int64(len(p))
	d.content.Write(p)
}

// endRun writes down where zeros end and how many they are.
func (d *digester) endRun() {
	if d.run > 0 {
		var numbers [16]byte
		binary.BigEndian.PutUint64(numbers[:], uint64(d.length))
		binary.BigEndian.PutUint64(numbers[8:], uint64(d.run))
		d.runs.Write(numbers[:])
		d.run = 0
	}
}

func (d *digester) sum() string {
	content := d.content.Sum(nil)
	if !d.holes {
		return hex.EncodeToString(content)
	}
	d.endRun()
	d.runs.Write(content)
	return holesPrefix + hex.EncodeToString(d.runs.Sum(nil))
}

func allZero(p []byte) bool { return !slices.ContainsFunc(p, func(b byte) bool { return b != 0 }) }
