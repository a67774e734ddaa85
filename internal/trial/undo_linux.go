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
	"github.com/umpirehq/umpire/internal/gitdir"
	"github.com/umpirehq/umpire/internal/trial/merge"
)

// Undo takes back what was kept, all of it or nothing, and can itself be taken back. Later
// changes to the same files stay: texts are merged, and where that cannot be done a
// [*ConflictError] names the files and nothing is changed.
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
	record, lock, err := claimRecord(spec.State, j.ID)
	if err != nil {
		return nil, err
	}
	t, err := openTransaction(record, lock, j)
	if err != nil {
		return nil, errors.Join(err, os.Remove(record))
	}
	defer t.close()
	t.vault = spec.Vault
	u, err := openUndo(t, old, was)
	if err == nil {
		defer u.close()
		err = u.plan(ctx)
	}
	if err == nil && spec.Approve != nil {
		err = spec.Approve(j.kept())
	}
	if err == nil {
		err = owesReport(record)
	}
	if err == nil {
		t.unlock, err = lockRoots(ctx, record, t.Roots) // not before: a person takes time to approve
	}
	if err != nil {
		return nil, errors.Join(err, files.RemoveTree(record))
	}
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	kept := j.kept()
	kept.Left, kept.Lost = u.left, u.lost
	return kept, nil
}

// idLetters is how many letters the id of an undo has after its first one.
const idLetters = 8

// An undoing plans what takes a record back.
type undoing struct {
	*transaction

	old    string // the record
	was    *journal
	put    []uint64 // by the numbers of its steps, the inodes of what it put there
	files  int      // its folders, -1 for none
	after  int
	merged int // a folder of ours for merged texts

	plans []step   // by the numbers of the old steps; without a path where there is nothing to do
	left  []string // folders that stay
	lost  []Loss
}

func openUndo(t *transaction, old string, was *journal) (u *undoing, err error) {
	u = &undoing{transaction: t, old: old, was: was, after: -1, merged: -1, plans: make([]step, len(was.Steps))}
	if u.put, err = readStaged(old); err != nil {
		return nil, err
	}
	if len(u.put) != len(was.Steps) {
		return nil, umpire.Errorf("%s: its journal and what was made ready differ", was.ID)
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

// mergedFolder holds merged texts in a record, while it runs.
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

// plan finds out what stands at each path now, and what is to be done about it. The last
// path comes first: whether a folder can go depends on what is in it.
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

// isAsked reports whether a step is to be taken back: all are, or those at and below some
// paths, with the deleted folders that lead there.
func (u *undoing) isAsked(s *step) bool {
	return !s.Unchanged && (len(u.Only) == 0 || slices.ContainsFunc(u.Only, func(only string) bool {
		return files.Within(only, s.Path) || s.Before.Type.IsDir() && !s.After.Exists() && files.Within(s.Path, only)
	}))
}

// prepare checks that all can be done, and plans the folders.
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

// oldTimes are the modification times that folders had, but for those that somebody else
// has changed since.
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

// isTouched reports whether something changes in a folder.
func (u *undoing) isTouched(dir string) bool {
	return slices.ContainsFunc(u.Steps, func(s step) bool { return filepath.Dir(s.Path) == dir })
}

// planStep plans what takes one step back.
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
		return nil // it is as it was already
	default:
		return u.planMerge(ctx, i, plan)
	}
	u.plans[i] = plan
	return nil
}

// readPath is what stands at a step's path now.
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
	// It cannot be read: it is what was put there if it is that very file, not written since.
	put := s.After
	put.Inode = u.put[i]
	now, _, err = statAt(parent, base)
	if err == nil && !isSameFile(&now, &put) {
		err = &ConflictError{Paths: []string{s.Path}}
	}
	now.Digest = put.Digest
	return now, err
}

// isSameContent compares what two files are, and not whose and how.
func isSameContent(a, b *Entry) bool {
	return a.Exists() == b.Exists() && a.Type.Type() == b.Type.Type() && a.Digest == b.Digest && a.Link == b.Link
}

// isContent reports whether what stands at a path is still what was put there. Git's index
// is while its entries are: git writes it anew whenever it looks at the files.
func (u *undoing) isContent(i int, now, put *Entry) (bool, error) {
	if isSameContent(now, put) {
		return true, nil
	}
	if filepath.Base(u.was.Steps[i].Path) != "index" || !now.Type.IsRegular() || !now.Exists() {
		return false, nil
	}
	kept, ok := u.savedText(i)
	if !ok || !strings.HasPrefix(string(kept), merge.IndexMagic) {
		return false, nil
	}
	text, err := u.textNow(i)
	return err == nil && gitdir.SameIndex(kept, text), err
}

// planAttributes plans to give a file the attributes back that it had, as far as nobody has
// changed them since.
func (u *undoing) planAttributes(i int, now Entry) {
	s := &u.was.Steps[i]
	if !now.Exists() || now.Type.Type() != s.After.Type.Type() {
		return // they went with the file
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

// isEmptied reports whether nothing is left in a folder when what was kept in it is gone.
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

// planBack plans to put back what stood at a path. A mode that somebody has changed since
// stays.
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

// readOld reads the file that stood at a step's path.
func (u *undoing) readOld(ctx context.Context, i int, old content) (Entry, error) {
	f, err := old.open()
	if files.Missing(err) {
		return Entry{}, umpire.Errorf("%s: what stood there before is no longer kept", u.was.Steps[i].Path)
	}
	if err != nil {
		return Entry{}, err
	}
	defer f.Close()
	e, _, err := readFile(ctx, f)
	return e, err
}

// planMerge plans to take a change of a text back, and to leave later ones.
func (u *undoing) planMerge(ctx context.Context, i int, plan step) error {
	s := &u.was.Steps[i]
	if s.Before.Type.IsDir() && plan.Before.Type.IsDir() {
		return nil // somebody has made it again
	}
	conflict := &ConflictError{Paths: []string{s.Path}}
	kept, saved := u.savedText(i)
	if !s.Before.Type.IsRegular() || !s.Before.Exists() || !saved ||
		!merge.IsText(kept) || !plan.Before.Type.IsRegular() || !plan.Before.Exists() {
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
	merged, clean := []byte(nil), now != nil && before != nil && merge.IsText(now) && merge.IsText(before)
	if clean {
		merged, clean = merge.Texts(kept, now, before)
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

// savedText is the text that was put at a step's path.
func (u *undoing) savedText(i int) ([]byte, bool) {
	if u.after < 0 {
		return nil, false
	}
	text, err := readText(u.after, strconv.Itoa(i))
	return text, err == nil && text != nil
}

// textNow is the text that stands at a step's path now, nil for one that is too large.
func (u *undoing) textNow(i int) ([]byte, error) {
	s := &u.was.Steps[i]
	parent, base, err := u.parentOf(s.Root, s.Path)
	if err != nil {
		return nil, err
	}
	return readText(parent, base)
}

// readText reads a file that can be merged, nil for one that is too large.
func readText(folder int, name string) ([]byte, error) {
	f, err := openFile(folder, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, merge.MaxSize+1))
	if len(data) > merge.MaxSize {
		return nil, err
	}
	return append([]byte{}, data...), err
}

// diskSize is how much space a file takes, which is little where it has holes.
func diskSize(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * blockSize
	}
	return info.Size()
}
