package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/manifest"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/policy"
)

// loadConfig reads the configuration that holds in the project of a folder. What
// is wrong with a file is an error that names the file and the line.
func (a *App) loadConfig(dir string) (*config.Config, error) {
	c, err := a.readConfig(dir)
	if err != nil {
		return nil, err
	}
	if c.Lang != "" && a.getenv("UMPIRE_LANG") == "" {
		a.text = a.language(c.Lang)
	}
	return c, nil
}

// readUserConfig is the person's own configuration, so that no project needs to be
// found.
func (a *App) readUserConfig() (*config.Config, error) {
	c, err := config.User(a.home())
	if err != nil {
		return nil, usage("umpire config --help", "%w", err)
	}
	return c, nil
}

// readConfig reads the files and changes nothing else: a gate does it while it
// serves.
func (a *App) readConfig(dir string) (*config.Config, error) {
	p, err := a.findProject(dir)
	if err != nil {
		return nil, err
	}
	c, err := config.Read(a.home(), p.Root)
	if err != nil {
		return nil, usage("umpire config --help", "%w", err)
	}
	return c, nil
}

// findProject finds the project of a folder.
func (a *App) findProject(dir string) (*project.Project, error) {
	if dir == "" {
		return nil, failed(errors.New("the working directory is not known"))
	}
	cache := ""
	if a.home() != "" {
		cache = filepath.Join(a.home(), "state", "projects")
	}
	p, err := project.Open(dir, project.Options{Home: a.userHome(), Cache: cache})
	if err != nil {
		return nil, failed(fmt.Errorf("project of %s: %w", dir, err))
	}
	return p, nil
}

// chooseProject is the project of the working directory, or "" for all of them.
func (a *App) chooseProject(all bool) (umpire.ProjectID, error) {
	if all {
		return "", nil
	}
	p, err := a.findProject(a.dir)
	if err != nil {
		return "", err
	}
	return p.ID, nil
}

// gateConfig is the configuration as the gate understands it.
func (a *App) gateConfig(c *config.Config) gate.Config {
	return gate.Config{UserHome: a.userHome(), Home: a.home(), Now: a.now, Settings: c.GateSettings()}
}

// codeLedger keeps which clones the person trusts to run code.
func codeLedger(a *App) manifest.Ledger {
	c := gate.Config{Home: a.home(), Now: a.now}
	return c.Code()
}

// profileOf is the profile that a flag names.
func profileOf(c *config.Config, name string) (*policy.Profile, error) {
	profile, err := c.Profile(name)
	if err != nil {
		return nil, usage("umpire config", "--agent %w", err)
	}
	return profile, nil
}

// pickMode: the flag of that name over the configuration. Bypass has to be permitted by a
// flag of its own, wherever it comes from.
func pickMode(name, flag string, allowBypass bool, conf *config.Config) (umpire.Mode, error) {
	mode := conf.Mode
	if flag != "" {
		if err := mode.UnmarshalText([]byte(flag)); err != nil {
			return mode, usage("umpire help modes", "%s: %w", name, err)
		}
	}
	if most := conf.GateSettings().Most; !most.Permits(mode) {
		return mode, usage("umpire config", "%s %s: the administrator of this machine permits %s or a tighter mode", name, mode, most.Mode)
	}
	if mode == umpire.ModeBypass && !allowBypass {
		return mode, usage("umpire help modes", "mode bypass needs the flag --allow-bypass")
	}
	return mode, nil
}
