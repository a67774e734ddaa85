package rulefile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Settling lets an editor finish; a stream of changes is read at least every
// maxSettling.
const (
	settling    = 30 * time.Millisecond
	maxSettling = 300 * time.Millisecond
	// pollEvery is the interval between checks of the files on systems that do not
	// report changes.
	pollEvery = time.Second
	// armRounds bounds the chase after folders that are made while others are
	// being armed. Their events bring the next round anyway.
	armRounds = 32
)

// A Watcher keeps a Set current while files and folders appear, change and disappear.
// It sleeps between changes. Its methods are safe for concurrent use.
type Watcher struct {
	layers  []Layer
	options Options
	paths   map[string]bool // names whose events matter
	loaded  atomic.Pointer[loaded]
	changed chan struct{}
	now     chan chan struct{} // asks for a reload, and is closed when it is done
	soon    chan struct{}      // requests a reload without waiting for it
	stop    chan struct{}
	done    chan struct{}
	once    sync.Once

	// The rest belongs to the goroutine.
	notify  *fsnotify.Watcher // nil if the system does not report changes
	watched []string
	polls   *time.Ticker // nil unless some folder cannot be watched
}

// A loaded set, and how its files were when they were read.
type loaded struct {
	set    *Set
	stamps []stamp
}

// Watch loads the layers and keeps the set current until Close. On systems that do not
// report changes, it polls every second.
func Watch(layers []Layer, o Options) *Watcher {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		notify = nil
	}
	return newWatcher(layers, o, notify)
}

