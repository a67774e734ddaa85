package trial

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// Keep applies the shown effects completely or not at all, and removes the layer. If it
// returns without an error, all changes survive a power loss. It fails with
// [ErrLayerChanged] if the layer differs from the shown effects, with a [*ConflictError]
// if the project has changed since the trial began, and with an [*ObstacleError] if a
// change cannot be made. The layer stays in these cases.
func (l *Layer) Keep(ctx context.Context, spec KeepSpec) (*Kept, error) {
	if !spec.Shown.Whole() {
		return nil, ErrNotWhole
	}
	if len(spec.Shown.Stale) > 0 && !spec.Reviewed {
		return nil, &ConflictError{Paths: spec.Shown.Stale}
	}
	j := &journal{
		Version: journalVersion, ID: filepath.Base(l.Dir), Time: time.Now().UTC(), Command: spec.Command, Layer: l.Dir,
		Call: spec.Call, Session: spec.Session, Trial: spec.Trial,
	}
	l.Temporary.Session, l.Temporary.Ledger = spec.Session, sandbox.NewScratchLedger(spec.State, time.Now)
	if spec.Shown.IsEmpty() {
		return &Kept{Time: j.Time, Command: spec.Command}, errors.Join(l.Temporary.Adopt(l.tmp()), removeLayer(l.Dir))
	}
	if err := l.planSteps(j, spec.Shown); err != nil {
		return nil, err
	}
	if err := spec.checkRoom(j); err != nil {
		return nil, err
	}
	if err := Settle(ctx, spec.State); err != nil { // an open record of a write would yield its files to this one
		return nil, err
	}
	t, err := j.begin(spec.State, spec.Vault)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if t.unlock, err = lockRoots(ctx, t.record, t.Roots); err != nil {
		return nil, errors.Join(err, files.RemoveTree(t.record))
	}
	for i := range j.Steps {
		s := &j.Steps[i]
		s.Secret = s.Before.Size <= maxSealed && isSecret(spec.Vault, s.Path)
	}
	sources, err := t.prepareKeep(ctx, l, spec.Shown)
	defer closeFDs(sources)
	if err == nil && spec.Report {
		err = owesReport(t.record)
	}
	if err == nil {
		err = l.Temporary.Adopt(l.tmp())
	}
	if err != nil {
		return nil, errors.Join(err, files.RemoveTree(t.record))
	}
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	return j.kept(), nil
}

// setID are the bits that give a program the rights of its owner.
const setID = fs.ModeSetuid | fs.ModeSetgid

// planSteps turns a layer's effects into steps, each with its path and root.
func (l *Layer) planSteps(j *journal, shown *Effects) error {
	for i := range shown.List {
		e := &shown.List[i]
		switch e.Kind {
		case Moved:
			j.Steps = append(j.Steps, step{Path: e.From, Before: e.Before}, step{Path: e.Path, After: e.After})
		case Attributes:
			j.Steps = append(j.Steps, step{Path: e.Path, Before: e.Before, After: e.After, InPlace: true})
		case Created, Changed, Deleted:
			j.Steps = append(j.Steps, step{Path: e.Path, Before: e.Before, After: e.After})
		}
	}
	slices.SortFunc(j.Steps, func(a, b step) int { return strings.Compare(a.Path, b.Path) })
	for _, r := range l.Roots {
		j.Roots = append(j.Roots, keptRoot{Path: r.Lower, Device: r.Device, Inode: r.Inode})
	}
	for i := range j.Steps {
		s := &j.Steps[i]
		if s.Root = j.rootOf(s.Path); s.Root < 0 || s.Path == j.Roots[s.Root].Path && !s.InPlace {
			return umpire.Errorf("%s is not in a folder of the trial", s.Path)
		}
		switch mode := s.After.Type; {
		case !s.After.Exists() || mode.IsDir() || mode&fs.ModeSymlink != 0:
		case !mode.IsRegular():
			return &ObstacleError{s.Path, errSpecial}
		case mode&setID != 0 && mode&setID != s.Before.Type&setID:
			return &ObstacleError{s.Path, errSetID}
		}
	}
	j.dropUnusedRoots(shown.Folders)
	return nil
}

// rootOf returns the innermost root that holds a path, or -1.
func (j *journal) rootOf(path string) int {
	found := -1
	for i := range j.Roots {
		if files.Within(j.Roots[i].Path, path) && (found < 0 || len(j.Roots[i].Path) > len(j.Roots[found].Path)) {
			found = i
		}
	}
	return found
}

