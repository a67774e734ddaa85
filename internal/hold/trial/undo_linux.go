package trial

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// Undo undoes a record completely or not at all. The undo itself can be undone. Later
// changes to the same files stay: texts are merged, and if that fails Undo returns a
// [*ConflictError] with the files and changes nothing.
func Undo(ctx context.Context, spec UndoSpec) (*Kept, error) {
	what, err := findRecord(&spec)
	if err != nil {
		return nil, err
	}
	old := filepath.Join(spec.State, keptFolder, what.ID)
	was, err := readJournal(old)
	if err != nil {
		return nil, err
	}
	j := &journal{
		Version: journalVersion, ID: "u" + strings.ToLower(rand.Text()[:idLetters]), Time: time.Now().UTC(),
		Command: was.Command, Project: was.Project, Undoes: was.ID, Only: spec.Only, Roots: slices.Clone(was.Roots),
	}
	t, err := j.begin(spec.State, spec.Vault)
	if err != nil {
		return nil, err
	}
	defer t.close()
	u, err := openUndo(t, old, was)
	if err == nil {
		defer u.close()
		err = u.plan(ctx)
	}
	if err == nil && spec.Approve != nil {
		err = spec.Approve(j.kept())
	}
	if err == nil {
		err = owesReport(t.record)
	}
	if err == nil {
		t.unlock, err = lockRoots(ctx, t.record, t.Roots) // not earlier: a person takes time to approve
	}
	if err != nil {
		return nil, errors.Join(err, files.RemoveTree(t.record))
	}
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	kept := j.kept()
	kept.Left, kept.Lost = u.left, u.lost
	return kept, nil
}

// idLetters is the number of letters in an undo's id after the first one.
const idLetters = 8

// An undoing plans the undo of a record.
type undoing struct {
	*transaction

	old    string // the record
	was    *journal
	put    []uint64 // by step number; the inodes of the files that it put there
	files  int      // its folders, or -1 if missing
	after  int
	merged int // our folder for merged texts

	plans []step   // by number of the old step; Path is "" if there is nothing to do
	left  []string // folders that stay
	lost  []Loss
}

func openUndo(t *transaction, old string, was *journal) (u *undoing, err error) {
	u = &undoing{transaction: t, old: old, was: was, after: -1, merged: -1, plans: make([]step, len(was.Steps))}
	if u.put, err = readStaged(old); err != nil {
		return nil, err
	}
	if len(u.put) != len(was.Steps) {
		return nil, umpire.Errorf("%s: its journal does not match the prepared files", was.ID)
	}
	if u.files, err = openFolderAt(filepath.Join(old, filesFolder)); err != nil {
		return nil, err
	}
	if files.Exists(old, afterFolder) {
		u.after, err = openFolderAt(filepath.Join(old, afterFolder))
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(t.record, mergedFolder), 0o700)
	}
	if err == nil {
		u.merged, err = openFolderAt(filepath.Join(t.record, mergedFolder))
	}
	if err != nil {
		u.close()
		return nil, err
	}
	return u, nil
}

// mergedFolder holds merged texts in a record while it runs.
const mergedFolder = "merged"

