package trial

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// pendingFile is the journal of a record while a call writes the files in it. It says what stood
// there before. When the record is sealed, journalFile also says what stands there now, and
// doneFile that it is whole.
const pendingFile = "pending.json"

// A Recording is the record of a call that writes files by itself. What stood at its paths
// is safe, also after a power loss, when [Record] returns; a crash before [Recording.Seal]
// leaves it to [Recover] to find out what was written.
type Recording struct{ *transaction }

// Record remembers what stands at some paths, before a call writes there. It returns
// [ErrUnavailable] where that cannot be undone: for a file that is too large to copy, for one
// of several names that is written in place, and for what is not a regular file.
func Record(ctx context.Context, spec RecordSpec) (*Recording, error) {
	j := &journal{
		Version: journalVersion, ID: callPrefix + strings.ToLower(rand.Text()[:idLetters]), Time: time.Now().UTC(),
		Command: spec.Command, Call: spec.Call, Session: spec.Session, Project: spec.Roots[0], Later: spec.Later,
	}
	if spec.Later {
		j.ID = laterID(spec.Session, spec.Call)
	}
	if err := j.planRecord(&spec); err != nil {
		return nil, err
	}
	record, lock, err := claimRecord(spec.State, j.ID)
	if err != nil {
		return nil, err
	}
	t, err := openTransaction(record, lock, j)
	if err != nil {
		return nil, errors.Join(err, files.RemoveTree(record))
	}
	t.vault = spec.Vault
	r := &Recording{t}
	if err := r.remember(ctx); err != nil {
		t.close()
		return nil, errors.Join(err, files.RemoveTree(record))
	}
	return r, nil
}

// laterID is the id of the record of a call that another program makes.
func laterID(session umpire.SessionID, call umpire.CallID) string {
	sum := sha256.Sum256([]byte(string(session) + "\x00" + string(call)))
	return callPrefix + hex.EncodeToString(sum[:])[:2*idLetters]
}

// Leave leaves a record to be sealed later, by [SealCall] or [Recover].
func (r *Recording) Leave() { r.close() }

// SealCall seals the record of a call that another program has made, if there is one.
func SealCall(ctx context.Context, state string, session umpire.SessionID, call umpire.CallID) error {
	record := filepath.Join(state, keptFolder, laterID(session, call))
	if !files.Exists(record, pendingFile) {
		return nil
	}
	lock, err := lockSoon(record)
	if err != nil {
		return ignoreGone(err)
	}
	return sealPending(ctx, record, lock, func(*journal, bool) bool { return true })
}

// lockTries is how often a record is locked that nobody works on any more: a process that is
// being started holds the locks of the one that starts it for a moment.
const lockTries = 50

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
	if err != nil {
		_ = lock.Close() // which unlocks it
		return err
	}
	t, err := openTransaction(record, lock, j)
	if err != nil {
		return err
	}
	r := &Recording{t}
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
	if r.Later {
		return r.write(pendingFile, data)
	}
	return errors.Join(unix.Fsync(to), r.write(pendingFile, data), files.SyncFolder(filepath.Dir(r.record)))
}

// write writes a file of the record in one step. Another program does not wait for the disk.
func (r *Recording) write(name string, data []byte) error {
	path := filepath.Join(r.record, name)
	if !r.Later {
		return files.Replace(path, data, 0o600)
	}
	return errors.Join(os.WriteFile(path+".tmp", data, 0o600), os.Rename(path+".tmp", path))
}

