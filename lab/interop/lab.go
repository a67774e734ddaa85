package interop

import (
	"context"
	"fmt"
	"os"

	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/drive"
)

// A subject is an agent to examine, with the umpire in front of it.
type subject struct {
	drive.Subject
	Driver *driver
	// Log receives the results that the agent reports to the model; it may be nil.
	Log func(call string, r drive.Result)
}

// A Lab is a user with a home, a project and a copy of umpire, for whom an agent plays the script
// of a model in any of its modes.
type Lab struct {
	*drive.Lab
	Driver *driver
	Model  *modelServer

	proxied bool // umpire is between the agent and its editor
}

// NewLab makes a lab in an existing folder, as [drive.Subject.NewLab].
func (s *subject) NewLab(dir string, m *modelServer) (*Lab, error) {
	agent := s.Subject
	if agent.Agent == nil {
		agent.Agent = s.Driver.Agent
	}
	l, err := agent.NewLab(dir, m.Model)
	if err != nil {
		return nil, err
	}
	return &Lab{Lab: l, Driver: s.Driver, Model: m}, nil
}

// WriteProgram puts a script next to umpire, on the search path.
func (l *Lab) WriteProgram(name, script string) error {
	if err := l.Write("bin/"+name, script); err != nil {
		return err
	}
	return os.Chmod(l.Path("bin/"+name), 0o755)
}

// ReplaceUmpire replaces umpire by a script, or removes it.
func (l *Lab) ReplaceUmpire(script string) error {
	if err := os.Remove(l.Umpire); err != nil || script == "" {
		return err
	}
	return l.WriteProgram("umpire", script)
}

// Register puts umpire in front of the agent, the same way a user does.
func (l *Lab) Register(ctx context.Context) error {
	if l.Driver.Proxy != "" {
		l.proxied = true
		return nil
	}
	if h := host.Find(l.Driver.Name); h != nil && h.Evidence == host.Documented {
		return l.Lab.Register(ctx, "--unproven")
	}
	return l.Lab.Register(ctx)
}

// Play starts the agent in one of its modes, lets it play the script, and returns its output. All
// its processes have ended then.
func (l *Lab) Play(ctx context.Context, mode agentMode) (string, error) {
	switch {
	case l.Driver.Editor != nil && l.proxied:
		return l.Driver.Editor(ctx, l, []string{l.Umpire, l.Driver.Proxy, "--", l.Program}, mode)
	case l.Driver.Editor != nil:
		return l.Driver.Editor(ctx, l, []string{l.Program}, mode)
	case mode == freeMode:
		return l.Lab.Play(ctx, l.Agent.Free)
	}
	return l.Lab.Play(ctx, l.Driver.Options[mode])
}

// playTurns plays turns in a mode. It fails if the host does not report one of the calls to the model. Some
// agents exit if their question is not answered.
func (l *Lab) playTurns(ctx context.Context, mode agentMode, turns ...drive.Turn) error {
	play := func(ctx context.Context) (string, error) { return l.Play(ctx, mode) }
	out, missing, err := l.PlayTurns(ctx, play, turns...)
	if err != nil || missing == nil || mode == askingMode && l.Model.Made(missing.ID) {
		return err
	}
	return fmt.Errorf("%s has not made the call %v: %s", l.Driver.Name, missing.Input, out)
}