func openFolderAt(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

func (u *undoing) close() {
	for _, fd := range []int{u.files, u.after, u.merged} {
		if fd >= 0 {
			closeFD(fd)
		}
	}
}

// plan compares each path with its current state and plans its undo. It starts with the
// last path, because a folder can only be removed if it becomes empty.
func (u *undoing) plan(ctx context.Context) error {
	conflict := &ConflictError{}
	asked := 0
	byPath := u.was.byPath()
	for _, i := range slices.Backward(byPath) {
		s := &u.was.Steps[i]
		if !u.isAsked(s) {
			continue
		}
		if s.Lost != "" {
			u.lost = append(u.lost, Loss{s.Path, s.Lost})
			continue
		}
		asked++
		err := u.planStep(ctx, i)
		if found, ok := errors.AsType[*ConflictError](err); ok {
			conflict.Paths = append(conflict.Paths, found.Paths...)
		} else if err != nil {
			return err
		}
	}
	if asked == 0 && len(u.lost) > 0 {
		return umpire.Errorf("%w: %s (%w)", ErrLost, u.lost[0].Path, u.lost[0].Reason.Err())
	}
	if asked == 0 && len(u.was.Steps) > 0 {
		return umpire.Errorf("%s changed nothing there: %w", u.was.ID, ErrNothingKept)
	}
	if len(conflict.Paths) > 0 {
		slices.Sort(conflict.Paths)
		return conflict
	}
	slices.Reverse(u.lost)
	for _, i := range byPath {
		if u.plans[i].Path != "" {
			u.Steps = append(u.Steps, u.plans[i])
		}
	}
	return u.prepare()
}

// isAsked reports whether a step is to be undone. If Only is set, this includes steps at
// and below its paths, and the deleted folders above them.
func (u *undoing) isAsked(s *step) bool {
	return !s.Unchanged && (len(u.Only) == 0 || slices.ContainsFunc(u.Only, func(only string) bool {
		return files.Within(only, s.Path) || s.Before.Type.IsDir() && !s.After.Exists() && files.Within(s.Path, only)
	}))
}

// prepare checks that all changes can be made, and plans the folders.
func (u *undoing) prepare() error {
	check := &checker{transaction: u.transaction}
	for i := range u.Steps {
		if err := check.checkObstacle(&u.Steps[i]); err != nil {
			return &ObstacleError{u.Steps[i].Path, err}
		}
	}
	if err := u.findApart(); err != nil {
		return err
	}
	left, err := u.oldTimes()
	if err != nil {
		return err
	}
	if err := u.planFolders(left); err != nil {
		return err
	}
	return check.checkSpace()
}

// oldTimes returns the old modification times of folders, without those that another
// program has changed since.
func (u *undoing) oldTimes() ([]Folder, error) {
	var left []Folder
	for i := range u.was.Folders {
		f := &u.was.Folders[i]
		if !f.Before.Exists() || !f.After.Exists() || len(u.Only) > 0 && !u.isTouched(f.Path) {
			continue
		}
		parent, base, err := u.parentOf(f.Root, f.Path)
		if files.Missing(err) || errors.Is(err, unix.ELOOP) {
			continue
		}
		if err != nil {
			return nil, err
		}
		now, _, err := statAt(parent, base)
		if err != nil {
			return nil, err
		}
		if now.Type.IsDir() && now.ModTime.Equal(f.After.ModTime) {
			left = append(left, Folder{f.Path, f.Before.ModTime})
		}
	}
	return left, nil
}

// isTouched reports whether a step changes an entry of the folder.
func (u *undoing) isTouched(dir string) bool {
	return slices.ContainsFunc(u.Steps, func(s step) bool { return filepath.Dir(s.Path) == dir })
}

// planStep plans the undo of one step.
func (u *undoing) planStep(ctx context.Context, i int) error {
	s := &u.was.Steps[i]
	now, err := u.readPath(ctx, i)
	if err != nil {
		return err
	}
	plan := step{Path: s.Path, Root: s.Root, Before: now, After: s.Before}
	plan.Secret = s.Secret || isSecret(u.vault, s.Path)
	plan.After.SameAs = ""
	if s.InPlace {
		u.planAttributes(i, now)
		return nil
	}
	had, err := u.isContent(i, &now, &s.After)
	if err != nil {
		return err
	}
	if plan.from, err = u.unsealOld(i); err != nil {
		return err
	}
	if want := &plan.After; !had && want.Type.IsRegular() && want.Digest == "" && want.Exists() {
		kept, err := u.readOld(ctx, i, plan.from)
		if err != nil {
			return err
		}
		want.Digest = kept.Digest
	}
	switch {
	case had && !s.Before.Exists():
		if now.Type.IsDir() && !u.isEmptied(s) {
			u.left = append(u.left, s.Path)
			return nil
		}
	case had:
		return u.planBack(ctx, i, plan)
	case isSameContent(&now, &plan.After):
		return nil // it already has its old content
	default:
		return u.planMerge(ctx, i, plan)
	}
	u.plans[i] = plan
	return nil
}

// readPath returns the current entry at a step's path.
func (u *undoing) readPath(ctx context.Context, i int) (Entry, error) {
	s := &u.was.Steps[i]
	parent, base, err := u.parentOf(s.Root, s.Path)
	if files.Missing(err) || errors.Is(err, unix.ELOOP) {
		return Entry{}, nil
	}
	if err != nil {
		return Entry{}, err
	}
	now, _, err := readAt(ctx, parent, base)
	if !errors.Is(err, fs.ErrPermission) {
		return now, err
	}
	// If it cannot be read, it counts as unchanged if it is the same file and not written since.
	put := s.After
	put.Inode = u.put[i]
	now, _, err = statAt(parent, base)
	if err == nil && !isSameFile(&now, &put) {
		err = &ConflictError{Paths: []string{s.Path}}
	}
	now.Digest = put.Digest
	return now, err
}

// isSameContent compares the content of two entries, not their owners and modes.
func isSameContent(a, b *Entry) bool {
	return a.Exists() == b.Exists() && a.Type.Type() == b.Type.Type() && a.Digest == b.Digest && a.Link == b.Link
}

// isContent reports whether a path still has the content that was put there. Git's index
// is compared by its entries, because git rewrites it whenever it looks at the files.
func (u *undoing) isContent(i int, now, put *Entry) (bool, error) {
	if isSameContent(now, put) {
		return true, nil
	}
	if filepath.Base(u.was.Steps[i].Path) != "index" || !now.Type.IsRegular() || !now.Exists() {
		return false, nil
	}
	kept, ok := u.savedText(i)
	if !ok || !strings.HasPrefix(string(kept), indexMagic) {
		return false, nil
	}
	text, err := u.textNow(i)
	return err == nil && gitdir.SameIndex(kept, text), err
}

// planAttributes plans to restore a file's attributes, except those changed since.
func (u *undoing) planAttributes(i int, now Entry) {
	s := &u.was.Steps[i]
	if !now.Exists() || now.Type.Type() != s.After.Type.Type() {
		return // the attributes went with the file
	}
	plan := step{Path: s.Path, Root: s.Root, Before: now, After: now, InPlace: true}
	if now.Type == s.After.Type {
		plan.After.Type = s.Before.Type
	}
	if now.UID == s.After.UID && now.GID == s.After.GID {
		plan.After.UID, plan.After.GID = s.Before.UID, s.Before.GID
	}
	if now.ModTime.Equal(s.After.ModTime) {
		plan.After.ModTime = s.Before.ModTime
	}
	if !hasSameAttributes(&plan.After, &now) || !plan.After.ModTime.Equal(now.ModTime) {
		u.plans[i] = plan
	}
}

// isEmptied reports whether a folder is empty after its kept entries are removed.
func (u *undoing) isEmptied(s *step) bool {
	parent, base, err := u.parentOf(s.Root, s.Path)
	if err != nil {
		return false
	}
	fd, err := openLent(parent, base)
	if err != nil {
		return false
	}
	inside := &dir{os.NewFile(uintptr(fd), base)}
	defer inside.close()
	names, err := inside.f.Readdirnames(-1)
	for _, name := range names {
		path := filepath.Join(s.Path, name)
		if !slices.ContainsFunc(u.plans, func(p step) bool { return p.Path == path && !p.After.Exists() }) {
			return false
		}
	}
	return err == nil
}

// planBack plans to restore the old file at a path. It preserves a mode that was changed
// since.
func (u *undoing) planBack(ctx context.Context, i int, plan step) error {
	s := &u.was.Steps[i]
	if s.Before.Type.IsRegular() {
		kept, err := u.readOld(ctx, i, plan.from)
		if err != nil {
			return err
		}
		plan.After.Digest, plan.After.Size = kept.Digest, kept.Size
		if plan.Before.Exists() && s.After.Type.IsRegular() && plan.Before.Type != s.After.Type {
			plan.After.Type = plan.Before.Type
		}
	}
	u.plans[i] = plan
	return nil
}

// readOld reads the old file of a step.
func (u *undoing) readOld(ctx context.Context, i int, old content) (Entry, error) {
	f, err := old.open()
	if files.Missing(err) {
		return Entry{}, umpire.Errorf("%s: its old content is no longer kept", u.was.Steps[i].Path)
	}
	if err != nil {
		return Entry{}, err
	}
	defer f.Close()
	e, _, err := readFile(ctx, f)
	return e, err
}

// planMerge plans to undo a change of a text and preserve later ones.
func (u *undoing) planMerge(ctx context.Context, i int, plan step) error {
	s := &u.was.Steps[i]
	if s.Before.Type.IsDir() && plan.Before.Type.IsDir() {
		return nil // another program has made it again
	}
	conflict := &ConflictError{Paths: []string{s.Path}}
	kept, saved := u.savedText(i)
	if !s.Before.Type.IsRegular() || !s.Before.Exists() || !saved ||
		!isText(kept) || !plan.Before.Type.IsRegular() || !plan.Before.Exists() {
		return conflict
	}
	now, err := u.textNow(i)
	if err != nil {
		return err
	}
	before, err := readText(u.files, strconv.Itoa(i))
	if err != nil {
		return err
	}
	merged, clean := []byte(nil), now != nil && before != nil && isText(now) && isText(before)
	if clean {
		merged, clean = mergeTexts(kept, now, before)
	}
	if !clean {
		return conflict
	}
	name := strconv.Itoa(i)
	if err := os.WriteFile(filepath.Join(u.record, mergedFolder, name), merged, 0o600); err != nil {
		return err
	}
	made, _, err := readAt(ctx, u.merged, name)
	if err != nil {
		return err
	}
	plan.After = plan.Before
	plan.After.Digest, plan.After.Size, plan.After.ModTime = made.Digest, made.Size, made.ModTime
	plan.from = content{u.merged, name}
	u.plans[i] = plan
	return nil
}

// savedText returns the text that was put at a step's path.
func (u *undoing) savedText(i int) ([]byte, bool) {
	if u.after < 0 {
		return nil, false
	}
	text, err := readText(u.after, strconv.Itoa(i))
	return text, err == nil && text != nil
}

// textNow returns the current text at a step's path, or nil if it is too large.
func (u *undoing) textNow(i int) ([]byte, error) {
	s := &u.was.Steps[i]
	parent, base, err := u.parentOf(s.Root, s.Path)
	if err != nil {
		return nil, err
	}
	return readText(parent, base)
}

// readText reads a file that can be merged, or nil if it is too large.
func readText(folder int, name string) ([]byte, error) {
	f, err := openFile(folder, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMergeSize+1))
	if len(data) > maxMergeSize {
		return nil, err
	}
	return append([]byte{}, data...), err
}

// diskSize returns the disk space of a file, which is small if it has holes.
func diskSize(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * blockSize
	}
	return info.Size()
}
