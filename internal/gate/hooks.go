package gate

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/userhook"
	"github.com/umpirehq/umpire/policy"
)

// Hooks run outside of transactions, since the store's writer waits for no program. What
// one says before a call becomes a rule for this call alone, which denies or asks: so a
// hook has no way to loosen anything, and the decision stays the policy's. They run
// before a person is asked, and not for what is denied already.

// hooksOf returns the project's hooks of an event that are about a tool.
func (p *Project) hooksOf(event rulefile.HookEvent, tool string) []*rulefile.Hook {
	var about []*rulefile.Hook
	set := p.Rules()
	for _, list := range [][]rulefile.Hook{set.Hooks, p.settings.Hooks} {
		for i := range list {
			h := &list[i]
			named := func(pattern string) bool { return policy.ToolNamed(pattern, tool) }
			if h.Event == event && slices.ContainsFunc(h.Tools(), named) {
				about = append(about, h)
			}
		}
	}
	return about
}

// before runs the hooks that are about a call until one stands against it.
func (p *Project) before(ctx context.Context, call umpire.Call) []userhook.Ran {
	var all []userhook.Ran
	for _, h := range p.hooksOf(rulefile.PreToolUse, call.Tool) {
		ran := userhook.Run(ctx, h, &userhook.Occasion{Call: call, Root: p.Root, Confine: p.confine(h)})
		all = append(all, ran)
		if ran.Verdict() == umpire.Deny {
			break
		}
	}
	return all
}

// after runs the hooks that are about a call that has run.
func (p *Project) after(ctx context.Context, call umpire.Call, output string) []userhook.Ran {
	var all []userhook.Ran
	for _, h := range p.hooksOf(rulefile.PostToolUse, call.Tool) {
		all = append(all, userhook.Run(ctx, h, &userhook.Occasion{Call: call, Root: p.Root, Output: output, Confine: p.confine(h)}))
	}
	return all
}

// hookFiles are the files that commands of hooks name. Whoever can change one of them
// decides what hooks say, and runs as the person: they are control files.
func (p *Project) hookFiles(set *rulefile.Set) []string {
	var files []string
	for _, h := range append(slices.Clip(set.Hooks), p.settings.Hooks...) {
		for _, word := range strings.FieldsFunc(h.Command, endsWord) {
			path := word
			if !filepath.IsAbs(path) {
				path = filepath.Join(p.Root, path)
			}
			if !isProgramFile(path, word) {
				continue
			}
			files = append(files, filepath.ToSlash(path))
			if target, err := filepath.EvalSymlinks(path); err == nil && target != path {
				files = append(files, filepath.ToSlash(target))
			}
		}
	}
	return files
}

func endsWord(r rune) bool { return strings.ContainsRune(" \t\n;|&<>()\"'`$=", r) }

// isProgramFile: a file that is not there yet counts when it is named by its path.
func isProgramFile(path, word string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return strings.Contains(word, "/") && !strings.HasPrefix(word, "-")
	}
	return info.Mode().IsRegular()
}

// objections are what hooks said, as rules.
func objections(all []userhook.Ran) []umpire.Rule {
	var rules []umpire.Rule
	for i := range all {
		ran := &all[i]
		if v := ran.Verdict(); v != umpire.Allow {
			rules = append(rules, umpire.Rule{
				ID: umpire.RuleID(ran.Hook.ID), Action: v, Tool: "*", Description: ran.Reason,
				Source: ran.Hook.Source, File: ran.Hook.File, Line: ran.Hook.Line,
			})
		}
	}
	return rules
}

// Judge decides one call as Decide does, and hears the PreToolUse hooks that are about
// it unless it is denied without them.
func (g *Gate) Judge(ctx context.Context, r Request) umpire.Decision {
	d := g.Decide(r)
	if d.Verdict == umpire.Deny {
		return d
	}
	p, err := g.projectOf(cmp.Or(r.Project, r.Call.Dir), r.AddDirs)
	if err != nil {
		return d // nothing was decided without the project, so this denies
	}
	said := objections(p.before(ctx, r.Call))
	if len(said) == 0 {
		return d
	}
	r.Tighten = append(slices.Clip(r.Tighten), said...)
	return g.Decide(r)
}

// Ended runs the PostToolUse hooks that are about a call of a folder's project that has
// run, for an agent whose results are not stored here.
func (g *Gate) Ended(ctx context.Context, dir string, call umpire.Call, output string) error {
	p, err := g.Project(dir)
	if err != nil {
		return err
	}
	p.after(ctx, call, output)
	return nil
}