func newWatcher(layers []Layer, o Options, notify *fsnotify.Watcher) *Watcher {
	w := &Watcher{
		layers: slices.Clone(layers), options: o, notify: notify,
		changed: make(chan struct{}, 1), now: make(chan chan struct{}), soon: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	w.arm()
	stamps := w.look()
	w.loaded.Store(&loaded{set: Load(w.layers, nil, o), stamps: stamps})
	go w.watchFiles()
	return w
}

// Set returns the last loaded set. It includes a change of the files after at most
// settling.
func (w *Watcher) Set() *Set { return w.loaded.Load().set }

// Current returns the set as the files are now: it looks at them, and loads them if one
// has changed since. A file that has just gone is left to settle, since some editors
// remove a file before they write it again, and its rules hold until then.
func (w *Watcher) Current() *Set {
	if changed, _ := w.hasChanged(); changed {
		w.Reload()
	}
	return w.Set()
}

// Ready is like Current, but never waits long: if the files are large, it returns the last loaded
// set, and reads a change in the background.
func (w *Watcher) Ready() *Set {
	switch changed, size := w.hasChanged(); {
	case changed && size <= maxAwaited:
		w.Reload()
	case changed:
		select {
		case w.soon <- struct{}{}:
		default:
		}
	}
	return w.Set()
}

// maxAwaited is how many bytes of rule files Ready reads itself. Reading as many takes as long as the
// rest of a decision.
const maxAwaited = 64 << 10

// hasChanged reports whether the files have changed since they were read, and returns their size.
func (w *Watcher) hasChanged() (changed bool, size int64) {
	last, now := w.loaded.Load(), w.look()
	for _, s := range now {
		size += max(s.size, 0)
	}
	return !slices.Equal(now, last.stamps) && !anyGone(last.stamps, now), size
}

func anyGone(before, after []stamp) bool {
	for i := range before {
		if before[i] != noFile && after[i] == noFile {
			return true
		}
	}
	return false
}

// Reload reads the files now, for a caller that has just written one. It returns when
// Set gives the result.
func (w *Watcher) Reload() {
	read := make(chan struct{})
	select {
	case w.now <- read:
		<-read
	case <-w.done:
	}
}

// Changed returns a channel that gets a value after the set has changed; Close closes it.
// It holds one value, so several changes may be signalled once. A reader that then calls
// Set misses nothing.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Close stops watching and waits for the goroutine to end. The last set remains.
func (w *Watcher) Close() error {
	w.once.Do(func() { close(w.stop) })
	<-w.done
	return nil
}

// watchFiles waits for events, lets them settle, and reloads.
func (w *Watcher) watchFiles() {
	defer close(w.done)
	defer close(w.changed)
	defer w.disarm()
	var settled <-chan time.Time
	var first time.Time
	for {
		touched := false
		select {
		case <-w.stop:
			return
		case event, ok := <-w.events():
			touched = ok && w.paths[filepath.Clean(event.Name)]
		case <-w.errors(): //nolint:errcheck // any error may mean lost events
			touched = true
		case <-w.ticks():
			touched = !slices.Equal(w.look(), w.loaded.Load().stamps)
		case <-w.soon:
			if changed, _ := w.hasChanged(); changed {
				w.reload()
			}
		case <-settled:
			settled = nil
			w.reload()
		case read := <-w.now:
			w.reload()
			close(read)
		}
		switch {
		case !touched:
		case settled == nil:
			first = time.Now()
			settled = time.After(settling)
		case time.Since(first) < maxSettling:
			settled = time.After(settling)
		}
	}
}

// reload reads everything again. It first renews the watches on folders, to notice later
// changes.
func (w *Watcher) reload() {
	w.arm()
	stamps := w.look()
	old := w.Set()
	set := Load(w.layers, old, w.options)
	if old.equal(set) {
		w.loaded.Store(&loaded{set: old, stamps: stamps})
		return
	}
	if w.options.Prepare != nil {
		w.options.Prepare(set)
	}
	w.loaded.Store(&loaded{set: set, stamps: stamps})
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// equal reports whether two sets of the same layers have the same content.
func (s *Set) equal(t *Set) bool {
	return s.Degraded == t.Degraded && slices.EqualFunc(s.Files, t.Files, func(a, b File) bool {
		return a.Health == b.Health && a.Hash == b.Hash && a.Rules == b.Rules && a.Inert == b.Inert &&
			a.Hooks == b.Hooks && len(a.inertHooks) == len(b.inertHooks) && slices.Equal(a.Problems, b.Problems)
	})
}

// events, errors and ticks return channels that never receive if there is nothing to
// listen to.
func (w *Watcher) events() <-chan fsnotify.Event {
	if w.notify == nil {
		return nil
	}
	return w.notify.Events
}

func (w *Watcher) errors() <-chan error {
	if w.notify == nil {
		return nil
	}
	return w.notify.Errors
}

func (w *Watcher) ticks() <-chan time.Time {
	if w.polls == nil {
		return nil
	}
	return w.polls.C
}

// arm watches the folders that matter now, and falls back to polling if it cannot watch
// one of them. A folder may appear meanwhile, so it repeats until there are no more to
// add.
func (w *Watcher) arm() {
	failed := w.notify == nil
	for range armRounds {
		folders, names := w.wanted()
		w.paths = names
		fresh := slices.DeleteFunc(slices.Clone(folders), func(f string) bool { return slices.Contains(w.watched, f) })
		gone := slices.DeleteFunc(slices.Clone(w.watched), func(f string) bool { return slices.Contains(folders, f) })
		w.watched = folders
		if w.notify == nil {
			break
		}
		for _, f := range gone {
			_ = w.notify.Remove(f) // an error means that it is gone already
		}
		// Adding a folder again costs nothing, and is needed if it was removed and
		// created again with the same name.
		for _, f := range folders {
			if err := w.notify.Add(f); err != nil && !errors.Is(err, os.ErrNotExist) {
				failed = true
			}
		}
		if len(fresh) == 0 {
			break
		}
	}
	w.poll(failed)
}

// poll starts or ends looking at the files from time to time.
func (w *Watcher) poll(on bool) {
	switch {
	case on && w.polls == nil:
		w.polls = time.NewTicker(pollEvery)
	case !on && w.polls != nil:
		w.polls.Stop()
		w.polls = nil
	}
}

func (w *Watcher) disarm() {
	w.poll(false)
	if w.notify != nil {
		_ = w.notify.Close()
	}
}

// files are the files that a set depends on.
func (w *Watcher) files() []string {
	files := make([]string, 0, len(w.layers)+1)
	for _, l := range w.layers {
		files = append(files, filepath.Clean(l.Path))
	}
	if w.options.Trust.Path != "" {
		files = append(files, filepath.Clean(w.options.Trust.Path))
	}
	return files
}

// wanted returns the folders to watch, and the names in them that matter. For each file
// these are its folder and the nearest existing folder above, in which the folder
// itself may appear or disappear; and the same for the target of a link.
func (w *Watcher) wanted() (folders []string, names map[string]bool) {
	names = map[string]bool{}
	for _, path := range w.files() {
		folders = wantedFor(path, folders, names)
		if target := resolveLinks(path); target != path {
			folders = wantedFor(target, folders, names)
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders), names
}

func wantedFor(path string, folders []string, names map[string]bool) []string {
	names[path] = true
	for folder, found := filepath.Dir(path), 0; found < 2; folder = filepath.Dir(folder) {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			folders = append(folders, folder)
			found++
		}
		if folder == filepath.Dir(folder) {
			break
		}
		names[folder] = true
	}
	return folders
}

// A stamp distinguishes versions of a file without reading it.
type stamp struct {
	size    int64
	changed int64
	mode    os.FileMode
	number  uint64 // of the file on its disk, if the system provides it
}

// noFile is the stamp of a missing file.
var noFile = stamp{size: -1}

// look returns the stamps of all files, in their order.
func (w *Watcher) look() []stamp {
	var stamps []stamp
	for _, path := range w.files() {
		s := noFile
		if info, err := os.Stat(path); err == nil {
			s = stamp{info.Size(), info.ModTime().UnixNano(), info.Mode(), fileNumber(info)}
		}
		stamps = append(stamps, s)
	}
	return stamps
}
