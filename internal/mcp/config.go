package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A Server is how one server is reached: by the command that starts it, which then
// speaks over its standard streams, or by the URL at which it answers. One of both is
// required.
type Server struct {
	Command string   `yaml:"command" json:"command,omitempty"`
	Args    []string `yaml:"args" json:"args,omitempty"`
	// Env are variables beside the few that every server gets; ${NAME} in a value stands
	// for a variable of umpire's own environment.
	Env map[string]string `yaml:"env" json:"env,omitempty"`
	// Dir is where the program runs: "" is the person's home, a relative path starts
	// from the project's root.
	Dir string `yaml:"cwd" json:"cwd,omitempty"`

	URL string `yaml:"url" json:"url,omitempty"`
	// Headers go with every request; ${NAME} is as in Env.
	Headers map[string]string `yaml:"headers" json:"headers,omitempty"`

	// Timeout is how long a call may take, 0 for five minutes.
	Timeout time.Duration `yaml:"timeout" json:"-"`
}

// Keys are the names of a server's fields in a configuration file.
var Keys = []string{"command", "args", "env", "cwd", "url", "headers", "timeout"}

// serverName is a name that can stand between the double underscores of a tool's.
var serverName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]|_[A-Za-z0-9-])*$`)

// maxServerName leaves room for the tool in a name of [maxName].
const maxServerName = 24

// Check refuses what could not be a server. The error names the field.
func (c *Server) Check(name string) error {
	switch {
	case len(name) > maxServerName || !serverName.MatchString(name):
		return fmt.Errorf("name: want at most %d letters, digits, hyphens and single underscores", maxServerName)
	case c.Command == "" && c.URL == "":
		return errors.New("want a command or a url")
	case c.Command != "" && c.URL != "":
		return errors.New("want a command or a url, not both")
	case c.URL == "" && len(c.Headers) > 0:
		return errors.New("headers: are for a url")
	case c.Timeout < 0:
		return errors.New("timeout: want a duration such as 90s or 10m")
	case c.URL != "":
		return c.checkURL()
	}
	return c.checkCommand()
}

func (c *Server) checkURL() error {
	if c.Args != nil || c.Env != nil || c.Dir != "" {
		return errors.New("args, env and cwd: are for a command")
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return errors.New("url: want https://HOST/… or http://HOST/…")
	}
	return nil
}

// checkCommand refuses a program by a relative path: it would be another one in every
// project, and a project's own choice.
func (c *Server) checkCommand() error {
	if strings.ContainsAny(c.Command, `/\`) && !filepath.IsAbs(c.Command) && !strings.HasPrefix(c.Command, "~/") {
		return fmt.Errorf(
			"command: %q is relative to who knows where; want an absolute path, ~/… or a name in PATH", c.Command,
		)
	}
	return nil
}

// Masked is the configuration as it may be shown: values that tend to be secrets are
// not.
func (c *Server) Masked() Server {
	shown := *c
	shown.Env, shown.Headers = maskValues(c.Env), maskValues(c.Headers)
	if u, err := url.Parse(c.URL); err == nil && (u.User != nil || u.RawQuery != "") {
		if u.User != nil {
			u.User = url.User(mask)
		}
		if u.RawQuery != "" {
			u.RawQuery = mask
		}
		shown.URL = u.String()
	}
	return shown
}

// mask stands for a value that is not shown.
const mask = "***"

func maskValues(values map[string]string) map[string]string {
	if values == nil {
		return nil
	}
	shown := map[string]string{}
	for name := range values {
		shown[name] = mask
	}
	return shown
}

// variable is a reference to umpire's own environment.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// filledIn puts values of the environment in. One that is not there is an error: an
// empty key would be refused far away, for no reason that could be seen.
func filledIn(values map[string]string, lookup func(string) (string, bool)) (map[string]string, error) {
	filled := map[string]string{}
	for name, value := range values {
		var missing string
		filled[name] = variable.ReplaceAllStringFunc(value, func(ref string) string {
			v, ok := lookup(variable.FindStringSubmatch(ref)[1])
			if !ok {
				missing = ref
			}
			return v
		})
		if missing != "" {
			return nil, fmt.Errorf("%s: the environment has no %s", name, missing)
		}
	}
	return filled, nil
}
