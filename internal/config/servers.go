package config

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/files/lazyregexp"
)

// A Server is how one server is reached: by the command that starts it, which then
// speaks over its standard streams, or by the URL at which it answers. One of both is
// required.
type Server struct {
	Command string   `key:"command" json:"command,omitempty"`
	Args    []string `key:"args" json:"args,omitempty"`
	// Env are additional variables besides the few that every server gets. ${NAME} in a
	// value refers to a variable of umpire's own environment.
	Env map[string]string `key:"env" json:"env,omitempty"`
	// Dir is the program's working directory. "" is the person's home; a relative path
	// starts from the project's root.
	Dir string `key:"cwd" json:"cwd,omitempty"`

	URL string `key:"url" json:"url,omitempty"`
	// Headers go with every request; ${NAME} is as in Env.
	Headers map[string]string `key:"headers" json:"headers,omitempty"`

	// Timeout is how long a call may take, 0 for five minutes.
	Timeout time.Duration `key:"timeout" json:"-"`
}

// serverName matches a name that can be used between the double underscores of a tool's name.
var serverName = lazyregexp.Regexp{Text: `^[A-Za-z0-9](?:[A-Za-z0-9-]|_[A-Za-z0-9-])*$`}

// maxServerName leaves room for the tool in the name that a model uses.
const maxServerName = 24

// Check rejects an invalid server. The error names the field.
func (s *Server) Check(name string) error {
	switch {
	case len(name) > maxServerName || !serverName.Get().MatchString(name):
		return umpire.Errorf("name: want at most %d letters, digits, hyphens and single underscores", maxServerName)
	case s.Command == "" && s.URL == "":
		return errors.New("want a command or a url")
	case s.Command != "" && s.URL != "":
		return errors.New("want a command or a url, not both")
	case s.URL == "" && len(s.Headers) > 0:
		return errors.New("headers: are for a url")
	case s.Timeout < 0:
		return errors.New("timeout: want a duration such as 90s or 10m")
	case s.URL != "":
		return s.checkURL()
	}
	return s.checkCommand()
}

func (s *Server) checkURL() error {
	if s.Args != nil || s.Env != nil || s.Dir != "" {
		return errors.New("args, env and cwd: are for a command")
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return errors.New("url: want https://HOST/… or http://HOST/…")
	}
	return nil
}

// checkCommand refuses a program by a relative path: it would be another one in every
// project, and a project's own choice.
func (s *Server) checkCommand() error {
	if strings.ContainsAny(s.Command, `/\`) && !filepath.IsAbs(s.Command) && !strings.HasPrefix(s.Command, "~/") {
		return umpire.Errorf(
			"command: %q is relative to an unknown folder; want an absolute path, ~/… or a name in PATH", s.Command,
		)
	}
	return nil
}

// Masked is the configuration as it may be shown: values that tend to be secrets are
// not.
func (s *Server) Masked() Server {
	shown := *s
	shown.Env, shown.Headers = maskValues(s.Env), maskValues(s.Headers)
	if u, err := url.Parse(s.URL); err == nil && (u.User != nil || u.RawQuery != "") {
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

// mask replaces a hidden value.
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

// decodeServers reads mcp_servers, and rejects invalid servers.
func decodeServers(c *Config, v *docedit.Value) error {
	if err := v.Decode(&c.Servers); err != nil {
		return err
	}
	for _, m := range v.Items {
		server := c.Servers[m.Key]
		if err := server.Check(m.Key); err != nil {
			return m.KeyPos.Fault(umpire.Errorf("%q: %w", m.Key, err))
		}
	}
	return nil
}

// shownServers returns the servers with likely secrets masked.
func shownServers(servers map[string]Server) map[string]Server {
	shown := map[string]Server{}
	for name, server := range servers {
		shown[name] = server.Masked()
	}
	return shown
}
