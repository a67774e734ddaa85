// Package setup changes and checks the settings files of other agents: it adds the hook, removes
// it, and finds settings that would bypass it. Every function is pure: bytes in, bytes out;
// comments and layout of a file stay as they are.
package setup

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
)

// A Hook is the hook to register in the settings of a host.
type Hook struct {
	// Command is the absolute path of umpire or umpire-hook.
	Command string
	// Args follow the command; nil means "hook" and the host's name.
	Args []string
	// Timeout is how long the host waits for deciding events. After it most hosts run the call, so
	// umpire's own deadline must come first. It is written in the host's unit, rounded up, and must
	// be positive.
	Timeout time.Duration
	// OnFailureBlock makes Claude Code refuse the call if the hook cannot be started, is late or
	// crashes. Set it only if [ClaudeVersionBlocks].
	OnFailureBlock bool
	// Status is shown by Claude Code while a deciding hook runs.
	Status string
}

// check rejects a hook that could not work, or could not be found again.
func (h Hook) check(hostName string) error {
	if !host.IsAbsolute(h.Command) {
		return umpire.Errorf("command %q is not an absolute path", h.Command)
	}
	if h.Timeout <= 0 {
		return errors.New("timeout is not positive")
	}
	if !isOwnCommand(h.Command, h.Args, hostName) {
		return umpire.Errorf("command %q %q would not be recognised as umpire's hook", h.Command, h.Args)
	}
	return nil
}

// A Registration is one of umpire's hooks in a settings file.
type Registration struct {
	// Event is the event's name, Line the line of the hook.
	Event string
	Line  int
	// Command and Args are the started program. Shell is the line as written if the host hands it
	// to a shell, and "" if it starts the program itself.
	Command string
	Args    []string
	Shell   string
	// Timeout is 0 if the file does not set one.
	Timeout        time.Duration
	OnFailureBlock bool
}

// A Place is the location of a settings file: Name below the folder in the environment variable, or
// else below Folder in the user's home. Name has slashes.
type Place struct{ Variable, Folder, Name string }

// Path returns the file's path. A variable that does not hold an absolute path is an error.
func (p Place) Path(home string, getenv func(string) string) (string, error) {
	dir := filepath.Join(home, filepath.FromSlash(p.Folder))
	if p.Variable != "" && getenv(p.Variable) != "" {
		dir = getenv(p.Variable)
		if !filepath.IsAbs(dir) {
			return "", umpire.Errorf("%s: %q is not an absolute path", p.Variable, dir)
		}
	} else if home == "" {
		return "", errors.New("the home directory is unknown: HOME is empty")
	}
	return filepath.Join(dir, filepath.FromSlash(p.Name)), nil
}

// placeOf returns the location of a host's file, from the host's own data.
func placeOf(hostName string) Place {
	s := host.Find(hostName).Settings
	folder, name, _ := strings.Cut(s.User, "/")
	return Place{s.Dir, folder, name}
}

// named returns the location of another file of the same host.
func (p Place) named(name string) Place {
	p.Name = name
	return p
}

// A Settings is the file of a host's hooks, with the form of umpire's.
type Settings struct {
	Host  string // the word after `umpire hook`
	Place Place
	// Program means that the host starts the file itself, so it must be executable.
	Program bool
	format  format
}

// A format adds hooks to the text of a file, removes them, and finds them. Its methods never modify
// their input.
type format interface {
	install(text []byte, host string, h Hook) ([]byte, error)
	uninstall(text []byte, host string) ([]byte, error)
	registered(text []byte, host string) ([]Registration, error)
}

// Install returns the file with umpire's hook registered for every event of the host. Installing
// again changes nothing; entries of an earlier install are updated, and everything else in the
// file, comments and layout included, stays byte for byte. An empty text means a file that does not
// exist yet.
//
// If the file is unreadable, or its hooks have another shape than the host's, the error has line
// and column; the file is then left alone.
func (s Settings) Install(text []byte, h Hook) ([]byte, error) {
	if h.Args == nil {
		h.Args = []string{"hook", s.Host}
	}
	if err := h.check(s.Host); err != nil {
		return nil, umpire.Errorf("install the hooks of %s: %w", s.Host, err)
	}
	out, err := s.format.install(text, s.Host, h)
	if err != nil {
		return nil, umpire.Errorf("install the hooks of %s: %w", s.Host, err)
	}
	return out, nil
}

// Uninstall returns the file without umpire's hooks, written by any version, and without the lists
// and objects that become empty. Everything else stays byte for byte. A file without our hooks is
// returned unchanged; one that contained nothing else becomes empty.
func (s Settings) Uninstall(text []byte) ([]byte, error) {
	out, err := s.format.uninstall(text, s.Host)
	if err != nil {
		return nil, umpire.Errorf("uninstall the hooks of %s: %w", s.Host, err)
	}
	return out, nil
}

// Registered lists umpire's hooks in the file, in the file's order. It returns nil if there are
// none; an unreadable file is an error.
func (s Settings) Registered(text []byte) ([]Registration, error) {
	list, err := s.format.registered(text, s.Host)
	if err != nil {
		return nil, umpire.Errorf("read the hooks of %s: %w", s.Host, err)
	}
	return list, nil
}

// Missing names the events before a call that are not among the hooks of a file. A file that
// belongs only to umpire is complete.
func (s Settings) Missing(hooks []Registration) []string {
	l, ok := s.format.(hookList)
	if !ok {
		return nil
	}
	var missing []string
	for _, e := range l.eventsOf(s.Host) {
		named := func(r Registration) bool { return r.Event == e.name }
		if e.decides && !slices.ContainsFunc(hooks, named) {
			missing = append(missing, e.name)
		}
	}
	return missing
}

// Owns reports whether a line for a shell starts umpire's hook for the host.
func (s Settings) Owns(line string) bool {
	words := splitCommand(line)
	return len(words) > 0 && isOwnCommand(words[0], words[1:], s.Host)
}

// Find returns the settings of the host with that name.
func Find(name string) (Settings, bool) {
	for _, s := range All {
		if s.Host == name {
			return s, true
		}
	}
	return Settings{}, false
}
