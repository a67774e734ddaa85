package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// order plans the helper's work.
func (p *Place) order(cmd *exec.Cmd, limits Limits, which layers, b *Box) (*order, error) {
	o := &order{
		Path: cmd.Path, Args: cmd.Args, Env: cmd.Environ(), Dir: cmd.Dir,
		Layers: which, Reach: limits.reach(which), Observe: limits.Observe,
		Exit: limits.Exit != nil && limits.Observe && limits.reach(which) == reachItself,
	}
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	if o.Exit {
		o.Texts = limits.Exit.Texts
	}
	var err error
	if o.Dir == "" {
		if o.Dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	if err := p.folders(o, limits, b); err != nil {
		return nil, err
	}
	o.Env = setEnv(o.Env, "TMPDIR", "/tmp")
	if !o.Layers.has(withNamespaces) && o.Tmp != "" {
		o.Env = setEnv(o.Env, "TMPDIR", o.Tmp)
	}
	return o, nil
}

// folders decides which paths are writable, visible and replaced.
func (p *Place) folders(o *order, limits Limits, b *Box) error {
	var err error
	if len(p.Overlays) > 0 {
		return p.overlaid(o, limits, b)
	}
	if limits.Mode == umpire.SandboxWorkspaceWrite {
		for _, dir := range p.Workspace {
			if o.Open, err = withPath(o.Open, dir); err != nil {
				return err
			}
		}
	}
	var beside []string
	for _, path := range limits.Open {
		if path = holdingFolder(path); slices.Contains(privateFolders, path) {
			continue // the sandbox has its own
		}
		if beside, err = withPath(beside, path); err != nil {
			return err
		}
	}
	if err := p.guardAll(o, files.Outermost(o.Open), files.Outermost(beside), &limits, b); err != nil {
		return err
	}
	o.Open = files.Outermost(append(o.Open, beside...))
	if err := p.private(o, b, false); err != nil {
		return err
	}
	p.hide(o, limits.Seen)
	return nil
}

// withPath adds a path with symbolic links resolved.
func withPath(paths []string, path string) ([]string, error) {
	plain, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if plain == "/" {
		return nil, errors.New("the root of the file system cannot be made writable: choose a folder in it")
	}
	return append(paths, plain), nil
}

// holdingFolder returns the folder that must be writable to create, replace or delete a
// path: its parent, or the path itself if it is a folder.
func holdingFolder(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
		if filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// guardAll guards the writable folders in and beside the workspace, except for paths
// opened by name.
func (p *Place) guardAll(o *order, workspace, beside []string, limits *Limits, b *Box) error {
	opened := func(path string) bool {
		return files.HoldsAny(path, limits.Open)
	}
	beside = slices.DeleteFunc(beside, func(path string) bool { return files.WithinAny(workspace, path) })
	b.folders, b.allowed, b.verbs = slices.Concat(workspace, beside), limits.Open, limits.Git
	b.sealed = p.seal(beside, workspace, limits.Open)
	found, err := p.enter(b)
	if err != nil {
		return err
	}
	g := guarded{beside: beside, verbs: limits.Git, paths: b.sealed}
	for _, root := range b.folders {
		g.folder(root, p.Home, found)
		for _, outer := range beside {
			g.pin(outer, root) // else another folder could replace it
		}
	}
	g.follow(p.Home)
	if !limits.Installs {
		covered, note := found.coverLinks(b.folders)
		g.paths, b.Held = append(g.paths, covered...), note
	}
	g.paths = append(g.paths, found.otherNames(g.paths)...)
	for _, path := range g.paths {
		if isPlaceholder(path) {
			g.absent = append(g.absent, path)
		} else if !opened(path) {
			o.Guarded = append(o.Guarded, path)
		}
	}
	if len(o.Guarded) > maxGuarded {
		return umpire.Errorf(
			"too many files and folders to guard: %d, and at most %d are possible; start in a smaller folder",
			len(o.Guarded), maxGuarded,
		)
	}
	p.recognize(g.gits)
	slices.SortFunc(g.pinned, func(a, b string) int { return len(a) - len(b) })
	o.Pinned = g.pinned
	b.watched = listWatched(g.pinned, g.links, slices.DeleteFunc(g.missing, opened))
	if !o.Layers.has(withNamespaces) {
		return nil
	}
	for _, path := range g.absent {
		if opened(path) {
			continue
		}
		if err := b.keepAbsent(path); err != nil {
			return umpire.Errorf("prevent the creation of %s: %w", path, err)
		}
		o.Absent = append(o.Absent, path)
	}
	return nil
}

// maxGuarded limits the mounts of one sandbox.
const maxGuarded = 5000

// seal lists the folders next to opened files, in a folder that is writable only to let
// those files be replaced. Folders that hold the workspace or caches stay open.
func (p *Place) seal(beside, workspace, open []string) (sealed []string) {
	kept := slices.Concat(workspace, open)
	for _, cache := range p.Cache {
		if plain, err := filepath.EvalSymlinks(cache.Folder); err == nil {
			kept = append(kept, plain)
		}
	}
	var seal func(dir string)
	seal = func(dir string) {
		entries, _ := os.ReadDir(dir) // an unreadable folder hides its names from the command, too
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case !e.IsDir() || slices.Contains(kept, path):
			case files.HoldsAny(path, kept):
				seal(path)
			default:
				sealed = append(sealed, path)
			}
		}
	}
	for _, dir := range beside {
		if !slices.Contains(open, dir) {
			seal(dir)
		}
	}
	return sealed
}

