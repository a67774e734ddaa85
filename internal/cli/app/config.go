package app

import (
	"errors"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/internal/view/languages"
	"github.com/umpirehq/umpire/policy"
)

// LoadConfig reads the configuration that holds in the project of a folder. An error names
// the file and the line.
func (a *App) LoadConfig(dir string) (*config.Config, error) {
	c, err := a.ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	if c.Lang != "" && a.Getenv("UMPIRE_LANG") == "" {
		a.Text = languages.Find(c.Lang)
	}
	return c, nil
}

// ReadUserConfig reads the person's own configuration. It does not need a project.
func (a *App) ReadUserConfig() (*config.Config, error) {
	c, err := config.User(a.Home())
	if err != nil {
		return nil, Usage("umpire config --help", "%w", err)
	}
	return c, nil
}

// ReadConfig reads the files and changes nothing else, so a gate can call it while it
// serves.
func (a *App) ReadConfig(dir string) (*config.Config, error) {
	p, err := a.FindProject(dir)
	if err != nil {
		return nil, err
	}
	c, err := config.Read(a.Home(), p.Root)
	if err != nil {
		return nil, Usage("umpire config --help", "%w", err)
	}
	return c, nil
}

// FindProject finds the project of a folder.
func (a *App) FindProject(dir string) (*project.Project, error) {
	if dir == "" {
		return nil, &CommandError{Code: ExitError, Err: errors.New("this folder no longer exists"), Hint: "cd $HOME"}
	}
	if home := a.UserHome(); home != "" && !filepath.IsAbs(home) {
		return nil, Usage("export HOME=$(cd ~ && pwd)", "HOME is %q: want an absolute path", home)
	}
	cache := ""
	if a.Home() != "" {
		cache = filepath.Join(a.Home(), "state", "projects")
	}
	p, err := project.Open(dir, project.Options{Home: a.UserHome(), Cache: cache})
	if err != nil {
		return nil, Failed(err)
	}
	return p, nil
}

// ChooseProject is the project of the working directory, or "" for all of them.
func (a *App) ChooseProject(all bool) (umpire.ProjectID, error) {
	if all {
		return "", nil
	}
	p, err := a.FindProject(a.Dir)
	if err != nil {
		return "", err
	}
	return p.ID, nil
}

// GateConfig is the configuration as the gate understands it.
func (a *App) GateConfig(c *config.Config) gate.Config {
	return gate.Config{UserHome: a.UserHome(), Home: a.Home(), Now: a.Now, Settings: c.Settings, UndoAge: c.UndoAge}
}

// CodeLedger keeps which clones the person trusts to run code.
func CodeLedger(a *App) judge.CodeLedger {
	c := gate.Config{Home: a.Home(), Now: a.Now}
	return c.Code()
}

// ProfileOf is the profile that a flag names.
func ProfileOf(c *config.Config, name string) (*policy.Profile, error) {
	profile, err := c.Profile(name)
	if err != nil {
		return nil, Usage("umpire config", "--agent %w", err)
	}
	return profile, nil
}

// PickMode returns the mode: the flag of that name, or else the configured one. Bypass also needs its own
// flag, wherever the mode comes from.
func PickMode(name, flag string, allowBypass bool, conf *config.Config) (umpire.Mode, error) {
	mode := conf.Mode
	if flag != "" {
		if err := mode.UnmarshalText([]byte(flag)); err != nil {
			return mode, Usage("umpire help modes", "%s: %w", name, err)
		}
	}
	if most := conf.Settings.Most; !most.Permits(mode) {
		return mode, Usage("umpire config", "%s %s: the administrator of this machine permits %s or a tighter mode",
			name, mode, most.Mode)
	}
	if mode == umpire.ModeBypass && !allowBypass {
		return mode, Usage("umpire help modes", "mode bypass needs the flag --allow-bypass")
	}
	return mode, nil
}
