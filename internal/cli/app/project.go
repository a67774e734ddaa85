package app

import (
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/internal/rulefile"
)

// A OpenedProject is the project of a command, with its current configuration and
// rules.
type OpenedProject struct {
	*gate.Project
	Config *config.Config
}

// OpenProject opens the project of the working directory. It reads the rules once, so
// there is nothing to close.
func (a *App) OpenProject() (*OpenedProject, error) {
	conf, err := a.LoadConfig(a.Dir)
	if err != nil {
		return nil, err
	}
	a.RemarkAll(conf.Notices)
	g := gate.New(a.GateConfig(conf))
	p, err := g.Projects().Project(a.Dir)
	if err != nil {
		return nil, Failed(umpire.Errorf("open the project of %s: %w", a.Dir, err))
	}
	return &OpenedProject{p, conf}, nil
}

// Scopes are the words of --scope with the source whose file they mean.
var Scopes = [...]struct {
	Word   string
	source umpire.Source
}{{"project", umpire.SourceProject}, {"global", umpire.SourceUser}}

// ScopeOf is the scope whose file a layer is.
func ScopeOf(l rulefile.Layer) umpire.Scope {
	if l.Source == umpire.SourceUser {
		return umpire.ScopeGlobal
	}
	return umpire.ScopeProject
}

// Layer returns umpire's own rule file of a scope.
func (p *OpenedProject) Layer(scope string) (rulefile.Layer, error) {
	for _, s := range Scopes {
		if s.Word == scope {
			return p.ownFile(s.source)
		}
	}
	return rulefile.Layer{}, Usage("", "--scope %q: want project or global", scope)
}

func (p *OpenedProject) ownFile(source umpire.Source) (rulefile.Layer, error) {
	for _, l := range p.Layers() {
		if l.Source == source && l.Format == rulefile.FormatUmpire {
			return l, nil
		}
	}
	// Only the user's file can be missing from the layers, and only without a home.
	return rulefile.Layer{},
		Usage("export HOME=... or UMPIRE_HOME=...", "there is no home folder for rules of scope %s", source)
}

// Writer writes rule files of the place.
func (p *OpenedProject) Writer() rulefile.Writer {
	return rulefile.Writer{Check: p.Options().Check, Trust: p.Options().Trust}
}

// RulesOf reads another tool's file. One in the project is read the way it is
// meant there: paths in it may start at the project's root.
func (p *OpenedProject) RulesOf(file string, format rulefile.Format) ([]umpire.Rule, []rulefile.Problem, error) {
	layer := rulefile.Layer{Source: umpire.SourceFlag, Path: file, Format: format}
	if p.Contains(file) {
		layer.Source, layer.Root = umpire.SourceProject, p.Root
	}
	set := rulefile.Load([]rulefile.Layer{layer}, nil, p.Options())
	found := set.Files[0]
	switch {
	case found.Health == rulefile.HealthMissing:
		return nil, nil, Usage("umpire rules import --help", "%s: no such file", file)
	case set.Degraded != "" && len(set.Rules) == 0:
		return nil, nil, &CommandError{Code: ExitUsage, Err: found.Problems[0]}
	}
	return append(set.Rules, found.Asleep()...), found.Problems, nil
}

// TrialPlace returns the place for trials of a project's commands. Of the home, they see only the listed files.
func TrialPlace(a *App, p *project.Project, listed []string) *sandbox.Place {
	home := a.UserHome()
	if plain, err := filepath.EvalSymlinks(home); err == nil {
		home = plain
	}
	place := &sandbox.Place{
		Workspace: []string{p.Root}, Home: home, State: a.Home(), Cache: sandbox.Caches(home, a.Getenv), Show: listed,
	}
	if p.GitDir != "" {
		place.Workspace = append(place.Workspace, p.GitDir) // a linked worktree's is elsewhere
	}
	return place
}