// rememberStep saves the file at a path: as another name of it, else as a copy.
func (r *Recording) rememberStep(ctx context.Context, i, to int) error {
	s := &r.Steps[i]
	parent, base, err := r.parentOf(s.Root, s.Path)
	if files.Missing(err) {
		return nil // a folder on the way is made first
	}
	if err != nil {
		return err
	}
	if s.Before, _, err = readAt(ctx, parent, base); err != nil || !s.Before.Exists() {
		s.Secret = isSecret(r.vault, s.Path)
		return err
	}
	if !s.Before.Type.IsRegular() || r.Later && s.Before.Links > 1 {
		return ErrUnavailable
	}
	name := strconv.Itoa(i)
	if isSecret(r.vault, s.Path) {
		s.Secret = true
		return r.rememberSecret(parent, base, s.Path, name)
	}
	limit := int64(maxPreimageLater)
	if !r.Later {
		limit = maxPreimage
		if err = unix.Linkat(parent, base, to, name, 0); err == nil || !isUnlinkable(err) {
			return err
		}
	}
	if s.Before.Size > limit {
		return ErrUnavailable
	}
	from, err := openFile(parent, base)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := copyFile(from, to, name); err != nil {
		return err
	}
	if r.Later {
		return nil
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
	if len(content) > maxMerged || r.Steps[i].Secret {
		return nil
	}
	return os.WriteFile(filepath.Join(r.record, afterFolder, strconv.Itoa(i)), content, 0o600)
}

// Text is the text that stood at a path, nil for none and for what is no text.
func (r *Recording) Text(path string) []byte {
	i := slices.IndexFunc(r.Steps, func(s step) bool { return s.Path == path })
	if i < 0 {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(r.record, filesFolder, strconv.Itoa(i)))
	if err != nil || len(text) > maxMerged || !isText(text) {
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

// readChanges reads what stands at the paths now, and reports whether anything has changed.
func (r *Recording) readChanges(ctx context.Context) (changed bool, err error) {
	r.forgetFolder()
	for i := range r.Steps {
		s := &r.Steps[i]
		s.After = Entry{}
		if err := r.sealStep(ctx, i); err != nil {
			return false, err
		}
		s.Unchanged = isUnchanged(&s.Before, &s.After)
		s.InPlace = !s.Unchanged && s.Before.Inode == s.After.Inode && isSameContent(&s.Before, &s.After)
		changed = changed || !s.Unchanged
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

// sealStep reads what stands at a path now. Where that is neither what stood there nor what
// the call was to write, somebody else has written since: the call's own part is what counts.
func (r *Recording) sealStep(ctx context.Context, i int) error {
	s := &r.Steps[i]
	parent, base, err := r.parentOf(s.Root, s.Path)
	if err == nil {
		s.After, _, err = readAt(ctx, parent, base)
	}
	if files.Missing(err) || errors.Is(err, unix.ELOOP) {
		return nil // nothing stands there
	}
	if err != nil || isUnchanged(&s.Before, &s.After) || !s.After.Exists() || !s.After.Type.IsRegular() {
		return err
	}
	written, err := os.Open(filepath.Join(r.record, afterFolder, strconv.Itoa(i)))
	if errors.Is(err, fs.ErrNotExist) {
		return r.saveNow(parent, base, i)
	}
	if err != nil {
		return err
	}
	defer written.Close()
	e, _, err := readFile(ctx, written)
	if e.Digest != s.After.Digest {
		s.After.Digest, s.After.Size = e.Digest, e.Size
	}
	return err
}

// saveNow copies the text that stands at a path, so that later changes can be merged.
func (r *Recording) saveNow(folder int, name string, i int) error {
	if r.Steps[i].Secret {
		return nil
	}
	text, err := readText(folder, name)
	if err != nil || text == nil || !isMergeable(text) {
		return err
	}
	return os.WriteFile(filepath.Join(r.record, afterFolder, strconv.Itoa(i)), text, 0o600)
}

// isUnchanged reports whether a path is as it was, as far as anybody could tell.
func isUnchanged(before, after *Entry) bool {
	if !before.Exists() || !after.Exists() {
		return before.Exists() == after.Exists()
	}
	return isSameFile(after, before) && hasSameAttributes(after, before) && after.Digest == before.Digest
}
