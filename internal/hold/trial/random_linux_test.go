package trial

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// sequencesVariable sets how many random sequences are tried, if the default is too few.
const sequencesVariable = "UMPIRE_TRIAL_SEQUENCES"

const sequencesIn = 10 // one subtest

// sequenceCount returns how many sequences a test tries.
func sequenceCount() int {
	if n, err := strconv.Atoi(os.Getenv(sequencesVariable)); err == nil {
		return n
	}
	return sample.Times(8, 80)
}

// TestRandomSequences runs sequences of commands once for real, on a copy, and once in a
// trial. Either the trial lists the changes of the real run, keeping them makes the same
// tree, and an undo restores the old one; or the trial differs, and nothing is kept.
func TestRandomSequences(t *testing.T) {
	t.Parallel()
	newBench(t) // skips the test if there are no trials
	count := sequenceCount()
	counts := &sequenceCounts{reasons: map[DifferenceReason]int{}}
	t.Run("", func(t *testing.T) {
		for first := 0; first < count; first += sequencesIn {
			t.Run(fmt.Sprint("from ", first), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				for seed := first; seed < min(first+sequencesIn, count); seed++ {
					counts.add(b.compareRuns(seed))
				}
			})
		}
	})
	if n := counts.faithful + counts.differ; n > 0 {
		t.Logf("figure: %d sequences as user %d: %.1f %% faithful, kept and undone; %d differ and said so, for %v",
			n, os.Geteuid(), 100*float64(counts.faithful)/float64(n), counts.differ, counts.reasons)
	}
	if counts.differ*20 > count {
		t.Errorf("%d of %d sequences differ, want at most 5 %%", counts.differ, count)
	}
}

// tarComplaint is tar's error if a folder's change time differs after listing it. An
// overlay updates it on noticing that all of the folder's lower entries are gone.
const tarComplaint = "file changed as we read it"

// sequenceCounts are the results of the sequences.
type sequenceCounts struct {
	mu               sync.Mutex
	faithful, differ int
	reasons          map[DifferenceReason]int
}

// add counts one sequence.
func (c *sequenceCounts) add(differs []Difference) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(differs) == 0 {
		c.faithful++
		return
	}
	c.differ++
	c.reasons[differs[0].Reason]++
}

