package host

import (
	"context"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// muse answers one request of the marker protocol. The request names no folder: it
// is about the one that the hook is started in.
func (p *Responder) muse(ctx context.Context, r *run, q *Question) Output {
	request, err := ReadMuse(q.Payload)
	if err != nil {
		return FailMuse(request.Call.Tool, err)
	}
	c, err := p.config(r, q.Dir)
	if err != nil {
		return FailMuse(request.Call.Tool, err)
	}
	request.Call.Dir = q.Dir
	decision := c.Decide(ctx, "", policy.Query{
		Call: request.Call, Mode: c.Mode, Headless: q.Headless || c.Mode == umpire.ModeReject,
		Grants: request.Grants, AllowAll: request.AllowAll, Tighten: request.Rules,
	})
	if c.WarnOnly {
		out := unenforced(decision)
		out.Stdout = []byte("\n")
		return out
	}
	return AnswerMuse(request, decision)
}

func aboutMuse(payload []byte) string {
	request, _ := ReadMuse(payload) // its tool is there as far as it could be read
	return request.Call.Tool
}
