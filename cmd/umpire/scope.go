package main

import (
	"errors"
	"fmt"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/rulefile"
)

// A place is the project that a command is about, with its configuration and
// rules as they stand.
type place struct {
	*gate.Project
	config *config
}

// place opens the project of the working directory.
func (a *app) place() (*place, func(), error) {
	conf, err := a.config(a.dir)
	if err != nil {
		return nil, nil, err
	}
	a.remarkAll(conf.notices)
	g := gate.New(conf.gate(a))
	p, err := g.Project(a.dir)
	if err != nil {
		g.Close()
		return nil, nil, failed(fmt.Errorf("open the project of %s: %w", a.dir, err))
	}
	return &place{p, conf}, func() { g.Close() }, nil
}

// scopes are the words of --scope with the source whose file they mean.
var scopes = [...]struct {
	word   string
	source umpire.Source
}{{"project", umpire.SourceProject}, {"global", umpire.SourceUser}}

// layer returns umpire's own rule file of a scope.
func (p *place) layer(scope string) (rulefile.Layer, error) {
	for _, s := range scopes {
		if s.word == scope {
			return p.ownFile(s.source)
		}
	}
	return rulefile.Layer{}, usage("", "--scope %q: want project or global", scope)
}

func (p *place) ownFile(source umpire.Source) (rulefile.Layer, error) {
	for _, l := range p.Layers() {
		if l.Source == source && l.Format == rulefile.FormatUmpire {
			return l, nil
		}
	}
	return rulefile.Layer{}, failed(errors.New("this folder has no rule file for the scope " + source.String()))
}

// writer writes rule files of the place.
func (p *place) writer() rulefile.Writer {
	return rulefile.Writer{Check: p.Options().Check, Trust: p.Options().Trust}
}
