package trial

import (
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
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/sandbox"
)

// sequencesVariable says how many random sequences are tried; 2,000 take about a minute.
const sequencesVariable = "UMPIRE_TRIAL_SEQUENCES"

const (
	fewSequences = 160
	sequencesIn  = 20 // one subtest
)

// TestRandomSequences runs sequences of commands once in earnest, on a copy, and once in a
// trial: what the trial says has to be the difference that the other run made, or that it
// differs.
func TestRandomSequences(t *testing.T) {
	t.Parallel()
	newBench(t) // skips where there are no trials
	count := fewSequences
	if n, err := strconv.Atoi(os.Getenv(sequencesVariable)); err == nil {
		count = n
	}
	var faithful, differs atomic.Int64
	t.Run("", func(t *testing.T) {
		for first := 0; first < count; first += sequencesIn {
			t.Run(fmt.Sprint("from ", first), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				for seed := first; seed < min(first+sequencesIn, count); seed++ {
					if b.compareRuns(seed) {
						faithful.Add(1)
					} else {
						differs.Add(1)
					}
				}
			})
		}
	})
	t.Logf("%d faithful, %d noticed that they differ", faithful.Load(), differs.Load())
	if differs.Load()*20 > int64(count) {
		t.Errorf("%d of %d sequences differ, want at most 5 %%", differs.Load(), count)
	}
}

// compareRuns tries one sequence, and reports whether the trial was faithful.
func (b *bench) compareRuns(seed int) bool {
	b.Helper()
	g := &generator{Rand: rand.New(rand.NewPCG(uint64(seed), 7))} //nolint:gosec // it is to be the same each time
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
	if os.Geteuid() == 0 { // in the sandbox root has no rights beyond those of its files
		cmd = exec.CommandContext(b.Context(), "setpriv", "--bounding-set=-all", "--inh-caps=-all", "sh", "-c", script)
	}
	cmd.Dir, cmd.Env = twin, append(slices.Clone(spec.Env), "TMPDIR="+b.TempDir())
	out, _ := cmd.CombinedOutput() // a command that fails does so in both
	result, err := Run(b.Context(), spec)
	if err != nil {
		b.Fatalf("seed %d: %v", seed, err)
	}
	defer func() {
		if err := result.Layer.Discard(); err != nil {
			b.Error(err)
		}
	}()
	if len(result.Effects.Differs) > 0 {
		return false
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
	return true
}

// A tree is a folder as a test sees it: by path from its root.
type tree map[string]leaf

// A leaf is one file. Its content is a digest, and file names those that are the same.
type leaf struct {
	text string
	time string
	file string
}

// started is before all tests, and after all times that they set.
var started = time.Now().Add(-time.Second)

// timeText is a time as it can be compared between two runs.
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
		if d.IsDir() && info.Mode&0o700 != 0o700 { // an ordinary user has to look into it
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
				e.Digest, err = DigestFile(t.Context(), f)
				_ = f.Close()
			}
		}
		all[relative(root, path)] = leafOf(&e, "under")
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

func leafOf(e *Entry, layer string) leaf {
	l := leaf{text: leafText(e.Type, e.UID, e.GID, e.Link, e.Digest), time: timeText(e.ModTime)}
	if e.Type.IsRegular() {
		l.file = fmt.Sprint(layer, e.Inode)
	}
	if e.Type&fs.ModeSymlink != 0 {
		l.time = ""
	}
	return l
}

// with is what the tree becomes with effects.
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
		l := leafOf(&one.After, "layer")
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

// texts are the leaves as they can be compared between trees.
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
		all[path] = l.text + " " + l.time
		if l.file != "" && len(names[l.file]) > 1 {
			all[path] += " " + strings.Join(names[l.file], "=")
		}
	}
	return all
}

// changedTo lists the paths that are not the same in another tree. That a folder has another
// time is not counted.
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

// pathsOf lists the paths that effects are about.
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

// A generator makes trees and command lines, the same from the same seed.
type generator struct{ *rand.Rand }

// names are few, so that commands meet each other's files.
var names = []string{"a", "b", "c", "d e", "f.txt", "g.txt"}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

// path is a path of up to three names.
func (g *generator) path() string {
	parts := []string{}
	for range 1 + g.IntN(3) {
		parts = append(parts, g.one(names...))
	}
	return strings.Join(parts, "/")
}

