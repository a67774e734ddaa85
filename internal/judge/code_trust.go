package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/place"
)

// A CodeLedger records which clones a person trusts to run code: a folder of umpire's, with a file for
// each clone. The zero value trusts none.
type CodeLedger struct {
	Dir string
	// Digest returns a collision-resistant digest of a part of a file. Without Digest, a file that
	// was written since is not trusted even if its content is the same.
	Digest func([]byte) string
	Now    func() time.Time
}

// LedgerDir is the name of the ledger's folder in umpire's own.
const LedgerDir = "trusted-code"

// A record is the code that a person trusted in one clone.
type record struct {
	Version int       `json:"version"`
	Root    string    `json:"root"`
	GitDir  string    `json:"git_dir"`
	Commit  string    `json:"commit"` // "" without one
	At      time.Time `json:"at"`
	// Confirmed is when a person last approved the agent's changes; zero means never.
	Confirmed time.Time `json:"confirmed,omitzero"`
	Files     []file    `json:"files"`
	// Inner are the repositories within the project, with their commits.
	Inner map[string]string `json:"inner,omitempty"`
}

// A file is the recorded state of a file that names code.
type file struct {
	Name  string            `json:"name"`
	Stamp string            `json:"stamp"`
	Parts map[string]string `json:"parts"`
}

const recordVersion, maxRecord = 1, 16 << 20

func (l *CodeLedger) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}

// path returns the file of a clone. Other clones may have the same name, so the file repeats the
// clone's path.
func (l *CodeLedger) path(root string) string {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, root) // never fails
	return filepath.Join(l.Dir, strconv.FormatUint(sum.Sum64(), 16)+".json")
}

// Grant trusts the current code of a clone, and returns the files that name it.
func (l *CodeLedger) Grant(g *place.Bounds) ([]string, error) {
	if l.Dir == "" || l.Digest == nil {
		return nil, errors.New("trust in code cannot be stored, because no file is set up for it")
	}
	r := record{
		Version: recordVersion, Root: g.Root, GitDir: g.Repository.Common, At: l.now().UTC(),
		Inner: map[string]string{},
	}
	var err error
	if r.Commit, err = commitOf(g); err != nil {
		return nil, err
	}
	names, inner, err := findFiles(g.Root)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f, err := l.sum(g.Root, name)
		if err != nil {
			return nil, err
		}
		r.Files = append(r.Files, f)
	}
	for _, name := range inner {
		r.Inner[name] = innerHead(g.Root, name)
	}
	return names, l.writeRecord(&r)
}

// Confirmed returns when a person last said that the code of a clone may run; the zero time means
// never.
func (l *CodeLedger) Confirmed(g *place.Bounds) time.Time {
	r, err := l.readRecord(g)
	if err != nil || r == nil {
		return time.Time{}
	}
	if r.Confirmed.After(r.At) {
		return r.Confirmed
	}
	return r.At
}

// Since returns when a person trusted the code of a clone; the zero time means never. The trust may
// have ended since.
func (l *CodeLedger) Since(g *place.Bounds) time.Time {
	r, err := l.readRecord(g)
	if err != nil || r == nil {
		return time.Time{}
	}
	return r.At
}

// Confirm records that a person approved the code of a clone as it was at a time. It does not
// restore missing or ended trust.
func (l *CodeLedger) Confirm(g *place.Bounds, at time.Time) error {
	r, err := l.readRecord(g)
	if err != nil || r == nil || !at.After(r.Confirmed) {
		return err
	}
	r.Confirmed = at.UTC()
	return l.writeRecord(r)
}