// compareRuns runs one sequence, and returns the trial's differences.
func (b *bench) compareRuns(seed int) []Difference {
	b.Helper()
	g := &generator{Rand: rand.New(rand.NewPCG(uint64(seed), 7))} //nolint:gosec // it must be reproducible
	root, twin := filepath.Join(b.base, fmt.Sprint("p", seed)), filepath.Join(b.base, fmt.Sprint("q", seed))
	g.makeTree(b.T, root)
	if out, err := exec.CommandContext(b.Context(), "cp", "-a", root, twin).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	before := treeOf(b.T, root)
	script := g.script()
	spec := b.spec
	spec.Dir, spec.Args = root, []string{"sh", "-c", script}
	spec.Place = &sandbox.Place{Workspace: []string{root}, Home: b.spec.Place.Home, State: b.spec.Place.State}

	cmd := exec.CommandContext(b.Context(), "sh", "-c", script)
	if os.Geteuid() == 0 { // in the sandbox root has no capabilities
		cmd = exec.CommandContext(b.Context(), "setpriv", "--bounding-set=-all", "--inh-caps=-all", "sh", "-c", script)
	}
	// Git must ignore inode numbers: whether a new file reuses an old one is random.
	spec.Env = append(slices.Clone(spec.Env), "PATH=/usr/bin:/bin:"+os.Getenv("PATH"), "GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=core.checkStat", "GIT_CONFIG_VALUE_0=minimal",
		"GIT_CONFIG_KEY_1=core.trustctime", "GIT_CONFIG_VALUE_1=false", "GIT_CONFIG_KEY_2=core.fsync", "GIT_CONFIG_VALUE_2=none")
	cmd.Dir, cmd.Env = twin, append(slices.Clone(spec.Env), "TMPDIR="+b.TempDir())
	out, _ := cmd.CombinedOutput() // a failing command fails in both runs
	result, err := Run(b.Context(), spec)
	if err != nil {
		b.Fatalf("seed %d: %v", seed, err)
	}
	defer func() {
		if err := result.Layer.Discard(); err != nil {
			b.Error(err)
		}
	}()
	state := filepath.Join(b.base, fmt.Sprint("s", seed))
	if len(result.Effects.Differs) > 0 {
		if _, err := result.Layer.Keep(b.Context(), KeepSpec{State: state, Shown: &result.Effects}); !errors.Is(err, ErrNotWhole) {
			b.Errorf("seed %d: kept what differs: %v", seed, err)
		}
		b.wantTree(seed, "refused", before, treeOf(b.T, root), script)
		return result.Effects.Differs
	}
	if bytes.Contains(result.Output, []byte(tarComplaint)) && !bytes.Contains(out, []byte(tarComplaint)) {
		return []Difference{{Reason: "said_by_tar"}}
	}
	direct := treeOf(b.T, twin)
	tried := before.with(root, &result.Effects)
	if diff := cmp.Diff(direct.texts(), tried.texts()); diff != "" || result.Effects.Limit != "" {
		b.Errorf("seed %d: in earnest it came to another tree than in a trial (-earnest +trial):\n%s\n%s\n%s\n%s\n%s",
			seed, diff, script, out, result.Output, b.listing(&result.Effects))
	}
	if diff := cmp.Diff(before.changedTo(direct), pathsOf(root, &result.Effects)); diff != "" {
		b.Errorf("seed %d: not what was changed (-want +got):\n%s\n%s", seed, diff, script)
	}
	kept, err := result.Layer.Keep(b.Context(), KeepSpec{State: state, Shown: &result.Effects})
	if err != nil {
		b.Fatalf("seed %d: %v\n%s\n%s", seed, err, script, b.listing(&result.Effects))
	}
	b.wantTree(seed, "kept", direct, treeOf(b.T, root), script)
	if kept.ID != "" {
		if _, err := Undo(b.Context(), UndoSpec{State: state, ID: kept.ID}); err != nil {
			b.Fatalf("seed %d: %v\n%s", seed, err, script)
		}
	}
	b.wantTree(seed, "undone", before, treeOf(b.T, root), script)
	return nil
}

// wantTree compares a tree with the expected one.
func (b *bench) wantTree(seed int, when string, want, got tree, script string) {
	b.Helper()
	if diff := cmp.Diff(want.texts(), got.texts()); diff != "" {
		b.Errorf("seed %d, %s (-want +got):\n%s\n%s", seed, when, diff, script)
	}
}

// A tree describes a folder by path from its root.
type tree map[string]leaf

// A leaf is one file. Its content is a digest; equal values of file mean the same file.
type leaf struct {
	text string
	time string
	file string
}

// started is before all tests, and after all times that they set.
var started = time.Now().Add(-time.Second)

