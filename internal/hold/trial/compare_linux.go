package trial

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// This file compares one path of a layer with the folder below it.

// compareFolder compares a folder's own attributes, not its entries.
func (r *reader) compareFolder(path string, was, is *unix.Stat_t) {
	before, after := entryOf(was), entryOf(is)
	switch {
	case before.Type != after.Type || before.UID != after.UID || before.GID != after.GID:
		r.addEffect(Effect{Path: path, Kind: Attributes, Before: before, After: after})
	case r.isTimeOfTrial(path, was, is):
		r.effects.Folders = append(r.effects.Folders, Folder{path, after.ModTime})
	}
}

// isTimeOfTrial reports whether the trial changed the modification time of a folder. If
// another program has changed the folder since the trial began and the layer has an older
// time, that is the original time: the folder was merely copied up.
func (r *reader) isTimeOfTrial(path string, was, is *unix.Stat_t) bool {
	if r.shown != nil {
		return r.shown[path]
	}
	since := !time.Unix(was.Ctim.Unix()).Before(r.began)
	older := time.Unix(is.Mtim.Unix()).Before(r.began)
	return was.Mtim != is.Mtim && !(since && older)
}

// file compares an entry unless it is a folder both before and after.
func (r *reader) file(p *place, name string, was, is *unix.Stat_t) error {
	path := filepath.Join(p.path, name)
	e := Effect{Path: path, Kind: Created, After: entryOf(is), Before: entryOf(was)}
	if err := r.fill(&e.After, p.upper, name, is); err != nil {
		return r.unreadable(path, err)
	}
	if e.After.Type.IsRegular() && is.Nlink > 1 {
		id := fileID{is.Dev, is.Ino}
		r.names[id] = append(r.names[id], path)
	}
	if e.Before.Exists() {
		if err := r.fill(&e.Before, p.lower, name, was); err != nil {
			return r.unreadable(path, err)
		}
		if e.Kind = compare(&e.Before, &e.After); e.Kind == "" {
			return nil
		}
	}
	if e.Before.Type.IsRegular() && e.Before.Exists() && e.Before.Links > 1 {
		r.differ(path, DiffersHardLink)
	}
	if t := e.After.Type.Type(); t&^(fs.ModeDir|fs.ModeSymlink) != 0 {
		r.differ(path, DiffersSpecial)
	}
	r.addEffect(e)
	return nil
}

// compare returns how two entries differ, or "" if they do not. The mode and time of a
// symbolic link are ignored.
func compare(before, after *Entry) Kind {
	switch {
	case before.Type.Type() != after.Type.Type() || before.Digest != after.Digest || before.Link != after.Link:
		return Changed
	case before.UID != after.UID || before.GID != after.GID:
		return Attributes
	case after.Type&fs.ModeSymlink == 0 && (before.Type != after.Type || !before.ModTime.Equal(after.ModTime)):
		return Attributes
	}
	return ""
}

// fill adds the digest of a file, or the target of a link.
func (r *reader) fill(e *Entry, d *dir, name string, info *unix.Stat_t) (err error) {
	switch {
	case e.Type.IsRegular():
		var read int64
		e.Digest, read, err = d.digestIn(r.ctx, name, info)
		if r.read += read; err == nil && r.read > r.limits.Bytes {
			err = r.stop("more than %d bytes to compare", r.limits.Bytes)
		}
	case e.Type&fs.ModeSymlink != 0:
		e.Link, err = readLinkAt(d.fd(), name)
	}
	return err
}

// checkAttributes compares the extended attributes of an entry and returns the overlay's own.
func (r *reader) checkAttributes(p *place, name, path string, was *unix.Stat_t) (map[string]string, error) {
	overlay, now, err := p.upper.attributes(name)
	if err != nil {
		return nil, err
	}
	before := ""
	if was.Ino != 0 {
		if _, before, err = p.lower.attributes(name); err != nil {
			return nil, err
		}
	}
	if before != now {
		r.differ(path, DiffersAttributes)
	}
	for attribute := range overlay {
		if !slices.Contains(harmless, attribute) {
			r.differ(path, DiffersAttributes)
		}
	}
	return overlay, nil
}

// checkOwner looks at a lower entry that is missing from the layer. A user namespace does
// not map other users and groups, so copying such a file up fails (EOVERFLOW). Its parent
// folders are copied up first, so only those need to be checked.
func (r *reader) checkOwner(p *place, name string) error {
	was, err := p.lower.stat(name)
	if err != nil {
		return r.unreadable(filepath.Join(p.path, name), err)
	}
	own := int(was.Uid) == os.Geteuid()
	if was.Ino == 0 || own && int(was.Gid) == os.Getegid() {
		return nil
	}
	if own || unix.Faccessat(p.lower.fd(), name, unix.W_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW) == nil {
		r.differ(filepath.Join(p.path, name), DiffersOwner)
	}
	return nil
}
