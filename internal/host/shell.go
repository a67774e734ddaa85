package host

import (
	"encoding/json"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// Shells are the shells by which a host runs command lines, except on Windows.
type Shells uint8

// The shells. The zero value is the widest.
const (
	shellPerson Shells = iota // the user's shell, whichever it is
	shellBash                 // bash
	shellFamily               // bash, zsh or sh; any other shell of the user is passed over
	shellOwn                  // the host's own interpreter for the bash language
)

// family are the shells whose language umpire reads.
var family = []string{"bash", "zsh", "sh", "dash", "ash", "ksh", "mksh", "busybox"}

// knownShell returns the name of the shell that runs a command line, or "" if it may be one of
// several.
func (h *Host) knownShell(person string) string {
	name := person[strings.LastIndexAny(person, `/\`)+1:]
	switch {
	case h.Shells == shellBash, h.Shells == shellOwn, h.GitBash && runtime.GOOS == "windows":
		return "bash"
	case h.Shells == shellPerson && slices.Contains(family, name), name == "bash", name == "zsh":
		return name
	}
	return ""
}

// otherShell returns the name of the shell that runs a command line if umpire cannot read its
// language, else "". person is the user's shell from the environment. An unknown shell is "unknown".
func (h *Host) otherShell(person, system string) string {
	name := person[strings.LastIndexAny(person, `/\`)+1:]
	switch {
	case system == "windows" && h.Shells != shellOwn && !h.GitBash:
		return "powershell"
	case h.Shells != shellPerson, slices.Contains(family, name):
		return ""
	case name == "":
		return "unknown"
	}
	return name
}

// nameShell records which shell runs a command line, if known. A line asks if umpire cannot read
// its language, even if a rule or the tables know its programs.
func (e *Event) nameShell(person string) {
	if e.Call.Tool != "Bash" {
		return
	}
	name := e.Host.otherShell(person, runtime.GOOS)
	if name == "" {
		if known := e.Host.knownShell(person); known != "" {
			e.Call.Extra = map[string]json.RawMessage{umpire.ExtraShell: encode(known)}
		}
		return
	}
	input := maps.Clone(e.input)
	input["shell"] = encode(name)
	e.setInput(input)
}
