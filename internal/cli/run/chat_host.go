package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/agent/tui"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/policy"
)

// A chatHost runs the turns of a chat. Its tools live as long as the chat, so
// background commands survive from turn to turn.
type chatHost struct {
	*agentRun

	model   llm.Model
	session umpire.Session
	worker  *agent.Agent
	set     *tool.Set
	cleanUp func()
}

// prepareTurns prepares turns in a session that this process runs.
func (h *chatHost) prepareTurns(ctx context.Context, session umpire.Session) error {
	from, err := h.lastSeqBefore(ctx, session.ID)
	if err != nil {
		return app.GateError(err)
	}
	worker := &agent.Agent{Gate: h.gate, Model: h.model, System: agent.Prompt(&session), Runner: session.Runner,
		From: from, Sandbox: h.confinement()}
	box, set, cleanUp, err := h.toolbox(ctx, &session, worker.Output)
	if err != nil {
		return err
	}
	h.leave()
	worker.Tools, worker.Sub = box, h.subAgents(h.model, &session)
	h.session, h.worker, h.set, h.cleanUp = session, worker, set, cleanUp
	return nil
}

// leave ends the background commands.
func (h *chatHost) leave() {
	if h.set == nil {
		return
	}
	h.leaveBackground(context.Background(), h.set, false)
	h.cleanUp()
	h.set = nil
}

// Turn has the agent work in the session. Questions are left to the person at the terminal,
// or to anyone who answers elsewhere.
func (h *chatHost) Turn(ctx context.Context, _ umpire.Session, task string, handler *tui.TurnHandler) (string, error) {
	h.worker.Handler = handler
	outcome, err := h.worker.Run(ctx, h.session, task)
	if events, problem := h.gate.Events(context.WithoutCancel(ctx),
		umpire.Filter{Session: h.session.ID, After: h.worker.From}); problem == nil && len(events) > 0 {
		h.worker.From = events[len(events)-1].Seq
	}
	if err != nil {
		return "", h.explain(err)
	}
	return h.describeEnd(outcome), nil
}

// explain adds the person's next step to the error of an interrupted turn.
func (h *chatHost) explain(err error) error {
	if errors.Is(err, umpire.ErrFenced) {
		return umpire.Errorf("%w; to resume it: /resume %s", err, h.session.ID)
	}
	return err
}

// describeEnd says how a turn ended, if it was unusual.
func (h *chatHost) describeEnd(o agent.Outcome) string {
	switch {
	case o.Cancelled:
		return h.Text.Of("the turn was cancelled")
	case o.Late > 0:
		return fmt.Sprintf(h.Text.Of("denied, because no answer came before the deadline: %d"), o.Late)
	}
	return ""
}

func (h *chatHost) resumption(id umpire.SessionID) umpire.Resumption {
	return umpire.Resumption{
		ID: id, Dir: h.Dir, AllowCrossProject: h.flags.allowCrossProject,
		Runner: process.NameOf(os.Getpid()), AllowBypass: h.flags.allowBypass,
	}
}

// Resume switches to another session of the project.
func (h *chatHost) Resume(ctx context.Context, id umpire.SessionID) (umpire.Session, error) {
	entered, err := h.gate.Sessions().Continue(ctx, h.resumption(id))
	if err != nil {
		return entered, err
	}
	return entered, h.prepareTurns(ctx, entered)
}

// Fork begins a session with the conversation of another.
func (h *chatHost) Fork(ctx context.Context, id umpire.SessionID) (umpire.Session, error) {
	r := h.resumption("")
	r.Mode = h.mode
	forked, err := h.gate.Sessions().Fork(ctx, id, r)
	if err != nil {
		return forked, err
	}
	return forked, h.prepareTurns(ctx, forked)
}

// modelName returns the name of the model at the start of the chat. A script has the name of
// its file.
func (h *chatHost) modelName() string {
	full := cmp.Or(h.flags.model, h.conf.Agents[cmp.Or(h.flags.profile, config.MainAgent)].Model)
	if file, is := strings.CutPrefix(full, "script:"); is {
		return "script:" + filepath.Base(file)
	}
	return full
}

// Profiles returns the agents of the current configuration.
func (h *chatHost) Profiles() ([]tui.Profile, error) {
	conf, err := h.ReadConfig(h.Dir)
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(conf.Agents)),
		func(name string) bool { return name == config.MainAgent })
	profiles := []tui.Profile{chatProfile(conf, config.MainAgent)}
	for _, name := range names {
		profiles = append(profiles, chatProfile(conf, name))
	}
	return profiles, nil
}

func chatProfile(c *config.Config, name string) tui.Profile {
	p := c.Agents[name]
	return tui.Profile{Name: name, Tools: p.Tools, Suffixes: policy.NormalizeSuffixes(p.EditableSuffixes)}
}

// LimitEdits writes the suffixes that an agent may edit into the person's configuration.
func (h *chatHost) LimitEdits(profile string, suffixes []string) (tui.Profile, error) {
	if h.Home() == "" {
		return tui.Profile{}, errors.New("there is no home folder for the configuration")
	}
	if err := config.Write(filepath.Join(h.Home(), "config.yaml"),
		[]string{"agents", profile, "editableFileSuffixes"}, suffixes); err != nil {
		return tui.Profile{}, err
	}
	conf, err := h.ReadConfig(h.Dir)
	if err != nil {
		return tui.Profile{}, err
	}
	return chatProfile(conf, profile), nil
}
