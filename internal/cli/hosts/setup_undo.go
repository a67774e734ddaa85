package hosts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/view"
)

// A setupMemory records the changes of `umpire setup`, in the order in which they are undone.
type setupMemory struct {
	Hosts   []string        `json:"hosts"`
	RuleIDs []umpire.RuleID `json:"rule_ids,omitempty"`
	Rules   *memory         `json:"rules,omitempty"`
	Config  *memory         `json:"config,omitempty"`
	Service bool            `json:"service,omitempty"`
}

func (m *setupMemory) addHost(name string) {
	if !slices.Contains(m.Hosts, name) {
		m.Hosts = append(m.Hosts, name)
	}
}

func (m *setupMemory) empty() bool {
	return len(m.Hosts) == 0 && m.Rules == nil && m.Config == nil && !m.Service
}

// remember stores a file as it was before the first setup that changed it. If another program
// has changed the file since, its current state is stored.
func (m *setupMemory) remember(at **memory, path string) error {
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if *at != nil && (*at).Path == path && (*at).After == digest(now) {
		return nil
	}
	*at = &memory{Path: path, Existed: err == nil, Before: now}
	return nil
}

// done records the file's state after the change.
func (m *memory) done() {
	if now, err := os.ReadFile(m.Path); err == nil {
		m.After = digest(now)
	}
}

// restore restores a file. It returns false if the file has been changed since.
func (m *memory) restore() (bool, error) {
	now, err := os.ReadFile(m.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case digest(now) != m.After:
		return false, nil
	}
	if !m.Existed {
		return true, os.Remove(m.Path)
	}
	info, err := os.Stat(m.Path)
	if err != nil {
		return false, err
	}
	return true, files.Replace(m.Path, m.Before, info.Mode().Perm())
}

func (s *setupJob) memoryPath() string { return filepath.Join(s.StateDir(), "setup.json") }

func (s *setupJob) readMemory() (*setupMemory, error) {
	m := &setupMemory{}
	text, err := os.ReadFile(s.memoryPath())
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(text, m)
	}
	if err != nil {
		return nil, app.Failed(umpire.Errorf("%s: %w", s.memoryPath(), err))
	}
	return m, nil
}

func (s *setupJob) writeMemory(m *setupMemory) error {
	text, err := json.Marshal(m)
	if err == nil {
		err = os.MkdirAll(s.StateDir(), 0o700)
	}
	if err == nil {
		err = files.Replace(s.memoryPath(), text, 0o600)
	}
	return app.Failed(err)
}

// takeBack undoes setup, or shows what that would do.
func (s *setupJob) takeBack(ctx context.Context) error {
	m, err := s.readMemory()
	if err != nil {
		return err
	}
	if m.empty() {
		s.Remark(s.Text.Of("nothing to undo: setup has changed nothing here"))
		return nil
	}
	var problems []error
	left := m.Hosts[:0:0]
	for _, name := range m.Hosts {
		if len(s.only) > 0 && !slices.Contains(s.only, name) {
			left = append(left, name)
			continue
		}
		if err := s.undoHost(ctx, name); err != nil {
			problems = append(problems, err)
			left = append(left, name)
		}
	}
	if s.dryRun {
		return errors.Join(problems...)
	}
	if m.Hosts = left; len(left) > 0 {
		return errors.Join(append(problems, s.writeMemory(m))...)
	}
	problems = append(problems, s.undoRules(ctx, m), s.undoConfig(m), s.undoService(ctx, m))
	if err := errors.Join(problems...); err != nil {
		return errors.Join(err, s.writeMemory(m))
	}
	if err := os.Remove(s.memoryPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return app.Failed(err)
	}
	return nil
}

// undoHost removes the hook of one agent.
func (s *setupJob) undoHost(ctx context.Context, name string) error {
	file, ok := setup.Find(name)
	h := host.Find(name)
	if !ok || h == nil {
		return nil
	}
	j := &initJob{App: s.App, host: h, file: file, quiet: true,
		initFlags: initFlags{scope: "user", undo: true, diff: s.diff, dryRun: s.dryRun}}
	if err := j.leadSandbox(); err != nil {
		return err
	}
	return j.changeFile(ctx)
}

// undoRules takes the imported rules back.
func (s *setupJob) undoRules(ctx context.Context, m *setupMemory) error {
	if m.Rules == nil {
		return nil
	}
	restored, err := m.Rules.restore()
	if err != nil {
		return app.Failed(err)
	}
	if !restored {
		err = s.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
			for _, id := range m.RuleIDs {
				err := gate.Rules().Remove(ctx, s.Dir, umpire.ScopeGlobal, id, umpire.Actor{})
				if err != nil && !errors.Is(err, umpire.ErrNotFound) {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(s.Stderr, "umpire: "+s.Text.Of("%s removed from %s")+"\n",
		s.Text.Count(len(m.RuleIDs), "%d rule", "%d rules"), view.Visible(m.Rules.Path))
	m.Rules, m.RuleIDs = nil, nil
	return nil
}

// undoConfig takes the autonomy level back.
func (s *setupJob) undoConfig(m *setupMemory) error {
	if m.Config == nil {
		return nil
	}
	restored, err := m.Config.restore()
	if err != nil {
		return app.Failed(err)
	}
	if !restored {
		s.Remark(fmt.Sprintf(s.Text.Of("the autonomy level stays, because %s has changed since: umpire autonomy"),
			m.Config.Path))
	}
	m.Config = nil
	return nil
}

// undoService stops the gate.
func (s *setupJob) undoService(ctx context.Context, m *setupMemory) error {
	if !m.Service {
		return nil
	}
	unit := s.service(ctx)
	if unit == nil {
		return app.Refused("", "systemd or launchd cannot be reached, so the service stays")
	}
	if err := unit.remove(ctx, s.App); err != nil {
		return app.Failed(err)
	}
	m.Service = false
	fmt.Fprintln(s.Stderr, "umpire: "+s.Text.Of("the gate no longer starts at login"))
	return nil
}
