//go:build linux || darwin

package sqlite

import (
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// A disk is an SQLite file system in memory. What was written is in the volatile
// image, and what was also synced in the durable one. At one operation of its
// choice it fails, once or for good, or loses power.
//
// The driver of the program has no file systems that can be written in Go, so the
// disk works under another driver, with the same schema and the same statements.
type disk struct {
	shm string // a folder for shared memory, which a loss of power clears

	mu      sync.Mutex
	files   map[string]*image
	faultAt int // the operation that fails, from 1; 0 is none
	fault   trouble
	ops     int
	dead    bool // nothing works any more
	synced  int  // how often a file was made durable
	stuck   bool // the next time fails
}

// A trouble is what happens to a disk.
type trouble int

const (
	failsOnce  trouble = iota // one operation fails
	fullOnce                  // one write finds no room
	failsAfter                // that operation and all after it fail
	powerLost                 // what was not synced is gone
	powerTorn                 // what was not synced is there in part
)

func (t trouble) String() string {
	return [...]string{"fails once", "is full once", "fails for good", "loses power", "loses power in the middle of writing"}[t]
}

// An image is one file.
type image struct {
	data    []byte
	durable []byte
	exists  bool    // for sure, as its folder was synced
	dirty   []write // since the last sync
	locks   fileLocks
}

// A write is one that is not synced; with no data it cuts the file.
type write struct {
	data []byte
	off  int64
}

func newDisk(shm string) *disk { return &disk{shm: shm, files: map[string]*image{}} }

// clone copies the disk as it is, with no trouble ahead.
func (d *disk) clone(shm string) *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := newDisk(shm)
	for name, f := range d.files {
		c.files[name] = &image{data: slices.Clone(f.data), durable: slices.Clone(f.durable), exists: f.exists, dirty: slices.Clone(f.dirty)}
	}
	return c
}

// restart is what a machine finds after it went down: everything that was written
// if only the process ended, what is durable if power was lost, and at random a
// part of the rest if it was lost in the middle of writing.
func (d *disk) restart(shm string, dice *rand.Rand) *disk {
	c := d.clone(shm)
	if d.fault < powerLost {
		return c
	}
	for name, f := range c.files {
		if !f.exists {
			delete(c.files, name)
			continue
		}
		f.data = slices.Clone(f.durable)
		if d.fault == powerTorn {
			f.tear(dice)
		}
		f.durable, f.dirty = slices.Clone(f.data), nil
	}
	return c
}

// sector is what a disk writes whole or not at all.
const sector = 512

// tear keeps some of the writes that were not synced, in any order, and of each
// some of the sectors.
func (f *image) tear(dice *rand.Rand) {
	for _, w := range f.dirty {
		if dice.IntN(2) == 0 {
			continue
		}
		for at := 0; at < len(w.data); at += sector {
			if dice.IntN(4) > 0 {
				f.data = put(f.data, w.data[at:min(at+sector, len(w.data))], w.off+int64(at))
			}
		}
	}
}

func put(to, data []byte, off int64) []byte {
	if need := off + int64(len(data)); int64(len(to)) < need {
		to = append(to, make([]byte, need-int64(len(to)))...)
	}
	copy(to[off:], data)
	return to
}

// An operation is what SQLite asks of a disk.
type operation int

const (
	reads  operation = iota // opens, looks or reads
	fixes                   // makes durable, or deletes
	writes                  // needs room
)

// counts reports whether a trouble can come with an operation and tell anything
// new: power that is lost while reading is lost before the next write.
func (t trouble) counts(op operation) bool {
	switch t {
	case fullOnce:
		return op == writes
	case powerLost, powerTorn:
		return op != reads
	case failsOnce, failsAfter:
	}
	return true
}

// step counts an operation and returns what is to go wrong with it.
func (d *disk) step(op operation, failure error) error {
	if d.dead {
		return failure
	}
	if !d.fault.counts(op) {
		return nil
	}
	d.ops++
	if d.ops != d.faultAt {
		return nil
	}
	switch d.fault {
	case failsOnce:
	case fullOnce:
		return sqlite3.FULL
	case failsAfter, powerLost, powerTorn:
		d.dead = true
	}
	return failure
}

// syncs returns how often a file was made durable.
func (d *disk) syncs() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.synced
}

// stick makes the next sync fail.
func (d *disk) stick() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stuck = true
}

// reached reports whether the trouble has come.
func (d *disk) reached() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.faultAt > 0 && d.ops >= d.faultAt
}

