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

// A disk is an SQLite file system in memory. Written data is in the volatile image, and
// synced data also in the durable one. At a chosen operation it fails, once or
// permanently, or loses power.
//
// The program's driver does not support file systems written in Go, so the disk runs
// under another driver, with the same schema and the same statements.
type disk struct {
	shm string // a folder for shared memory, which a power loss clears

	mu      sync.Mutex
	files   map[string]*image
	faultAt int // the operation that fails, from 1; 0 means none fails
	fault   trouble
	ops     int
	dead    bool // all operations fail
	synced  int  // number of syncs
	stuck   bool // the next sync fails
}

// A trouble is a kind of disk failure.
type trouble int

const (
	failsOnce  trouble = iota // one operation fails
	fullOnce                  // one write finds no space
	failsAfter                // this and all later operations fail
	powerLost                 // unsynced data is lost
	powerTorn                 // unsynced data is partly lost
)

func (t trouble) String() string {
	return [...]string{"fails once", "is full once", "fails for good", "loses power", "loses power in the middle of writing"}[t]
}

// An image is one file.
type image struct {
	data    []byte
	durable []byte
	exists  bool    // durably, because its folder was synced
	dirty   []write // since the last sync
	locks   fileLocks
}

// A write is an unsynced write; without data it truncates the file.
type write struct {
	data []byte
	off  int64
}

func newDisk(shm string) *disk { return &disk{shm: shm, files: map[string]*image{}} }

// clone copies the disk without its planned failure.
func (d *disk) clone(shm string) *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := newDisk(shm)
	for name, f := range d.files {
		c.files[name] = &image{data: slices.Clone(f.data), durable: slices.Clone(f.durable), exists: f.exists, dirty: slices.Clone(f.dirty)}
	}
	return c
}

// restart returns the disk after a restart: with all written data if only the process
// ended, the durable data if power was lost, and a random part of the rest if power was
// lost during a write.
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

// sector is the unit that a disk writes atomically.
const sector = 512

// tear keeps some of the unsynced writes, in any order, and some of the sectors of each.
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

// An operation is a kind of request from SQLite to a disk.
type operation int

const (
	reads  operation = iota // opens, examines or reads
	fixes                   // makes durable, or deletes
	writes                  // needs space
)

// counts reports whether a failure at an operation can reveal anything new: losing power
// during a read equals losing it before the next write.
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

// step counts an operation and returns its failure, or nil.
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

// syncs returns the number of syncs.
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

// reached reports whether the failure has occurred.
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

// A handle is one open file.
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

// Sync makes the file durable. SQLite syncs the folder together with a new file.
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

// DeviceCharacteristics returns what SQLite assumes of real disks: a write leaves the
// neighboring bytes alone.
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
