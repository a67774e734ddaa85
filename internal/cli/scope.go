package cli

import (
	"fmt"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/rulefile"
)

// A openedProject is the project that a command is about, with its configuration and
// rules as they stand.
type openedProject struct {
	*gate.Project
	config *config.Config
}

// openProject opens the project of the working directory. Its rules are read once, so
// there is nothing to close.
func (a *App) openProject() (*openedProject, error) {
	conf, err := a.loadConfig(a.dir)
	if err != nil {
		return nil, err
	}
	a.remarkAll(conf.Notices)
	g := gate.New(a.gateConfig(conf))
	p, err := g.Project(a.dir)
	if err != nil {
		return nil, failed(fmt.Errorf("open the project of %s: %w", a.dir, err))
	}
	return &openedProject{p, conf}, nil
}

// scopes are the words of --scope with the source whose file they mean.
var scopes = [...]struct {
	word   string
	source umpire.Source
}{{"project", umpire.SourceProject}, {"global", umpire.SourceUser}}

// scopeOf is the scope whose file a layer is.
func scopeOf(l rulefile.Layer) umpire.Scope {
	if l.Source == umpire.SourceUser {
		return umpire.ScopeGlobal
	}
	return umpire.ScopeProject
}

// layer returns umpire's own rule file of a scope.
func (p *openedProject) layer(scope string) (rulefile.Layer, error) {
	for _, s := range scopes {
		if s.word == scope {
			return p.ownFile(s.source)
		}
	}
	return rulefile.Layer{}, usage("", "--scope %q: want project or global", scope)
}

func (p *openedProject) ownFile(source umpire.Source) (rulefile.Layer, error) {
	for _, l := range p.Layers() {
		if l.Source == source && l.Format == rulefile.FormatUmpire {
			return l, nil
		}
	}
	// Only the user's file can be missing from the layers, and only without a home.
	return rulefile.Layer{}, usage("export HOME=... or UMPIRE_HOME=...", "there is no home folder for rules of scope %s", source)
}

// writer writes rule files of the place.
func (p *openedProject) writer() rulefile.Writer {
	return rulefile.Writer{Check: p.Options().Check, Trust: p.Options().Trust}
}

// rulesOf reads another tool's file. One in the project is read the way it is
// meant there: paths in it may start at the project's root.
func (p *openedProject) rulesOf(file string, format rulefile.Format) ([]umpire.Rule, []rulefile.Problem, error) {
	layer := rulefile.Layer{Source: umpire.SourceFlag, Path: file, Format: format}
	if p.Contains(file) {
		layer.Source, layer.Root = umpire.SourceProject, p.Root
	}
	set := rulefile.Load([]rulefile.Layer{layer}, nil, p.Options())
	found := set.Files[0]
	switch {
	case found.Health == rulefile.HealthMissing:
		return nil, nil, usage("", "%s: no such file", file)
	case set.Degraded != "" && len(set.Rules) == 0:
		return nil, nil, &exit{code: exitUsage, err: found.Problems[0]}
	}
	return append(set.Rules, found.Asleep()...), found.Problems, nil
}