// dropUnusedRoots removes the roots without changes.
func (j *journal) dropUnusedRoots(left []Folder) {
	used := map[int]bool{}
	for i := range j.Steps {
		used[j.Steps[i].Root] = true
	}
	for _, f := range left {
		used[j.rootOf(f.Path)] = true
	}
	var kept []keptRoot
	place := map[int]int{}
	for i := range j.Roots {
		if used[i] {
			place[i] = len(kept)
			kept = append(kept, j.Roots[i])
		}
	}
	for i := range j.Steps {
		j.Steps[i].Root = place[j.Steps[i].Root]
	}
	j.Roots = kept
}

// prepareKeep checks that all changes can be made and sets the source of each new file.
// The caller closes the returned folders.
func (t *transaction) prepareKeep(ctx context.Context, l *Layer, shown *Effects) (sources []int, err error) {
	stamp, err := os.Lstat(filepath.Join(l.Dir, stampFile))
	if err != nil {
		return nil, err
	}
	check := &checker{t, files.ChangeTime(stamp), readRestored(l.Dir)}
	if err := check.checkSteps(ctx); err != nil {
		return nil, err
	}
	now, err := readAgain(ctx, l, shown)
	if err != nil {
		return nil, err
	}
	if now.Digest != shown.Digest { // or the folder below has changed since the check
		return nil, cmp.Or(check.checkSteps(ctx), ErrLayerChanged)
	}
	if err := t.findApart(); err != nil {
		return nil, err
	}
	if err := t.planFolders(shown.Folders); err != nil {
		return nil, err
	}
	for i := range t.Roots {
		upper := ""
		for _, r := range l.Roots {
			if r.Lower == t.Roots[i].Path {
				upper = r.Upper
			}
		}
		fd, err := openFolderAt(upper)
		if err != nil {
			return sources, err
		}
		sources = append(sources, fd)
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.After.Type.IsRegular() {
			s.from = content{folder: sources[s.Root], name: strings.TrimPrefix(s.Path, t.Roots[s.Root].Path+"/")}
		}
	}
	return sources, check.checkSpace()
}

// findApart finds the roots on another file system than the record. Another mount of the
// same file system counts as well, because files cannot be moved between mounts.
func (t *transaction) findApart() error {
	record, err := mountOf(int(t.lock.Fd()), "")
	if err != nil {
		return err
	}
	for i := range t.Roots {
		root, err := mountOf(t.roots[i], "")
		if err != nil {
			return err
		}
		t.Roots[i].Apart = root != record
	}
	return nil
}

// A mountID identifies a file system and mount.
type mountID struct {
	major, minor uint32
	mount        uint64
}

func mountOf(folder int, name string) (mountID, error) {
	var st unix.Statx_t
	err := unix.Statx(folder, name, unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW, unix.STATX_MNT_ID, &st)
	return mountID{st.Dev_major, st.Dev_minor, st.Mnt_id}, err
}

// planFolders lists the folders whose entries change. Folders with their own step get its
// attributes. The others keep their attributes and get the modification time of the trial
// if it changed there.
func (t *transaction) planFolders(left []Folder) error {
	all := map[string]folderStep{}
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.isFolderStep() {
			f := folderStep{Path: s.Path, Root: s.Root}
			if s.Before.Type.IsDir() {
				f.Before = s.Before
			}
			if s.After.Type.IsDir() {
				f.After = s.After
			}
			all[s.Path] = f
		}
		dir := filepath.Dir(s.Path)
		if _, listed := all[dir]; listed || s.Path == t.Roots[s.Root].Path || s.InPlace {
			continue
		}
		if err := t.planFolder(all, s.Root, dir); err != nil {
			return err
		}
	}
	for i := range t.Roots { // our own folder is created and removed there
		if _, listed := all[t.Roots[i].Path]; t.Roots[i].Apart && !listed {
			if err := t.planFolder(all, i, t.Roots[i].Path); err != nil {
				return err
			}
		}
	}
	for _, f := range left {
		if _, listed := all[f.Path]; !listed {
			if err := t.planFolder(all, t.rootOf(f.Path), f.Path); err != nil {
				return err
			}
		}
		listed := all[f.Path]
		listed.After.ModTime = f.ModTime
		all[f.Path] = listed
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		t.Folders = append(t.Folders, all[path])
	}
	return nil
}

// planFolder adds a folder whose attributes stay as they are.
func (t *transaction) planFolder(all map[string]folderStep, root int, path string) error {
	if root < 0 {
		return umpire.Errorf("%s is not in a folder of the trial", path)
	}
	parent, base, err := t.parentOf(root, path)
	if err != nil {
		return err
	}
	now, _, err := statAt(parent, base)
	all[path] = folderStep{Path: path, Root: root, Before: now, After: now}
	return err
}

func closeFDs(all []int) {
	for _, fd := range all {
		closeFD(fd)
	}
}
