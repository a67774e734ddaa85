package trial

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

// holeSize is the granularity at which holes are detected. It is part of the digest's
// definition: equal content has an equal digest, wherever its holes are.
const holeSize = 64 << 10

// holesPrefix starts the digests of content with holes.
const holesPrefix = "holes-"

// digestContent returns a digest of a regular file's content and the number of bytes read. If no 64 KiB block,
// counted from the start, is all zeros, the digest is the SHA-256 of the content. Otherwise it
// covers the other blocks and the positions of the zeros, and the holes of a disk image are not
// read. Of reads from the start regardless of the file's offset.
func digestContent(ctx context.Context, f *os.File) (digest string, read int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	d := contentDigester{content: sha256.New(), runs: sha256.New()}
	buf := make([]byte, min(holeSize, info.Size()+1))
	for at := int64(0); at < info.Size(); {
		if err := ctx.Err(); err != nil {
			return "", read, err
		}
		data := nextData(f, at)
		if data < 0 { // only a hole follows; it may not end on a block boundary
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
			break // the file was truncated meanwhile
		}
		d.piece(buf[:n])
		at, read = at+int64(n), read+int64(n)
	}
	return d.sum(), read, nil
}

// A contentDigester hashes content block by block.
type contentDigester struct {
	content, runs hash.Hash
	length, run   int64 // total length, and length of the current run of zeros
	holes         bool
}

func (d *contentDigester) zeros(n int64) {
	d.length, d.run, d.holes = d.length+n, d.run+n, true
}

func (d *contentDigester) piece(p []byte) {
	if len(p) == holeSize && allZero(p) {
		d.zeros(int64(len(p)))
		return
	}
	d.endRun()
	d.length += int64(len(p))
	d.content.Write(p)
}

// endRun hashes the end and the length of a run of zeros.
func (d *contentDigester) endRun() {
	if d.run > 0 {
		var numbers [16]byte
		binary.BigEndian.PutUint64(numbers[:], uint64(d.length))
		binary.BigEndian.PutUint64(numbers[8:], uint64(d.run))
		d.runs.Write(numbers[:])
		d.run = 0
	}
}

func (d *contentDigester) sum() string {
	content := d.content.Sum(nil)
	if !d.holes {
		return hex.EncodeToString(content)
	}
	d.endRun()
	d.runs.Write(content)
	return holesPrefix + hex.EncodeToString(d.runs.Sum(nil))
}

func allZero(p []byte) bool { return !slices.ContainsFunc(p, func(b byte) bool { return b != 0 }) }
