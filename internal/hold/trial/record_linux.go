package trial

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// pendingFile is the journal of a record while a call writes its files. It describes the
// old files. When the record is sealed, journalFile also describes the new files, and
// doneFile marks the record as complete.
const pendingFile = relay.PendingFile

// A Recording is the record of a call that writes files itself. The old content survives
// even a power loss when [Record] returns. After a crash before [Recording.Seal],
// [Recover] detects the writes.
type Recording struct {
	*transaction

	inPlace bool
	room    int64 // for copies
}

// Record saves the current content of some paths before a call writes there. Content that
// it cannot save is noted in the record: see [Loss].
func Record(ctx context.Context, spec RecordSpec) (*Recording, error) {
	j := &journal{
		Version: journalVersion, ID: callPrefix + strings.ToLower(rand.Text()[:idLetters]), Time: time.Now().UTC(),
		Command: spec.Command, Call: spec.Call, Session: spec.Session, Project: spec.Roots[0], Later: spec.Later,
	}
	if err := j.planRecord(&spec); err != nil {
		return nil, err
	}
	record, lock, err := j.claimRecord(ctx, spec.State)
	if err != nil {
		return nil, err
	}
	t, err := openTransaction(record, lock, j)
	if err != nil {
		return nil, errors.Join(err, files.RemoveTree(record))
	}
	t.vault = spec.Vault
	r := &Recording{transaction: t, inPlace: spec.InPlace || spec.Later, room: relay.MaxRecorded}
	if spec.Later {
		r.room = relay.MaxRecordedLater
	}
	if err := errors.Join(r.remember(ctx), announceSteps(r.record, r.Steps)); err != nil {
		t.close()
		return nil, errors.Join(err, files.RemoveTree(record))
	}
	return r, nil
}

