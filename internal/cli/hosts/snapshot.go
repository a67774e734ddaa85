package hosts

import (
	"errors"
	"path/filepath"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/rulefile"
)

// keepSnapshot saves the inputs of decisions in a project for the small hook. It
// ignores errors, because the snapshot only saves time.
func keepSnapshot(a *app.App, dir string) {
	p := judge.SnapshotKey{Dir: dir, Home: a.Home(), UserHome: a.UserHome()}
	if p.Home == "" || !filepath.IsAbs(dir) || app.SmallHook(a.Executable) == "" {
		return
	}
	_ = judge.SaveSnapshot(p, func() (*judge.Snapshot, error) { return takeSnapshot(a, p) })
}

var errNotSimple = errors.New("its decision depends on more than a snapshot contains")

// takeSnapshot reads the inputs of decisions in a project. It fails if there are hooks or
// known programs, which a snapshot cannot hold.
func takeSnapshot(a *app.App, p judge.SnapshotKey) (*judge.Snapshot, error) {
	c, err := a.ReadConfig(p.Dir)
	if err == nil && c.Observes() {
		err = errNotSimple // its decisions are recorded
	}
	if err != nil {
		return nil, err
	}
	g := gate.New(a.GateConfig(c))
	defer g.Close()
	at, err := g.Projects().Project(p.Dir)
	if err != nil {
		return nil, err
	}
	j, err := g.Projects().JudgeOf(p.Dir)
	if err != nil {
		return nil, err
	}
	if len(at.Rules().Hooks)+len(c.Hooks) > 0 || j.Programs != nil {
		return nil, errNotSimple
	}
	s := &judge.Snapshot{
		SnapshotKey: p, Settings: c.Settings.Settings, Root: at.Root, Degraded: j.Degraded,
	}
	for _, r := range at.Holding(at.Rules()) {
		s.Rules = append(s.Rules, judge.NewSnapshotRule(r))
	}
	files := append(config.Files(p.Home, at.Root), a.Executable, filepath.Join(p.Home, rulefile.ProgramsFolder),
		at.Options().Trust.Path)
	for _, l := range at.Layers() {
		files = append(files, l.Path)
	}
	for _, file := range files {
		s.Files = append(s.Files, judge.SnapshotFile{Path: file})
	}
	return s, nil
}
