package trial

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// Run runs a command in a trial and reads its effects. Canceling the context kills the command, and
// all its processes end with it. In that case there is no result and no layer.
//
// An error that wraps [ErrUnavailable] means that the command did not start, because it
// cannot be tried here.
func Run(ctx context.Context, spec Spec) (*Result, error) {
	spec.maxLayer = cmp.Or(spec.maxLayer, maxLayer)
	spec.Grace = cmp.Or(spec.Grace, grace)
	if len(spec.Args) == 0 {
		return nil, errors.New("no command to try")
	}
	roots, err := findRoots(spec.Place.Workspace)
	if err != nil {
		return nil, err
	}
	result, err := runOnce(ctx, &spec, roots)
	if err != nil || len(result.Effects.Stale) == 0 || !spec.mayRunAgain(result) {
		return result, err
	}
	if err := result.Layer.Discard(); err != nil {
		return nil, err
	}
	spec.Again(result.Effects.Stale)
	spec.Ahead = nil // already used
	return runOnce(ctx, &spec, roots)
}

// mayRunAgain reports whether a second run of the command is as good as the first,
// because nothing that it did, sent or read from its input remains.
func (s *Spec) mayRunAgain(first *Result) bool {
	return s.Again != nil && len(first.Effects.Reached) == 0 && !first.signalled && first.Effects.Whole() &&
		(s.Stdin == nil || files.IsNull(s.Stdin))
}

// runOnce runs the command with a layer over some folders, and registers it while it runs.
func runOnce(ctx context.Context, spec *Spec, roots []Root) (*Result, error) {
	lowers := eachPath(roots, func(r *Root) string { return r.Lower })
	changed := func() ([]string, error) { return lowers, nil } // without a registry, any path may have changed
	switch running, err := registerTrial(ctx, spec.State, lowers); {
	case err == nil:
		changed = running.changed
		defer running.unregister() //nolint:errcheck // the next keep removes a leftover file
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		spec.Again = nil // a second run could not detect changes either
	}
	var refused error
	for _, open := range []func() (*store, error){
		func() (*store, error) { return openStore(spec.State, spec.maxLayer) },
		func() (*store, error) { return openMemory(min(spec.maxLayer, maxMemory)) },
	} {
		var layer Layer
		release := func() {}
		s, err := open()
		if err == nil {
			layer, release, err = s.makeLayer(roots)
		}
		if err != nil {
			refused = errors.Join(refused, err)
			continue
		}
		result, err := s.run(ctx, spec, layer)
		release()
		if err == nil && !result.Effects.IsEmpty() {
			result.Effects.Stale, err = changed()
		}
		if err == nil {
			return result, nil
		}
		err = errors.Join(err, layer.Discard())
		if !sandbox.NoOverlay(err) {
			return nil, err
		}
		refused = errors.Join(refused, err)
	}
	return nil, umpire.Errorf("%w: %w", ErrUnavailable, refused)
}

// cacheShare is the divisor of a layer's space for a project's caches.
const cacheShare = 8

// run runs the command with a layer in a store.
func (s *store) run(ctx context.Context, spec *Spec, layer Layer) (*Result, error) {
	t := &try{spec: spec, layer: layer, store: s}
	sends := spec.Exit.MaySend()
	if len(spec.Place.Cache) > 0 && !(sends && len(spec.Seen) > 0) { // else changes in caches go to the layer
		roots := eachPath(layer.Roots, func(r *Root) string { return r.Lower })
		t.cache, _ = leaseCache(s.dir, cacheProject{Roots: roots, Network: sends, Max: s.max / cacheShare})
	}
	layer.Caches, layer.Temporary = t.cache.Name(), spec.Temporary
	seen, err := spec.Temporary.Lend(layer.tmp(), spec.Seen)
	if err != nil {
		return nil, err
	}
	spec.Profile.End(process.LayersPrepared)
	exit, err := t.command(ctx, seen)
	_ = t.cache.Close() // on failure the folder is not reused, as after a crash
	if err != nil {
		return nil, err
	}
	effects, err := read(ctx, layer, spec.limits)
	if err != nil {
		return nil, err
	}
	spec.Profile.End(process.EffectsRead)
	effects.Limit = cmp.Or(t.full, s.exceeded(), effects.Limit)
	t.addSight(&effects)
	return &Result{
		Exit: exit, Output: t.output.text, Layer: layer, Effects: effects, signalled: t.signalled,
	}, nil
}

// A try is one command in one layer.
type try struct {
	spec  *Spec
	layer Layer
	store *store
	cache *cacheLease
	full  string // the exceeded limit, or ""
	sight sandbox.Sight

	reached egress.Traffic

	signalled bool // it received a signal, and may have ended because of it

	mu     sync.Mutex // the two streams are written concurrently
	output recording
}