// consult lets the hooks speak about a call of a submission.
func (g *Gate) consult(ctx context.Context, sc *scene, j *judged) error {
	if j.decision.Verdict == umpire.Deny {
		return nil
	}
	p, err := g.projectOf(sc.session.Root, sc.session.AddDirs)
	if err != nil {
		return err
	}
	j.hooks = p.before(ctx, j.call)
	if err := ctx.Err(); err != nil {
		return err // the hooks were ended, which says nothing about the call
	}
	said := objections(j.hooks)
	if len(said) == 0 {
		return nil
	}
	tighter := *sc
	tighter.tighten = append(slices.Clip(sc.tighten), said...)
	g.weigh(&tighter, j)
	return nil
}

// heard puts on the timeline what the hooks said about a call.
func (t *step) heard(b umpire.BatchID, call *umpire.Call, all []userhook.Ran) error {
	for i := range all {
		e, detail := hookEvent(b, call, &all[i])
		if err := t.append(e, detail); err != nil {
			return err
		}
	}
	return nil
}

// A hookRun is the data of HookRan.
type hookRun struct {
	Hook      string             `json:"hook_id"`
	Event     rulefile.HookEvent `json:"event"`
	Outcome   userhook.Outcome   `json:"outcome"`
	OnFailure string             `json:"on_failure,omitempty"` // of a hook that failed
	Exit      int                `json:"exit"`
	Took      int64              `json:"ms"`
	File      string             `json:"file,omitempty"`
	Line      int                `json:"line,omitempty"`
}

func hookEvent(b umpire.BatchID, call *umpire.Call, ran *userhook.Ran) (umpire.Event, hookRun) {
	told := hookRun{
		Hook: ran.Hook.ID, Event: ran.Hook.Event, Outcome: ran.Outcome, Exit: ran.Exit, Took: ran.Took.Milliseconds(),
		File: ran.Hook.File, Line: ran.Hook.Line,
	}
	reason := ran.Reason
	if ran.Outcome == userhook.Failed {
		told.OnFailure = "block"
		if ran.Hook.Skip {
			told.OnFailure = "skip"
		}
	}
	if reason == "" {
		reason = fmt.Sprintf("Hook %q has no objection", ran.Hook.ID)
	}
	return umpire.Event{
		Kind: umpire.EventHookRan, Batch: b, Call: call.ID, Tool: call.Tool, Agent: call.Agent,
		Reason: beginning(reason, maxShown),
	}, told
}

// ended runs the hooks for a call whose result was just stored. It is on the record
// already: what a hook does now changes nothing of it, and is told beside it.
func (g *Gate) ended(ctx context.Context, s *umpire.Session, tool string, r *umpire.Result) error {
	p, err := g.projectOf(s.Root, s.AddDirs)
	if err != nil || len(p.hooksOf(rulefile.PostToolUse, tool)) == 0 {
		return err
	}
	var row store.CallRow
	err = g.view(ctx, func(tx *store.Tx) (err error) {
		row, err = tx.CallRow(r.Session, r.Call)
		return err
	})
	if err != nil {
		return err
	}
	call, err := g.exactCall(&row)
	if err != nil {
		return err
	}
	all := p.after(context.WithoutCancel(ctx), call, r.Output)
	return g.step(context.WithoutCancel(ctx), r.Session, 0, func(t *step) error {
		t.quiet = true
		return t.heard(r.Batch, &call, all)
	})
}

// A turnstile lets one at a time through for each batch, so that a submission that
// comes twice at once runs its hooks once. The zero value is ready.
type turnstile struct {
	mu    sync.Mutex
	taken map[submissionKey]chan struct{}
}

type submissionKey struct {
	session umpire.SessionID
	batch   umpire.BatchID
}

// enter waits until nobody else is through with the key. The function that it returns
// lets the next one in.
func (t *turnstile) enter(ctx context.Context, key submissionKey) (leave func(), err error) {
	for {
		t.mu.Lock()
		busy, ok := t.taken[key]
		if !ok {
			break
		}
		t.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer t.mu.Unlock()
	if t.taken == nil {
		t.taken = map[submissionKey]chan struct{}{}
	}
	left := make(chan struct{})
	t.taken[key] = left
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.taken, key)
		close(left)
	}, nil
}