// claimRecord makes the folder of a call's record. It first seals the record of an equal
// call of another program.
func (j *journal) claimRecord(ctx context.Context, state string) (record string, lock *os.File, err error) {
	if !j.Later {
		return claimRecord(state, j.ID)
	}
	if err := SealCall(ctx, state, j.Session, j.Call); err != nil {
		return "", nil, err
	}
	for nth := range relay.MaxEqualCalls {
		j.ID = relay.CallRecord(string(j.Session), string(j.Call), nth)
		if record, lock, err = claimRecord(state, j.ID); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return record, lock, err
}

// Leave leaves a record to be sealed later, by [SealCall] or [Recover].
func (r *Recording) Leave() { r.close() }

// SealCall seals the record of another program's call, if it exists.
func SealCall(ctx context.Context, state string, session umpire.SessionID, call umpire.CallID) error {
	for nth := range relay.MaxEqualCalls {
		record := filepath.Join(state, keptFolder, relay.CallRecord(string(session), string(call), nth))
		if !files.Exists(record, pendingFile) {
			continue
		}
		lock, err := lockSoon(record)
		if err == nil {
			err = sealPending(ctx, record, lock, func(*journal, bool) bool { return true })
		}
		if err != nil {
			return files.IgnoreMissing(err)
		}
	}
	return nil
}

// lockTries limits the attempts to lock an unused record: a process that is just starting
// briefly holds the locks of its parent.
const lockTries = 200

// lockSoon locks a record, and waits a moment for a process that is about to release it.
func lockSoon(record string) (lock *os.File, err error) {
	for range lockTries {
		if lock, err = lockRecord(record); !errors.Is(err, errLocked) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return lock, err
}

// sealPending seals the record of a call whose process has ended, if isTime agrees.
func sealPending(
	ctx context.Context, record string, lock *os.File, isTime func(j *journal, changed bool) bool,
) error {
	j, err := readJournalFile(filepath.Join(record, pendingFile))
	if err == nil && files.Exists(record, doneFile) { // a crash came after sealing it and before this
		err = errors.Join(os.Remove(filepath.Join(record, pendingFile)), lock.Close())
		return err
	}
	if err != nil {
		_ = lock.Close() // also unlocks it
		return err
	}
	t, err := openTransaction(record, lock, j)
	if err != nil {
		return err
	}
	r := &Recording{transaction: t, inPlace: j.Later}
	if j.Later {
		changed, err := r.readChanges(ctx)
		if err != nil || !isTime(j, changed) {
			r.close()
			return err
		}
	}
	_, err = r.Seal(ctx)
	return err
}

// findOthers marks steps as unchanged if a later record of another call or an undo covers
// them. Only calls of other programs can overlap with such records.
func (r *Recording) findOthers() error {
	folder := filepath.Dir(r.record)
	began, err := os.Stat(filepath.Join(r.record, pendingFile))
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		other := filepath.Join(folder, e.Name())
		done, err := os.Stat(filepath.Join(other, doneFile))
		if err != nil || done.ModTime().Before(began.ModTime()) {
			continue // incomplete, removed, or older
		}
		j, err := readJournal(other)
		put, stagedErr := readStaged(other)
		if errors.Join(err, stagedErr) != nil {
			continue // being removed, or damaged
		}
		for i := range r.Steps {
			s := &r.Steps[i]
			k := slices.IndexFunc(j.Steps, func(o step) bool { return o.Path == s.Path && !o.Unchanged })
			s.Unchanged = s.Unchanged || k >= 0 && k < len(put) && isPut(&s.After, &j.Steps[k].After, put[k])
		}
	}
	return nil
}

// isPut reports whether a path still has the entry that a record put there.
func isPut(now, put *Entry, inode uint64) bool {
	if !now.Exists() || !put.Exists() {
		return now.Exists() == put.Exists()
	}
	then := *put
	then.Inode = inode
	return isSameFile(now, &then) && hasSameAttributes(now, &then) && now.Digest == then.Digest
}

// planRecord lists the paths and their missing parent folders.
func (j *journal) planRecord(spec *RecordSpec) error {
	planned := map[string]bool{}
	for _, path := range spec.Paths {
		base := filepath.Dir(path)
		missing := []string{path}
		for ; ; base = filepath.Dir(base) {
			if _, err := os.Lstat(base); err == nil {
				break
			} else if !files.Missing(err) || base == filepath.Dir(base) {
				return err
			}
			missing = append(missing, base)
		}
		root, err := j.addRoot(spec.Roots, base)
		if err != nil {
			return err
		}
		for _, p := range missing {
			if !planned[p] {
				planned[p] = true
				j.Steps = append(j.Steps, step{Path: p, Root: root})
			}
		}
	}
	slices.SortFunc(j.Steps, func(a, b step) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// addRoot finds the workspace folder that holds a folder on the same mount, because files
// cannot be moved between mounts. If there is none, the folder becomes a root itself.
func (j *journal) addRoot(roots []string, folder string) (int, error) {
	root := folder
	for _, r := range roots {
		if files.Within(r, folder) && (root == folder || len(r) > len(root)) && isOneMount(r, folder) {
			root = r
		}
	}
	if i := slices.IndexFunc(j.Roots, func(r keptRoot) bool { return r.Path == root }); i >= 0 {
		return i, nil
	}
	var st unix.Stat_t
	if err := unix.Lstat(root, &st); err != nil {
		return 0, &fs.PathError{Op: "look at", Path: root, Err: err}
	}
	j.Roots = append(j.Roots, keptRoot{Path: root, Device: st.Dev, Inode: st.Ino})
	return len(j.Roots) - 1, nil
}

func isOneMount(a, b string) bool {
	one, errOne := mountOf(unix.AT_FDCWD, a)
	other, errOther := mountOf(unix.AT_FDCWD, b)
	return errOne == nil && errOther == nil && one == other
}

// remember saves the current content of the paths, and then the journal.
func (r *Recording) remember(ctx context.Context) error {
	for _, name := range []string{filesFolder, afterFolder} {
		if err := os.Mkdir(filepath.Join(r.record, name), 0o700); err != nil {
			return err
		}
	}
	to, err := r.openFiles()
	if err != nil {
		return err
	}
	defer closeFD(to)
	for i := range r.Steps {
		if err := r.rememberStep(ctx, i, to); err != nil {
			return err
		}
	}
	if err := r.findApart(); err != nil {
		return err
	}
	if err := r.rememberFolders(); err != nil {
		return err
	}
	data, err := encodePaths(r.journal)
	if err != nil {
		return err
	}
	if r.inPlace {
		return r.write(pendingFile, data)
	}
	return errors.Join(unix.Fsync(to), r.write(pendingFile, data), files.SyncFolder(filepath.Dir(r.record)))
}

// write writes a file of the record atomically. It does not wait for the disk if the call writes in place.
func (r *Recording) write(name string, data []byte) error {
	path := filepath.Join(r.record, name)
	if !r.inPlace {
		return files.Replace(path, data, 0o600)
	}
	return replaceQuickly(path, data)
}

// replaceQuickly writes a file atomically but does not wait for the disk. A killed
// process leaves the complete file or nothing.
func replaceQuickly(path string, data []byte) error {
	return errors.Join(os.WriteFile(path+".tmp", data, 0o600), os.Rename(path+".tmp", path))
}

// rememberStep saves the content of a path, as a hard link if possible and otherwise as a
// copy. It notes content that cannot be saved.
func (r *Recording) rememberStep(ctx context.Context, i, to int) error {
	s := &r.Steps[i]
	parent, base, err := r.parentOf(s.Root, s.Path)
	if files.Missing(err) {
		return nil // a parent folder is created first
	}
	if err != nil {
		return err
	}
	if s.Before, _, err = statAt(parent, base); err != nil {
		return err
	}
	s.Secret = isSecret(r.vault, s.Path) && (!s.Before.Exists() || s.Before.Type.IsRegular())
	if !s.Before.Exists() {
		return nil
	}
	err = r.saveStep(ctx, i, parent, base, to)
	if errors.Is(err, fs.ErrPermission) {
		s.Lost, err = relay.LostUnreadable, nil
	}
	return err
}

// saveStep saves the content of a path, or notes why it cannot.
func (r *Recording) saveStep(ctx context.Context, i, parent int, base string, to int) error {
	s, name := &r.Steps[i], strconv.Itoa(i)
	links, room := s.Before.Links, r.room
	if !r.inPlace {
		links, room = 1, math.MaxInt64 // it gets a hard link, if possible
	}
	if s.Secret {
		room = min(room, maxSealed)
	}
	if s.Lost = relay.LossOf(s.Before.Type, links, s.Before.Size, room); s.Lost != "" {
		return nil
	}
	before, _, err := readAt(ctx, parent, base)
	if err != nil {
		return err
	}
	s.Before = before
	if s.Secret {
		return r.rememberSecret(parent, base, s.Path, name)
	}
	if !r.inPlace && before.Type.IsRegular() {
		if err = unix.Linkat(parent, base, to, name, 0); err == nil || !isUnlinkable(err) {
			return err
		}
		if s.Lost = relay.LossOf(before.Type, 1, before.Size, r.room); s.Lost != "" {
			return nil
		}
	}
	if before.Type.IsRegular() {
		r.room -= before.Size
	}
	if err := copyEntry(parent, base, to, name, before, map[fileID]string{}); err != nil || r.inPlace {
		return err
	}
	return flushAt(to, name)
}

// rememberSecret saves a file with secrets, sealed.
func (r *Recording) rememberSecret(folder int, base, path, name string) error {
	from, err := openFile(folder, base)
	if err != nil {
		return err
	}
	defer from.Close()
	return sealFile(r.vault, from, r.record, path, name)
}

// rememberFolders notes the folders whose entries may change.
func (r *Recording) rememberFolders() error {
	all := map[string]folderStep{}
	for i := range r.Steps {
		s := &r.Steps[i]
		dir := filepath.Dir(s.Path)
		if _, listed := all[dir]; listed || slices.ContainsFunc(r.Steps, func(o step) bool { return o.Path == dir }) {
			continue
		}
		if err := r.planFolder(all, s.Root, dir); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		r.Folders = append(r.Folders, all[path])
	}
	return nil
}

// Expect notes the content that is about to be written to a path. After a crash, the
// record can then distinguish the call's writes from later ones.
func (r *Recording) Expect(path string, content []byte) error {
	i := slices.IndexFunc(r.Steps, func(s step) bool { return s.Path == path })
	if i < 0 {
		return umpire.Errorf("%s is not in the record of its call", path)
	}
	if len(content) > maxMergeSize || r.Steps[i].Secret {
		return nil
	}
	return replaceQuickly(filepath.Join(r.record, afterName(i)), content)
}

// Text returns the file's previous content, or nil if it did not exist or was not text.
func (r *Recording) Text(path string) []byte {
	i := slices.IndexFunc(r.Steps, func(s step) bool { return s.Path == path })
	if i < 0 {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(r.record, filesFolder, strconv.Itoa(i)))
	if err != nil || len(text) > maxMergeSize || !isText(text) {
		return nil
	}
	return text
}

// Seal notes what the call has written and completes the record for undo. A record
// without changes is forgotten and returned without an ID.
func (r *Recording) Seal(ctx context.Context) (*Kept, error) {
	defer r.close()
	changed, err := r.readChanges(ctx)
	if err != nil {
		return nil, err
	}
	if !changed {
		return &Kept{}, files.RemoveTree(r.record)
	}
	if err := announceSteps(r.record, r.Steps); err != nil { // a trial may have started since Record
		return nil, err
	}
	r.spareLost()
	r.addMoved(ctx)
	for i := range r.Steps {
		if err := r.sealStep(ctx, i); err != nil {
			return nil, err
		}
	}
	for i := range r.Folders {
		f := &r.Folders[i]
		parent, base, err := r.parentOf(f.Root, f.Path)
		if err == nil {
			f.After, _, err = statAt(parent, base)
		}
		if err != nil && !files.Missing(err) {
			return nil, err
		}
	}
	if err := r.writeSealed(); err != nil {
		return nil, err
	}
	return r.kept(), nil
}

// spareLost finds moved files that could not be saved. They stay where they are now,
// because removing them would lose their content. A new file of another type has the number of a removed one.
func (r *Recording) spareLost() {
	for i := range r.Steps {
		from := &r.Steps[i]
		if from.Lost == "" || !from.Before.Exists() {
			continue
		}
		for k := range r.Steps {
			to := &r.Steps[k]
			if to.After.Inode == from.Before.Inode && to.After.Device == from.Before.Device &&
				to.After.Type.Type() == from.Before.Type.Type() {
				to.Lost = from.Lost
			}
		}
	}
}

// addMoved lists the entries of a folder that the call has moved as a whole, at their new
// paths. It leaves out files that other programs have put there since.
func (r *Recording) addMoved(ctx context.Context) {
	moved, listed := map[fileID]bool{}, map[string]bool{}
	for i := range r.Steps {
		s := &r.Steps[i]
		listed[s.Path] = true
		moved[fileID{s.Before.Device, s.Before.Inode}] = s.Before.Exists() && !s.After.Exists() && s.Lost == ""
	}
	for i := 0; i < len(r.Steps); i++ {
		s := &r.Steps[i]
		if s.Before.Exists() || !s.After.Type.IsDir() || !moved[fileID{s.After.Device, s.After.Inode}] {
			continue
		}
		entries, err := os.ReadDir(s.Path)
		if err != nil {
			continue // it stays, with its entries
		}
		for _, entry := range entries {
			path := filepath.Join(s.Path, entry.Name())
			parent, base, err := r.parentOf(s.Root, path)
			if err != nil || listed[path] {
				continue
			}
			if now, _, err := readAt(ctx, parent, base); err == nil && moved[fileID{now.Device, now.Inode}] {
				r.Steps = append(r.Steps, step{Path: path, Root: s.Root, After: now})
			}
		}
	}
}

// readChanges reads the current entries of the paths, and reports whether anything has changed.
func (r *Recording) readChanges(ctx context.Context) (changed bool, err error) {
	r.forgetFolder()
	for i := range r.Steps {
		s := &r.Steps[i]
		s.After = Entry{}
		parent, base, err := r.parentOf(s.Root, s.Path)
		if err == nil && s.Lost == "" {
			s.After, _, err = readAt(ctx, parent, base)
		}
		if err == nil && s.Lost != "" || errors.Is(err, fs.ErrPermission) {
			s.After, _, err = statAt(parent, base)
		}
		if err != nil && !files.Missing(err) && !errors.Is(err, unix.ELOOP) {
			return false, err
		}
		s.Unchanged = isUnchanged(&s.Before, &s.After)
		changed = changed || !s.Unchanged
	}
	if changed && r.Later {
		if err := r.findOthers(); err != nil {
			return false, err
		}
		changed = slices.ContainsFunc(r.Steps, func(s step) bool { return !s.Unchanged })
	}
	return changed, nil
}

// writeSealed completes a record: once doneFile exists, it can be undone.
func (r *Recording) writeSealed() error {
	data, err := encodePaths(r.journal)
	if err != nil {
		return err
	}
	if err := r.write(journalFile, data); err != nil {
		return err
	}
	inodes := make([]uint64, len(r.Steps))
	for i := range r.Steps {
		inodes[i] = r.Steps[i].After.Inode
	}
	if data, err = json.Marshal(inodes); err != nil {
		return err
	}
	if err := r.write(doneFile, data); err != nil {
		return err
	}
	return os.Remove(filepath.Join(r.record, pendingFile))
}

// sealStep saves the text that a call has put at a path, so later changes can be merged.
// If the path differs from the announced text, another program has written since, and the
// call's own text counts.
func (r *Recording) sealStep(ctx context.Context, i int) error {
	s := &r.Steps[i]
	if s.Unchanged || s.Lost != "" {
		return nil
	}
	if s.After.Exists() && s.After.Type.IsRegular() {
		written, err := os.Open(filepath.Join(r.record, afterName(i)))
		if errors.Is(err, fs.ErrNotExist) {
			err = r.saveNow(i)
		} else if err == nil {
			defer written.Close()
			var e Entry
			e, _, err = readFile(ctx, written)
			s.After.Digest, s.After.Size = e.Digest, e.Size
		}
		if err != nil {
			return err
		}
	}
	s.InPlace = s.Before.Inode == s.After.Inode && isSameContent(&s.Before, &s.After)
	return nil
}

// saveNow saves the current text of a path.
func (r *Recording) saveNow(i int) error {
	s := &r.Steps[i]
	parent, base, err := r.parentOf(s.Root, s.Path)
	if err != nil || s.Secret {
		return files.IgnoreMissing(err)
	}
	return files.IgnoreMissing(saveText(r.record, i, parent, base))
}

// isUnchanged reports whether a path is unchanged, as far as that can be detected.
func isUnchanged(before, after *Entry) bool {
	if !before.Exists() || !after.Exists() {
		return before.Exists() == after.Exists()
	}
	return isSameFile(after, before) && hasSameAttributes(after, before) && after.Digest == before.Digest &&
		after.Link == before.Link
}