func (g *generator) makeTree(t *testing.T, root string) {
	t.Helper()
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 10 + g.IntN(30) {
		path := filepath.Join(root, g.path())
		if g.IntN(2) == 0 {
			_ = os.MkdirAll(path, 0o755) // there may be a file already, here and below
		}
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		switch g.IntN(12) {
		case 0:
			_ = os.Symlink(g.path(), path)
		case 1:
		case 2:
			_ = os.Link(filepath.Join(root, g.path()), path)
		default:
			text := strings.Repeat(g.one("one\n", "two\n", "three\n"), g.IntN(2000))
			_ = os.WriteFile(path, []byte(text), fs.FileMode(0o600|g.IntN(0o100)))
		}
	}
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		at := time.Unix(1_500_000_000+g.Int64N(1e8), g.Int64N(1e9))
		if err == nil {
			times := unix.NsecToTimespec(at.UnixNano())
			err = unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{times, times}, unix.AT_SYMLINK_NOFOLLOW)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// templates are the commands. P and Q are paths, N is a number.
var templates = []string{
	"echo N >P", "echo N >P", "echo N >>P", ": >P", "printf '%0200000d' N >P", "truncate -s N P", "truncate -s 3000000 P",
	"rm -f P", "rm -f P", "rm -rf P", "rm -rf P", "rmdir P", "unlink P",
	"mkdir P", "mkdir -p P", "mkdir -p P && echo N >P/new",
	"mv P Q", "mv P Q", "mv -T P Q", "mv -T P Q", "mv -n P Q", "perl -e 'rename \"P\", \"Q\"'", "perl -e 'rename \"P\", \"Q\"'",
	"cp P Q", "cp -a P Q", "cp -al P Q", "cp -r P/. Q", "cp -p P Q",
	"ln P Q", "ln -f P Q", "ln -s P Q", "ln -sfn P Q",
	"chmod 755 P", "chmod 600 P", "chmod -R u+rwX,go-w P", "chmod 700 P",
	"touch P", "touch -d @1400000000.5 P", "touch -r P Q", "touch -hd @1300000000 P",
	"sed -i s/o/0/ P", "sed -i s/x/y/ P", "for f in P/*; do echo N >>\"$f\"; done", "for f in P/*; do mv \"$f\" \"$f.old\"; done",
	"tar cf $TMPDIR/t.tar P && tar xf $TMPDIR/t.tar -C Q", "tar cf $TMPDIR/t.tar P && rm -rf P && tar xf $TMPDIR/t.tar",
	"dd if=/dev/zero of=P bs=4096 count=3 seek=N conv=notrunc", "cat P >Q", "cat P >$TMPDIR/keep && cat $TMPDIR/keep >P",
	"find P -type f -delete", "find P -depth -delete", "rm -rf P && mkdir P && touch P/a", "(cd P && mv * ..)", "(cd P && mkdir -p x && mv a x/)",
	"git init -q P && rm -rf P/.git",
}

// script is a sequence of commands, each of which may fail.
func (g *generator) script() string {
	var lines []string
	for range 4 + g.IntN(10) {
		line := g.one(templates...)
		p, q := g.path(), g.path()
		for strings.HasPrefix(q+"/", p+"/") {
			q = g.path() // of a copy in itself, how much is copied depends on the order of a folder
		}
		var quoted strings.Builder
		for i, r := range line {
			// A placeholder is a capital letter that stands alone.
			alone := (i == 0 || !isLetter(line[i-1])) && (i+1 == len(line) || !isLetter(line[i+1]))
			switch {
			case r == 'P' && alone:
				quoted.WriteString(shellWord(line, p))
			case r == 'Q' && alone:
				quoted.WriteString(shellWord(line, q))
			case r == 'N' && alone:
				quoted.WriteString(strconv.Itoa(1 + g.IntN(9)))
			default:
				quoted.WriteRune(r)
			}
		}
		lines = append(lines, "{ "+quoted.String()+"; } 2>&1 || true")
	}
	return strings.Join(lines, "\n")
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '-' }

// shellWord writes a path for the shell; in a program of perl it is in quotes already.
func shellWord(line, path string) string {
	if strings.HasPrefix(line, "perl") {
		return path
	}
	return strings.ReplaceAll(path, " ", `\ `)
}
