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
	"github.com/umpirehq/umpire/internal/relay"
	"github.com/umpirehq/umpire/internal/trial/merge"
)

// pendingFile is the journal of a record while a call writes the files in it. It says what stood
// there before. When the record is sealed, journalFile also says what stands there now, and
// doneFile that it is whole.
const pendingFile = relay.PendingFile

// A Recording is the record of a call that writes files by itself. What stood at its paths
// is safe, also after a power loss, when [Record] returns; a crash before [Recording.Seal]
// leaves it to [Recover] to find out what was written.
type Recording struct {
	*transaction

	inPlace bool
	room    int64 // for copies
}

// Record remembers what stands at some paths, before a call writes there. What it cannot remember is
// noted in the record: see [Loss].
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

// claimRecord makes the folder of the record of a call. It first seals the record of an equal call
// of another program.
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

// SealCall seals the record of a call that another program has made, if there is one.
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

// lockTries is how often a record is locked that nobody works on any more: a process that is
// being started holds the locks of the one that starts it for a moment.
const lockTries = 200

// lockSoon locks a record, and waits a moment for who is about to let go of it.
func lockSoon(record string) (lock *os.File, err error) {
	for range lockTries {
		if lock, err = lockRecord(record); !errors.Is(err, errLocked) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return lock, err
}

// sealPending seals the record of a call whose process has ended, if it is time for that.
func sealPending(
	ctx context.Context, record string, lock *os.File, isTime func(j *journal, changed bool) bool,
) error {
	j, err := readJournalFile(filepath.Join(record, pendingFile))
	if err == nil && files.Exists(record, doneFile) { // it was sealed, and a crash came before this
		err = errors.Join(os.Remove(filepath.Join(record, pendingFile)), lock.Close())
		return err
	}
	if err != nil {
		_ = lock.Close() // which unlocks it
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

// findOthers marks steps as unchanged if a later record has them: of another call that wrote there,
// or of an undo. Only a call of another program may overlap with those.
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
			continue // it is not whole, gone, or older
		}
		j, err := readJournal(other)
		put, stagedErr := readStaged(other)
		if errors.Join(err, stagedErr) != nil {
			continue // it is being removed, or damaged
		}
		for i := range r.Steps {
			s := &r.Steps[i]
			k := slices.IndexFunc(j.Steps, func(o step) bool { return o.Path == s.Path && !o.Unchanged })
			s.Unchanged = s.Unchanged || k >= 0 && k < len(put) && isPut(&s.After, &j.Steps[k].After, put[k])
		}
	}
	return nil
}

// isPut reports whether a path still has what the record says was put there.
func isPut(now, put *Entry, inode uint64) bool {
	if !now.Exists() || !put.Exists() {
		return now.Exists() == put.Exists()
	}
	then := *put
	then.Inode = inode
	return isSameFile(now, &then) && hasSameAttributes(now, &then) && now.Digest == then.Digest
}

// planRecord lists the paths with the folders above them that do not exist yet.
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

// addRoot finds the folder of the workspace in which a folder lies, without a mount between
// them: nothing can be moved over one. Elsewhere the folder is a root of its own.
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

// remember saves what stands at the paths, and then the journal that says so.
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
	data, err := json.Marshal(r.escaped())
	if err != nil {
		return err
	}
	if r.inPlace {
		return r.write(pendingFile, data)
	}
	return errors.Join(unix.Fsync(to), r.write(pendingFile, data), files.SyncFolder(filepath.Dir(r.record)))
}

// write writes a file of the record in one step. A program that writes in place does not wait for the disk.
func (r *Recording) write(name string, data []byte) error {
	path := filepath.Join(r.record, name)
	if !r.inPlace {
		return files.Replace(path, data, 0o600)
	}
	return replaceQuickly(path, data)
}

// replaceQuickly writes a file in one step, and does not wait for the disk: a process that is killed
// leaves all of it or nothing.
func replaceQuickly(path string, data []byte) error {
	return errors.Join(os.WriteFile(path+".tmp", data, 0o600), os.Rename(path+".tmp", path))
}

