package gate

import (
	"context"
	"errors"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/store"
)

// Trust grants or revokes trust in a clone's rule files or code, and returns the files concerned.
// An event records the author.
func (rs *rules) Trust(ctx context.Context, c umpire.TrustChange) ([]string, error) {
	p, err := rs.Project(c.Dir)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Code && len(c.Files) > 0:
		return nil, invalid("files", "are for rules, not for code")
	case c.Code && c.Revoke:
		return nil, rs.mistrustCode(ctx, p, c.By)
	case c.Code:
		return rs.trustCode(ctx, p, c.By)
	}
	var files []string
	err = rs.changeRules(ctx, p, c.By, func() (map[string]any, error) {
		if c.Revoke {
			files, err = p.mistrust()
			return trustDetail("mistrusted", files), err
		}
		shown := c.Files
		if len(shown) == 0 {
			shown = p.sleeping()
		}
		files, err = p.trust(shown)
		return trustDetail("trusted", shown), err
	})
	return files, err
}

// trustDetail returns the event detail for files that gained or lost trust.
func trustDetail[F any](word string, files []F) map[string]any {
	if len(files) == 0 {
		return nil
	}
	return map[string]any{word: files}
}

// sleeping returns the rule files that trust would activate, in their current state.
func (p *Project) sleeping() (files []umpire.TrustedFile) {
	for _, f := range p.Rules().Files {
		if f.Source == umpire.SourceProject && f.Untrusted() {
			files = append(files, umpire.TrustedFile{Path: f.Path, Hash: f.Hash})
		}
	}
	return files
}

// trust records trust in project files at the content that was shown, even if a file has changed
// since.
func (p *Project) trust(shown []umpire.TrustedFile) (files []string, err error) {
	for _, f := range shown {
		layer, ok := p.projectLayer(f.Path)
		if !ok {
			return nil, invalid("files", "%q is not a rule file of this project", f.Path)
		}
		if err := p.options.Trust.Grant(layer.Root, layer.Path, f.Hash); err != nil {
			return nil, err
		}
		files = append(files, layer.Path)
	}
	return files, nil
}

// mistrust revokes the trust in all rule files of the project.
func (p *Project) mistrust() (files []string, err error) {
	for _, l := range p.layers {
		if l.Source != umpire.SourceProject {
			continue
		}
		if err := p.options.Trust.Revoke(l.Root, l.Path); err != nil {
			return nil, err
		}
		files = append(files, l.Path)
	}
	return files, nil
}

func (p *Project) projectLayer(path string) (rulefile.Layer, bool) {
	for _, l := range p.layers {
		if l.Source == umpire.SourceProject && l.Path == path {
			return l, true
		}
	}
	return rulefile.Layer{}, false
}

// mistrustCode revokes the trust in the code of a clone. If this worktree has no recorded trust, it
// still ends the trust in the clone's other worktrees.
func (rs *rules) mistrustCode(ctx context.Context, p *Project, by umpire.Actor) error {
	_, err := (&grants{Projects: rs.Projects}).Revoke(ctx, umpire.Revocation{Dir: p.Root, ID: umpire.CodeID, By: by})
	if errors.Is(err, umpire.ErrNotFound) {
		ledger := rs.config.Code()
		_, forgetErr := ledger.Forget(&p.Bounds)
		err = errors.Join(err, forgetErr)
	}
	return err
}

// trustCode trusts the current code of a clone. If the trust cannot be recorded, it is revoked.
func (rs *rules) trustCode(ctx context.Context, p *Project, by umpire.Actor) ([]string, error) {
	ledger := rs.config.Code()
	var names []string
	err := rs.update(ctx, func(tx *store.Tx) (err error) {
		if names, err = ledger.Grant(&p.Bounds); err != nil {
			return err
		}
		detail := grantDetail(&umpire.GrantStatus{ID: umpire.CodeID, Kind: umpire.GrantCode, CreatedAt: rs.now()})
		detail["files"] = len(names)
		e := umpire.Event{At: rs.now(), Kind: umpire.EventGrantCreated, Project: p.ID, Actor: by.Name}
		return tx.Events.Add(rs.record(e, signed(detail, by)))
	})
	if err != nil {
		_, forgetErr := ledger.Forget(&p.Bounds)
		return nil, errors.Join(err, forgetErr)
	}
	return names, nil
}