// private gives the command a /tmp, and layers over caches. once means that Scratch serves no other
// command. Then the kernel need not flush the layers' whole disk when the command ends.
func (p *Place) private(o *order, b *Box, once bool) error {
	if p.Scratch == "" {
		return nil
	}
	scratch, err := filepath.EvalSymlinks(p.Scratch)
	if err != nil {
		return err
	}
	o.Tmp = TmpIn(scratch)
	if err := os.MkdirAll(o.Tmp, 0o700); err != nil {
		return err
	}
	number, free := p.slots.take()
	b.slot = free
	var found []string
	for _, cache := range p.Cache {
		plain, there := cache.Find()
		if there &&
			!slices.ContainsFunc(
				o.writable(), func(open string) bool { return files.Within(open, plain) || files.Within(plain, open) },
			) {
			found = append(found, plain) // else it does not exist, or is writable anyway
		}
	}
	at := cmp.Or(p.CacheLayers, filepath.Join(scratch, fmt.Sprintf("caches-%d", number)))
	o.Caches, err = layersOver(p.Home, found, at, once)
	return err
}

// TmpIn returns the folder in a Scratch that commands see as /tmp.
func TmpIn(scratch string) string { return filepath.Join(scratch, "tmp") }

// privateFolders are world-writable; the sandbox has its own.
var privateFolders = []string{"/tmp", "/var/tmp"}

// hide lists the hidden paths, and the paths below them that must stay visible.
func (p *Place) hide(o *order, seen []string) {
	seenWhole := func(dir string) bool { return files.WithinAny(o.writable(), dir) }
	o.Homes = slices.DeleteFunc(slices.Clone(p.View.Hidden), seenWhole)
	// Homes come first, so nothing inside them needs hiding.
	o.Hidden = slices.Concat(o.Homes, o.Hidden, []string{"/run"})
	if p.State != "" {
		o.Hidden = append(o.Hidden, filepath.Join(p.State, "state"), filepath.Join(p.State, "keys"))
	}
	for _, path := range p.secrets() {
		if !isNamed(path, seen, o.Open) {
			o.Hidden = append(o.Hidden, path)
		}
	}
	writable := o.writable()
	covered := append(slices.Clone(privateFolders), o.Hidden...)
	hidden := func(path string) bool { return files.WithinAny(covered, path) }
	outside := slices.Concat(
		[]string{p.Home, o.Path, o.Dir, "/etc/resolv.conf"}, p.Workspace, seen, programFolders(o.Env),
	)
	if len(o.Homes) > 0 {
		outside = slices.DeleteFunc(outside, func(path string) bool {
			return path == p.Home || path == o.Dir && files.WithinAny(o.Homes, path) ||
				files.WithinAny(p.View.Shown, path)
		})
		outside, o.Stubs = p.View.Lead(o.Homes, writable, outside)
		for i := range o.Caches {
			writable = append(writable, o.Caches[i].shown()...)
		}
	}
	for _, path := range outside {
		plain, err := filepath.EvalSymlinks(path)
		if err == nil && path != "" && hidden(plain) && !slices.Contains(covered, plain) &&
			!files.WithinAny(writable, plain) {
			o.Shown = append(o.Shown, plain)
		}
	}
	paths, all := sockets()
	o.NoSockets = !all
	for _, path := range paths {
		if !hidden(path) || files.WithinAny(writable, path) || files.WithinAny(o.Shown, path) {
			o.Hidden = append(o.Hidden, path)
		}
	}
}

// isNamed reports whether a person allowed a secret by name. This includes a path inside a secret
// folder below an opened path, because no part of such a folder can be shown alone.
func isNamed(secret string, seen, open []string) bool {
	inOpen := files.WithinAny(open, secret)
	return files.HoldsAny(secret, open) || slices.ContainsFunc(seen, func(path string) bool {
		return path == secret || inOpen && files.Within(secret, path)
	})
}

// programFolders returns the folders in PATH.
func programFolders(env []string) []string {
	for _, pair := range env {
		if list, found := strings.CutPrefix(pair, "PATH="); found {
			return filepath.SplitList(list)
		}
	}
	return nil
}

// setEnv returns env with the variable set.
func setEnv(env []string, name, value string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
	return append(env, name+"="+value)
}
