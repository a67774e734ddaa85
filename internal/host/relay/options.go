package relay

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
)

// Options are the arguments after the agent's name in the command of a hook.
type Options struct {
	// Home is umpire's own folder as registered, or "" if the environment names it.
	Home string
	// HostDir is the folder of the agent's own settings as registered, or "" for the usual one.
	HostDir string
	// Deadline is when to deny without a decision.
	Deadline time.Duration
}

// margin is how long before the agent's time limit umpire denies by itself: a busy machine needs
// time to start a process and to end one.
const margin = 5 * time.Second

// Deadline returns how long a hook may take to answer, given the host's time limit.
func Deadline(timeout time.Duration) time.Duration { return timeout - min(margin, timeout/4) }

// ParseOptions reads the options of a hook's command; otherwise is the default deadline.
func ParseOptions(args []string, otherwise time.Duration) (Options, error) {
	o := Options{Deadline: otherwise}
	seen := map[string]bool{}
	for len(args) > 0 {
		name, value, joined := strings.Cut(args[0], "=")
		args = args[1:]
		if !joined && len(args) > 0 {
			value, args, joined = args[0], args[1:], true
		}
		if !joined || seen[name] {
			return Options{}, notUnderstood(name)
		}
		seen[name] = true
		if err := o.set(name, value); err != nil {
			return Options{}, err
		}
	}
	return o, nil
}

// set reads the value of one option.
func (o *Options) set(name, value string) (err error) {
	switch name {
	case "--home":
		o.Home, err = absolutePath(name, value)
	case "--host-dir":
		o.HostDir, err = absolutePath(name, value)
	case "--deadline":
		o.Deadline, err = time.ParseDuration(value)
		if err != nil || o.Deadline <= 0 {
			return umpire.Errorf("--deadline %q: want a duration above zero, such as 595s", value)
		}
	default:
		return notUnderstood(name)
	}
	return err
}

func notUnderstood(name string) error {
	return umpire.Errorf("unknown argument %q; want --deadline DURATION, --home DIR and --host-dir DIR, each "+
		"once", name)
}

func absolutePath(name, value string) (string, error) {
	if !filepath.IsAbs(value) {
		return "", umpire.Errorf("%s %q: want an absolute path", name, value)
	}
	return filepath.Clean(value), nil
}

// Registered returns the environment of a hook with these arguments, which begin with the agent's
// name. A registered folder overrides the environment's: agents take variables from the settings
// that a project brings.
func Registered(getenv func(string) string, args []string) func(string) string {
	if len(args) == 0 {
		return getenv
	}
	o, err := ParseOptions(args[1:], time.Second)
	if err != nil || o.Home == "" {
		return getenv
	}
	return func(name string) string {
		if name == HomeVariable {
			return o.Home
		}
		return getenv(name)
	}
}
