package host

import (
	"context"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// muse answers one request of the marker protocol. The request names no folder: it is about the
// hook's working directory.
func (p *Responder) muse(ctx context.Context, r *run, q *Question) Output {
	query, err := ReadMuse(q.Payload)
	if err != nil {
		return failMuse(query.Call.Tool, err)
	}
	c, err := p.config(r, q, q.Dir)
	if err != nil {
		return failMuse(query.Call.Tool, err)
	}
	query.Call.Dir, query.Mode, query.Headless = q.Dir, c.Mode, q.Headless || c.Mode == umpire.ModeReject
	decision := c.Decide(ctx, "", query)
	if c.Observes() {
		if p.Observed != nil {
			p.Observed(&query.Call, &decision)
		}
		in := view.Folders{Root: c.Root, Home: p.Home}
		return Output{Stdout: []byte(museSilence), Stderr: unenforced(decision, in)}
	}
	return AnswerMuse(query.Call, decision)
}

func aboutMuse(payload []byte) string {
	query, _ := ReadMuse(payload) // its tool is set as far as it could be read
	return query.Call.Tool
}