func (d *disk) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(reads, sqlite3.CANTOPEN); err != nil {
		return nil, flags, err
	}
	f, ok := d.files[name]
	if !ok {
		if flags&vfs.OPEN_CREATE == 0 {
			return nil, flags, sqlite3.CANTOPEN
		}
		f = &image{}
		d.files[name] = f
	}
	h := &handle{disk: d, image: f}
	if flags&vfs.OPEN_MAIN_DB != 0 {
		h.shm = vfs.NewSharedMemory(filepath.Join(d.shm, filepath.Base(name)+"-shm"), flags)
	}
	return h, flags, nil
}

func (d *disk) Delete(name string, _ bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(fixes, sqlite3.IOERR_DELETE); err != nil {
		return err
	}
	if _, ok := d.files[name]; !ok {
		return sqlite3.IOERR_DELETE_NOENT
	}
	delete(d.files, name)
	return nil
}

func (d *disk) Access(name string, _ vfs.AccessFlag) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.files[name]
	return ok, d.step(reads, sqlite3.IOERR_ACCESS)
}

func (d *disk) FullPathname(name string) (string, error) { return name, nil }

// A handle is one opening of a file.
type handle struct {
	*image

	disk *disk
	lock vfs.LockLevel
	shm  vfs.SharedMemory
}

func (h *handle) SharedMemory() vfs.SharedMemory { return h.shm }

func (h *handle) Close() error {
	err := h.Unlock(vfs.LOCK_NONE)
	if h.shm != nil {
		return h.shm.Close()
	}
	return err
}

func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if err := h.disk.step(reads, sqlite3.IOERR_READ); err != nil {
		return 0, err
	}
	if off >= int64(len(h.data)) {
		return 0, io.EOF
	}
	n := copy(p, h.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if err := h.disk.step(writes, sqlite3.IOERR_WRITE); err != nil {
		return 0, err
	}
	h.data = put(h.data, p, off)
	h.dirty = append(h.dirty, write{slices.Clone(p), off})
	return len(p), nil
}

func (h *handle) Truncate(size int64) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if err := h.disk.step(writes, sqlite3.IOERR_TRUNCATE); err != nil {
		return err
	}
	if size < int64(len(h.data)) {
		h.data = h.data[:size]
	}
	return nil
}

// Sync makes the file durable. SQLite syncs the folder with a new file.
func (h *handle) Sync(vfs.SyncFlag) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if err := h.disk.step(fixes, sqlite3.IOERR_FSYNC); err != nil {
		return err
	}
	if h.disk.stuck {
		h.disk.stuck = false
		return sqlite3.IOERR_FSYNC
	}
	h.disk.synced++
	h.durable, h.dirty, h.exists = slices.Clone(h.data), nil, true
	return nil
}

func (h *handle) Size() (int64, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	return int64(len(h.data)), nil
}

func (h *handle) SectorSize() int { return sector }

// DeviceCharacteristics is what SQLite takes for granted of real disks: writing
// some bytes leaves those beside them alone.
func (h *handle) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return vfs.IOCAP_POWERSAFE_OVERWRITE
}

// fileLocks are held by the handles of one file.
type fileLocks struct {
	shared            int
	reserved, pending *handle
}

func (h *handle) Lock(level vfs.LockLevel) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.lock >= level {
		return nil
	}
	l := &h.locks
	switch level { //nolint:exhaustive // SQLite asks for these three
	case vfs.LOCK_SHARED:
		if l.pending != nil {
			return sqlite3.BUSY
		}
		l.shared++
	case vfs.LOCK_RESERVED:
		if l.reserved != nil {
			return sqlite3.BUSY
		}
		l.reserved = h
	case vfs.LOCK_EXCLUSIVE:
		if l.pending != nil && l.pending != h || l.reserved != nil && l.reserved != h {
			return sqlite3.BUSY
		}
		l.pending = h
		if l.shared > 1 {
			h.lock = vfs.LOCK_PENDING
			return sqlite3.BUSY
		}
	}
	h.lock = level
	return nil
}

func (h *handle) Unlock(level vfs.LockLevel) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.lock <= level {
		return nil
	}
	l := &h.locks
	if l.reserved == h {
		l.reserved = nil
	}
	if l.pending == h {
		l.pending = nil
	}
	if level == vfs.LOCK_NONE && h.lock >= vfs.LOCK_SHARED {
		l.shared--
	}
	h.lock = level
	return nil
}

func (h *handle) CheckReservedLock() (bool, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	return h.locks.reserved != nil, nil
}
