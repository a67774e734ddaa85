package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ProfileVariable is the environment variable with the file of a [Profile].
const ProfileVariable = "UMPIRE_TRACE"

// profileSuffix ends the name of the file: no other program reads such files, so a line in one does
// no harm even if an agent chose its name.
const profileSuffix = ".trace"

var errProfile = errors.New("UMPIRE_TRACE: want an absolute path ending in .trace, to your own regular file")

// A Phase is a part of the time of a process. Phases are constants, so no text of others gets into a
// profile.
type Phase string

// The phases of a hook and of a trial. Each name tells of the end of its phase.
const (
	Started        Phase = "started" // the program's own code runs
	Initialized    Phase = "initialized"
	QuestionRead   Phase = "question-read"
	GateConnected  Phase = "gate-connected"
	GateAnswered   Phase = "gate-answered"
	SnapshotRead   Phase = "snapshot-read"
	Decided        Phase = "decided"
	AnswerWritten  Phase = "answer-written"
	ConfigRead     Phase = "config-read"
	TicketTaken    Phase = "ticket-taken"
	LineJudged     Phase = "line-judged"
	LayersPrepared Phase = "layers-prepared"
	HelperStarted  Phase = "helper-started"
	CommandRun     Phase = "command-run"
	NetworkClosed  Phase = "network-closed"
	EffectsRead    Phase = "effects-read"
	EffectsDecided Phase = "effects-decided"
	EffectsSettled Phase = "effects-settled" // kept, discarded or left waiting
)

// A line of a profile: when the phase ended, the process, its program, how long it took, and the phase.
const (
	profileLine = "%s %7d %-11s %9.2f ms  %s\n"
	profileTime = "2006-01-02T15:04:05.000Z"
)

// A Profile appends a line to a file for each phase of this process. A nil Profile does nothing, and
// costs nothing. It is safe for concurrent use.
type Profile struct {
	program string

	mu   sync.Mutex
	file *os.File
	last time.Time // the end of the previous phase
}

// StartProfile returns the profile that the environment asks for, or nil. program is the program's
// name in it. It never waits for the file, and changes no file but the user's own.
func StartProfile(getenv func(string) string, program string) (*Profile, error) {
	name := getenv(ProfileVariable)
	if name == "" {
		return nil, nil
	}
	now := time.Now()
	if !filepath.IsAbs(name) || filepath.Ext(name) != profileSuffix {
		return nil, errProfile
	}
	file, err := openProfile(name)
	if err != nil {
		return nil, err
	}
	p := &Profile{program: program, file: file, last: now}
	if passed, known := age(); known {
		p.last = now.Add(-passed)
		p.End(Started)
	}
	return p, nil
}

// End ends a phase, and begins the next one. It ignores an error, because a profile must not stop
// anything.
func (p *Profile) End(phase Phase) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	took := float64(now.Sub(p.last)) / float64(time.Millisecond)
	// One write, because several processes may append at once.
	_, _ = fmt.Fprintf(p.file, profileLine, now.UTC().Format(profileTime), os.Getpid(), p.program, took, phase)
	p.last = time.Now()
}