// rememberStep saves what stands at a path: a file as another name of it, else as a copy. What cannot be saved
// is noted.
func (r *Recording) rememberStep(ctx context.Context, i, to int) error {
	s := &r.Steps[i]
	parent, base, err := r.parentOf(s.Root, s.Path)
	if files.Missing(err) {
		return nil // a folder on the way is made first
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

// saveStep saves what stands at a path, or notes why it does not.
func (r *Recording) saveStep(ctx context.Context, i, parent int, base string, to int) error {
	s, name := &r.Steps[i], strconv.Itoa(i)
	links, room := s.Before.Links, r.room
	if !r.inPlace {
		links, room = 1, math.MaxInt64 // it gets another name, unless that cannot be
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

// rememberSecret saves a file that holds secrets, sealed.
func (r *Recording) rememberSecret(folder int, base, path, name string) error {
	from, err := openFile(folder, base)
	if err != nil {
		return err
	}
	defer from.Close()
	return sealFile(r.vault, from, r.record, path, name)
}

// rememberFolders notes the folders in which entries may come and go.
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

// Expect says what a path is about to hold. After a crash the record then tells what the call
// wrote from what others did since.
func (r *Recording) Expect(path string, content []byte) error {
	i := slices.IndexFunc(r.Steps, func(s step) bool { return s.Path == path })
	if i < 0 {
		return umpire.Errorf("%s is not in the record of its call", path)
	}
	if len(content) > merge.MaxSize || r.Steps[i].Secret {
		return nil
	}
	return replaceQuickly(filepath.Join(r.record, afterName(i)), content)
}

// Text is the text that stood at a path, nil for none and for what is no text.
func (r *Recording) Text(path string) []byte {
	i := slices.IndexFunc(r.Steps, func(s step) bool { return s.Path == path })
	if i < 0 {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(r.record, filesFolder, strconv.Itoa(i)))
	if err != nil || len(text) > merge.MaxSize || !merge.IsText(text) {
		return nil
	}
	return text
}

// Seal notes what the call has written, and makes the record one that can be taken back. A
// record in which nothing has changed is forgotten; it is returned without an ID.
func (r *Recording) Seal(ctx context.Context) (*Kept, error) {
	defer r.close()
	changed, err := r.readChanges(ctx)
	if err != nil {
		return nil, err
	}
	if !changed {
		return &Kept{}, files.RemoveTree(r.record)
	}
	if err := announceSteps(r.record, r.Steps); err != nil { // a trial may have begun since Record
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

// spareLost finds what was moved and cannot be remembered. It stays where it went: taken from there, it would
// be gone.
func (r *Recording) spareLost() {
	for i := range r.Steps {
		from := &r.Steps[i]
		if from.Lost == "" || !from.Before.Exists() {
			continue
		}
		for k := range r.Steps {
			if to := &r.Steps[k]; to.After.Inode == from.Before.Inode && to.After.Device == from.Before.Device {
				to.Lost = from.Lost
			}
		}
	}
}

// addMoved lists what a folder holds that the call has moved as a whole, where it lies now. What others have put
// there since is not among it.
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
			continue // it stays, with what it holds
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

// readChanges reads what stands at the paths now, and reports whether anything has changed.
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

// writeSealed ends a record: from doneFile on it can be taken back.
func (r *Recording) writeSealed() error {
	data, err := json.Marshal(r.escaped())
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

// sealStep saves the text that a call has put at a path, so that later changes can be merged. If the
// path has another text than the call was to write, somebody else has written since, and the call's
// own text counts.
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

// saveNow saves the text that a path has now.
func (r *Recording) saveNow(i int) error {
	s := &r.Steps[i]
	parent, base, err := r.parentOf(s.Root, s.Path)
	if err != nil || s.Secret {
		return files.IgnoreMissing(err)
	}
	text, err := readText(parent, base)
	if err != nil || text == nil || !merge.IsMergeable(text) {
		return files.IgnoreMissing(err)
	}
	return replaceQuickly(filepath.Join(r.record, afterName(i)), text)
}

// isUnchanged reports whether a path is as it was, as far as anybody could tell.
func isUnchanged(before, after *Entry) bool {
	if !before.Exists() || !after.Exists() {
		return before.Exists() == after.Exists()
	}
	return isSameFile(after, before) && hasSameAttributes(after, before) && after.Digest == before.Digest &&
		after.Link == before.Link
}
