package sandbox

import (
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

// order works out what the helper has to do.
func (p *Place) order(cmd *exec.Cmd, limits Limits, which layers, b *Box) (*order, error) {
	o := &order{
		Path: cmd.Path, Args: cmd.Args, Env: cmd.Environ(), Dir: cmd.Dir,
		Layers: which, Reach: limits.reach(which),
	}
	if cmd.Err != nil {
		return nil, cmd.Err
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

// folders decides what may be written, seen and replaced.
func (p *Place) folders(o *order, limits Limits, b *Box) error {
	var err error
	if limits.Mode == umpire.SandboxWorkspaceWrite {
		for _, dir := range p.Workspace {
			if o.Open, err = withPath(o.Open, dir); err != nil {
				return err
			}
		}
	}
	var beside []string
	for _, path := range limits.Open {
		if path = holding(path); slices.Contains(privateFolders, path) {
			continue // it has one of its own
		}
		if beside, err = withPath(beside, path); err != nil {
			return err
		}
	}
	if err := p.guardAll(o, outermost(o.Open), outermost(beside), limits.Open, b); err != nil {
		return err
	}
	o.Open = outermost(append(o.Open, beside...))
	if err := p.private(o, b); err != nil {
		return err
	}
	p.hide(o, limits.Seen)
	return nil
}

// withPath adds a path as it is without links.
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

// holding is what has to be writable so that a path can be made, replaced or deleted:
// the folder that it is in, or itself if it is a folder.
func holding(path string) string {
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

// outermost leaves out what lies in another one of the paths.
func outermost(paths []string) []string {
	slices.SortFunc(paths, func(a, b string) int { return len(a) - len(b) })
	var kept []string
	for _, path := range paths {
		if !slices.ContainsFunc(kept, func(folder string) bool { return below(path, folder) }) {
			kept = append(kept, path)
		}
	}
	return kept
}

// guardAll guards the writable folders, the workspace's and those beside it, but for what
// was opened by name.
func (p *Place) guardAll(o *order, workspace, beside, open []string, b *Box) error {
	opened := func(path string) bool {
		return slices.ContainsFunc(open, func(open string) bool { return below(open, path) })
	}
	beside = slices.DeleteFunc(beside, func(path string) bool { return belowAny(path, workspace) })
	b.folders = slices.Concat(workspace, beside)
	g := guarded{beside: beside}
	for _, root := range b.folders {
		g.folder(root, p.Home)
		for _, outer := range beside {
			g.pin(outer, root) // else another one could take its place
		}
	}
	g.follow(p.Home)
	for _, path := range g.paths {
		if isPlaceholder(path) {
			g.absent = append(g.absent, path)
		} else if !opened(path) {
			o.Guarded = append(o.Guarded, path)
		}
	}
	b.known, b.indexes, b.allowed, b.since = g.gits, indexesOf(g.gits), open, p.begun()
	slices.SortFunc(g.pinned, func(a, b string) int { return len(a) - len(b) })
	o.Pinned = g.pinned
	b.watched = watch(g.pinned, g.links, slices.DeleteFunc(g.missing, opened))
	if !o.Layers.has(withNamespaces) {
		return nil
	}
	for _, path := range g.absent {
		if opened(path) {
			continue
		}
		if err := b.keepAbsent(path); err != nil {
			return fmt.Errorf("keep %s from being made: %w", path, err)
		}
		o.Absent = append(o.Absent, path)
	}
	return nil
}

// private gives the command a /tmp, and layers over caches.
func (p *Place) private(o *order, b *Box) error {
	if p.Scratch == "" {
		return nil
	}
	scratch, err := filepath.EvalSymlinks(p.Scratch)
	if err != nil {
		return err
	}
	o.Tmp = filepath.Join(scratch, "tmp")
	if err := os.MkdirAll(o.Tmp, 0o700); err != nil {
		return err
	}
	number, free := p.slots.take()
	b.slot = free
	var found []string
	for _, cache := range p.Cache {
		plain, there := cache.find()
		if there && !slices.ContainsFunc(o.Open, func(open string) bool { return below(plain, open) || below(open, plain) }) {
			found = append(found, plain) // else it is not there, or can be written anyway
		}
	}
	o.Caches, err = layersOver(p.Home, found, filepath.Join(scratch, fmt.Sprintf("caches-%d", number)))
	return err
}

// privateFolders are the ones that everybody may write to; the sandbox has its own.
var privateFolders = []string{"/tmp", "/var/tmp"}

// hide lists what is not to be seen, and what lies there and has to be.
func (p *Place) hide(o *order, seen []string) {
	o.Hidden = append(o.Hidden, "/run")
	if p.State != "" {
		o.Hidden = append(o.Hidden, filepath.Join(p.State, "state"))
	}
	covered := append(slices.Clone(privateFolders), o.Hidden...)
	hidden := func(path string) bool { return belowAny(path, covered) }
	for _, path := range slices.Concat([]string{p.Home, o.Path, o.Dir, "/etc/resolv.conf"}, p.Workspace, seen, programFolders(o.Env)) {
		plain, err := filepath.EvalSymlinks(path)
		if err == nil && path != "" && hidden(plain) && !slices.Contains(covered, plain) && !belowAny(plain, o.Open) {
			o.Shown = append(o.Shown, plain)
		}
	}
	paths, all := sockets()
	o.NoSockets = !all
	for _, path := range paths {
		if !hidden(path) || belowAny(path, o.Open) || belowAny(path, o.Shown) {
			o.Hidden = append(o.Hidden, path)
		}
	}
}

func belowAny(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return below(path, folder) })
}

// programFolders are where programs are looked for.
func programFolders(env []string) []string {
	for _, pair := range env {
		if list, found := strings.CutPrefix(pair, "PATH="); found {
			return filepath.SplitList(list)
		}
	}
	return nil
}

// setEnv sets a variable.
func setEnv(env []string, name, value string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
	return append(env, name+"="+value)
}