// Forget revokes the trust in the code of a clone, in all of its worktrees. It reports whether this
// one was trusted.
func (l *CodeLedger) Forget(g *place.Bounds) (bool, error) {
	for _, other := range l.siblings(g) {
		if err := os.Remove(l.path(other.Root)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
	}
	err := os.Remove(l.path(g.Root))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// sum returns the record of one file. The stamp is taken before the file is read, so a write in
// between makes the stamp outdated.
func (l *CodeLedger) sum(root, name string) (file, error) {
	f := file{Name: name, Stamp: stampOf(root, name, l.now()), Parts: map[string]string{}}
	parts, err := readParts(root, name)
	for part, data := range parts {
		f.Parts[part] = l.Digest(data)
	}
	return f, err
}

func (l *CodeLedger) writeRecord(r *record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		return err
	}
	return files.Replace(l.path(r.Root), data, 0o600)
}

// readRecord returns the record of a worktree, or nil.
func (l *CodeLedger) readRecord(g *place.Bounds) (*record, error) {
	if l.Dir == "" {
		return nil, nil
	}
	r, err := readRecord(l.path(g.Root))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil || r.Root != g.Root || r.GitDir != g.Repository.Common {
		return nil, err
	}
	return r, nil
}

func readRecord(name string) (*record, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o022 != 0 {
		return nil, umpire.Errorf("others can write %s", name)
	}
	data, err := files.ReadSmall(name, maxRecord)
	if err != nil {
		return nil, err
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil || r.Version != recordVersion {
		return nil, umpire.Errorf("%s is not a record of trust", name)
	}
	return &r, nil
}

// notTrusted is the reason not to run code of a clone that was never trusted.
const notTrusted umpire.Phrase = "the code of this clone is not trusted (umpire rules trust --code)"

// Check returns why code of a clone may not run in one of the folders, or "" if a person trusts it
// there. Unknown folders are not trusted. The trust in one worktree of a clone also holds in
// another with the same code at the same commit.
func (l *CodeLedger) Check(g *place.Bounds, dirs []string) umpire.Phrase {
	r, err := l.readRecord(g)
	if err != nil {
		return umpire.Say("the code of this clone is not trusted (umpire rules trust --code): %s", err)
	}
	why := notTrusted
	if r != nil {
		why = l.holds(g, r)
	}
	if why != "" && !l.adopt(g) {
		return why
	}
	if len(dirs) == 0 {
		return "the folder in which it runs is not known"
	}
	for _, dir := range dirs {
		if why := outsideTrust(g, dir); why != "" {
			return why
		}
	}
	return ""
}

// holds returns the reason why the trust of a record has ended, or "" if it has not.
func (l *CodeLedger) holds(g *place.Bounds, r *record) umpire.Phrase {
	if why := movedSince(g, r.Commit); why != "" {
		return endedTrust(why)
	}
	changes, refreshed, err := l.compare(g.Root, r)
	switch {
	case err != nil:
		return endedTrust(err.Error())
	case len(changes) > 0:
		return endedTrust(strings.Join(changes, ", "))
	}
	if refreshed && l.Digest != nil {
		_ = l.writeRecord(r) // it only saves time
	}
	return ""
}

func endedTrust(why string) umpire.Phrase {
	return umpire.Say("the code of this clone is no longer trusted: %s (umpire rules trust --code)", why)
}

// Changes returns the differences from the trusted code, for people; trusted reports whether there
// is a record at all.
func (l *CodeLedger) Changes(g *place.Bounds) (changes []string, trusted bool, err error) {
	r, err := l.readRecord(g)
	if r == nil && err == nil && l.adopt(g) {
		return nil, true, nil
	}
	if r == nil || err != nil {
		return nil, false, err
	}
	if why := movedSince(g, r.Commit); why != "" {
		changes = append(changes, why)
	}
	more, _, err := l.compare(g.Root, r)
	return append(changes, more...), true, err
}

// Names returns the files of a project that name code.
func (l *CodeLedger) Names(g *place.Bounds) ([]string, error) {
	names, _, err := findFiles(g.Root)
	return names, err
}

// maxChanges bounds the listed changes.
const maxChanges = 5

// compare returns the changes since the record was made. It updates the stamps of files that were
// written without a change, and reports whether there were any.
func (l *CodeLedger) compare(root string, r *record) (changes []string, refreshed bool, err error) {
	names, inner, err := findFiles(root)
	if err != nil {
		return nil, false, err
	}
	known := map[string]*file{}
	for i := range r.Files {
		known[r.Files[i].Name] = &r.Files[i]
	}
	for _, name := range names {
		was := known[name]
		delete(known, name)
		if was == nil {
			changes = append(changes, shownName(name)+" is new")
			continue
		}
		if now := stampOf(root, name, l.now()); was.Stamp != "" && now == was.Stamp {
			continue
		}
		differs, err := l.differs(root, was)
		if err != nil {
			return nil, false, err
		}
		changes, refreshed = append(changes, differs...), true
	}
	for name := range known {
		changes = append(changes, shownName(name)+" is gone")
	}
	changes = append(changes, innerChanges(root, r, inner)...)
	slices.Sort(changes)
	if len(changes) > maxChanges {
		changes = append(changes[:maxChanges], fmt.Sprintf("and %d more", len(changes)-maxChanges))
	}
	return changes, refreshed, nil
}

// differs returns the changed parts of a file, or updates the file's stamp if nothing has changed.
func (l *CodeLedger) differs(root string, was *file) (changes []string, err error) {
	if l.Digest == nil {
		return []string{shownName(was.Name) + " was written"}, nil
	}
	now, err := l.sum(root, was.Name)
	if err != nil {
		return nil, err
	}
	for part, sum := range now.Parts {
		if before, ok := was.Parts[part]; !ok {
			changes = append(changes, partName(was.Name, part)+" is new")
		} else if before != sum {
			changes = append(changes, partName(was.Name, part)+" changed")
		}
	}
	for part := range was.Parts {
		if _, ok := now.Parts[part]; !ok {
			changes = append(changes, partName(was.Name, part)+" is gone")
		}
	}
	if len(changes) == 0 {
		was.Stamp = now.Stamp
	}
	return changes, nil
}

func partName(name, part string) string {
	if part == "" {
		return shownName(name)
	}
	return shownName(name) + ": " + shownName(part)
}

// shownName returns a stranger's file name in a form that is safe to read.
func shownName(name string) string {
	if quoted := strconv.Quote(name); len(quoted) != len(name)+2 {
		return quoted
	}
	return name
}

func innerChanges(root string, r *record, names []string) (changes []string) {
	for _, name := range names {
		was, ok := r.Inner[name]
		switch {
		case !ok:
			changes = append(changes, shownName(filepath.ToSlash(filepath.Dir(name)))+" is a repository now")
		case was != innerHead(root, name):
			changes = append(
				changes,
				"the repository in "+shownName(filepath.ToSlash(filepath.Dir(name)))+" moved to another commit",
			)
		}
	}
	return changes
}

// outsideTrust returns the reason why trust in a clone does not cover code that runs in a folder, or "".
func outsideTrust(g *place.Bounds, dir string) umpire.Phrase {
	resolved, err := files.Canonical(dir)
	if err != nil {
		return umpire.Say("the folder %q cannot be told", dir)
	}
	rest, err := filepath.Rel(g.Root, resolved)
	if err != nil || !filepath.IsLocal(rest) {
		return umpire.Say("it runs in %q, outside this clone", dir)
	}
	for segment := range strings.SplitSeq(filepath.ToSlash(rest), "/") {
		if isPassed(segment) {
			return umpire.Say("it runs in %q, which is not looked through", dir)
		}
	}
	return ""
}