// timeText returns a time in a form that is comparable between two runs.
func timeText(t time.Time) string {
	if t.After(started) {
		return "now"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func leafText(kind fs.FileMode, uid, gid int, link, digest string) string {
	if kind&fs.ModeSymlink != 0 {
		kind = fs.ModeSymlink
	}
	return fmt.Sprint(kind, " ", uid, ":", gid, " ", link, digest)
}

func treeOf(t *testing.T, root string) tree {
	t.Helper()
	all, giveBack := tree{}, []func() error{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var info unix.Stat_t
		if err := unix.Lstat(path, &info); err != nil {
			return err
		}
		e := entryOf(&info)
		if d.IsDir() && info.Mode&0o700 != 0o700 { // an ordinary user must be able to read it
			if err := os.Chmod(path, 0o700); err != nil {
				return err
			}
			giveBack = append(giveBack, func() error { return unix.Fchmodat(unix.AT_FDCWD, path, info.Mode&0o7777, 0) })
		}
		switch {
		case e.Type&fs.ModeSymlink != 0:
			e.Link, err = os.Readlink(path)
		case e.Type.IsRegular():
			var f *os.File
			if f, err = os.Open(path); err == nil {
				e.Digest, _, err = digestContent(t.Context(), f)
				_ = f.Close()
			}
		}
		all[relative(root, path)] = leafOf(path, &e, "under")
		return err
	})
	for _, back := range slices.Backward(giveBack) {
		err = errors.Join(err, back())
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func relative(root, path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
}

// leafOf describes one entry. Git's index contains times and inode numbers, so its
// content differs between two runs.
func leafOf(path string, e *Entry, layer string) leaf {
	digest := e.Digest
	if strings.HasSuffix(path, ".git/index") {
		digest = "index"
	}
	l := leaf{text: leafText(e.Type, e.UID, e.GID, e.Link, digest), time: timeText(e.ModTime)}
	if e.Type.IsRegular() {
		l.file = fmt.Sprint(layer, e.Inode)
	}
	if e.Type&fs.ModeSymlink != 0 {
		l.time = ""
	}
	return l
}

// with returns the tree after applying effects.
func (before tree) with(root string, e *Effects) tree {
	after := maps.Clone(before)
	for i := range e.List {
		if e.List[i].Kind == Deleted {
			delete(after, relative(root, e.List[i].Path))
		} else if e.List[i].From != "" {
			delete(after, relative(root, e.List[i].From))
		}
	}
	for i := range e.List {
		one := &e.List[i]
		if one.Kind == Deleted {
			continue
		}
		l := leafOf(one.Path, &one.After, "layer")
		if same, found := after[relative(root, one.After.SameAs)]; one.After.SameAs != "" && found {
			l.file = same.file
		}
		after[relative(root, one.Path)] = l
	}
	for _, f := range e.Folders {
		l := after[relative(root, f.Path)]
		l.time = timeText(f.ModTime)
		after[relative(root, f.Path)] = l
	}
	return after
}

// onXFS reports whether tests run on XFS. It changes the time of exchanged folders, and an overlay
// exchanges a deleted folder for its whiteout where it only moves other entries.
var onXFS = sync.OnceValue(func() bool {
	var info unix.Statfs_t
	return unix.Statfs(testParent(), &info) == nil && info.Type == unix.XFS_SUPER_MAGIC
})

// texts returns the leaves in a form that is comparable between trees.
func (before tree) texts() map[string]string {
	names := map[string][]string{}
	for path, l := range before {
		if l.file != "" {
			names[l.file] = append(names[l.file], path)
		}
	}
	all := map[string]string{}
	for path, l := range before {
		slices.Sort(names[l.file])
		all[path] = l.text
		if !strings.HasPrefix(l.text, "d") || !onXFS() {
			all[path] += " " + l.time
		}
		if l.file != "" && len(names[l.file]) > 1 {
			all[path] += " " + strings.Join(names[l.file], "=")
		}
	}
	return all
}

// changedTo lists the paths that differ in another tree. It ignores the times of folders.
func (before tree) changedTo(after tree) []string {
	paths := []string{}
	for path, l := range before {
		now, there := after[path]
		if !there || now.text != l.text || now.time != l.time && !strings.HasPrefix(l.text, "d") {
			paths = append(paths, path)
		}
	}
	for path := range after {
		if _, there := before[path]; !there {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// pathsOf lists the paths in effects.
func pathsOf(root string, e *Effects) []string {
	paths := []string{}
	for i := range e.List {
		paths = append(paths, relative(root, e.List[i].Path))
		if e.List[i].From != "" {
			paths = append(paths, relative(root, e.List[i].From))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