// command runs the command, and returns its exit code.
func (t *try) command(ctx context.Context, seen []string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, context.Cause(ctx)
	}
	cmd := exec.Command(t.spec.Args[0], t.spec.Args[1:]...) //nolint:noctx // it is asked to end before it is killed
	if cmd.Err != nil {
		return 0, cmd.Err
	}
	cmd.Dir, cmd.Env = t.spec.Dir, append(slices.Clip(t.spec.Env), offlineVariables...)
	exit, leave, err := t.openExit(ctx, cmd)
	if err != nil {
		return 0, err
	}
	defer leave()
	if t.spec.Stdin != nil {
		cmd.Stdin = t.spec.Stdin // a nil *os.File would not be a nil io.Reader
	}
	cmd.Stdout, cmd.Stderr = &stream{t, t.spec.Stdout}, &stream{t, t.spec.Stderr}
	process.Own(cmd)
	box, err := t.place().Wrap(cmd, sandbox.Limits{
		Mode: umpire.SandboxWorkspaceWrite, Seen: seen, Observe: true, Ahead: t.spec.Ahead, Exit: exit,
	})
	if err != nil {
		return 0, umpire.Errorf("%w: %w", ErrUnavailable, err)
	}
	err = t.wait(ctx, box)
	t.spec.Profile.End(process.CommandRun)
	err = box.Close(err)
	leave()
	t.spec.Profile.End(process.NetworkClosed)
	t.sight = box.Seen
	if ctx.Err() != nil {
		return 0, context.Cause(ctx) // the helper may have been killed before it wrote anything
	}
	if _, failed := errors.AsType[*sandbox.SetupError](err); failed {
		return 0, umpire.Errorf("%w: %w", ErrUnavailable, err)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited && t.full == "" {
		return 0, err
	}
	return box.Command().ProcessState.ExitCode(), nil
}

// openExit returns the way out of the command, or nil. leave ends its connections, after which t.reached is complete.
func (t *try) openExit(ctx context.Context, cmd *exec.Cmd) (exit *egress.Exit, leave func(), err error) {
	p := t.spec.Exit
	if p == nil {
		return nil, func() {}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	leave = func() {
		cancel()
		p.Wait()
	}
	p.Record = t.reached.Note
	env, err := p.Furnish(ctx, t.layer.tmp(), sandbox.Temporary)
	if err != nil {
		leave()
		return nil, nil, err
	}
	cmd.Env = append(cmd.Env, env...)
	return p.Exit(ctx), leave, nil
}

// offlineVariables stop programs from checking for updates, which a trial would refuse
// and then ask about, and from retrying refused requests for minutes.
var offlineVariables = []string{
	"NO_UPDATE_NOTIFIER=1", "npm_config_update_notifier=false", "npm_config_fetch_retries=0", "PIP_RETRIES=0",
}

// place returns the place where the command runs: the given one, under overlays.
func (t *try) place() *sandbox.Place {
	p := &sandbox.Place{
		Home: t.spec.Place.Home, State: t.spec.Place.State, Scratch: t.layer.scratch(),
		Cache: t.spec.Place.Cache, CacheLayers: t.cache.Dir(),
	}
	for i, root := range t.layer.Roots {
		p.Workspace = append(p.Workspace, root.Lower)
		p.Overlays = append(p.Overlays, sandbox.Overlay{
			Folder: root.Lower, Upper: root.Upper, Work: t.layer.work(i), Device: root.Device, Inode: root.Inode,
		})
	}
	p.View = sandbox.ViewOf(p.Home, t.spec.Env, p.Workspace, t.spec.Place.Show)
	return p
}

// fullness is the interval for checking how much the command has written.
const fullness = 200 * time.Millisecond

// wait waits for the command and passes signals on. It ends the command when the context
// is canceled or the command has written too much.
func (t *try) wait(ctx context.Context, box *sandbox.Box) error {
	group, err := box.Start()
	if err != nil {
		return err
	}
	t.spec.Profile.End(process.HelperStarted)
	ticker := time.NewTicker(fullness)
	defer ticker.Stop()
	for {
		select {
		case err := <-group.Done:
			return err
		case <-ctx.Done():
			group.Stop(t.spec.Grace)
			return context.Cause(ctx)
		case signal := <-t.spec.Signals:
			t.signalled = true
			_ = box.Command().Process.Signal(signal) // it may have ended
		case <-ticker.C:
			if t.full = t.store.exceeded(); t.full != "" {
				group.Stop(t.spec.Grace)
				return nil
			}
		}
	}
}

// addSight adds the observed attempts and differences.
func (t *try) addSight(e *Effects) {
	for _, address := range t.sight.Addresses {
		e.Refused = append(e.Refused, Attempt{Kind: AttemptNetwork, Target: address})
	}
	reached, refused := t.reached.Sum()
	e.Reached = reached
	for _, a := range refused {
		e.Refused = append(e.Refused, Attempt(a))
	}
	for _, path := range t.sight.Writes {
		if isAside(t.spec.Place.Home, path) {
			continue
		}
		e.Refused = append(e.Refused, Attempt{Kind: AttemptWrite, Target: path})
	}
	for _, path := range t.sight.Stuck {
		e.Differs = append(e.Differs, Difference{path, DiffersRename})
	}
	if t.sight.Blind {
		e.Differs = append(e.Differs, Difference{t.layer.Roots[0].Lower, DiffersUnobserved})
	}
}

// sidePaths are where tools count their usage in a home, and Cargo's locks. A refused write there does not matter.
var sidePaths = []string{
	".config/go/telemetry", ".config/configstore",
	".cargo/.package-cache", ".cargo/.package-cache-mutate", ".cargo/.global-cache",
}

func isAside(home, path string) bool { // Go makes .config/go to count in it; other files there are settings
	return home != "" && (path == filepath.Join(home, ".config/go") ||
		slices.ContainsFunc(sidePaths, func(side string) bool { return files.Within(filepath.Join(home, side), path) }))
}

// A stream records the command's output, and passes it on.
type stream struct {
	try *try
	to  io.Writer
}

// Write records p and passes it on.
func (s *stream) Write(p []byte) (int, error) {
	s.try.mu.Lock()
	defer s.try.mu.Unlock()
	s.try.output.record(p)
	if s.to == nil {
		return len(p), nil
	}
	return s.to.Write(p)
}
