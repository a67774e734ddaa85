// Package gate decides every call: it gathers the call's facts, has the policy decide, and returns
// the decision. Nothing else decides.
//
//	g := gate.New(gate.Config{UserHome: home, Home: umpireHome})
//	defer g.Close()
//	q := policy.Query{Call: call, Conditions: policy.Conditions{Mode: umpire.ModeDefault}}
//	decision := g.Projects().Decide("", q)
//
// A gate is safe for concurrent use. It never fails open: an error on the way becomes a reason in a
// decision that denies.
package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/store"
)

// A Config configures a gate. The zero value has neither a home nor a store: it decides by the
// built-in rules, the managed rule file and the projects' rule files, and trusts none of the
// latter.
type Config struct {
	UserHome string // the person's home directory
	Home     string // umpire's own folder, UMPIRE_HOME
	// Settings apply to every project, unless SettingsOf returns others for the project of a
	// folder.
	Settings   config.Settings
	SettingsOf func(dir string) (config.Settings, error)
	// Rules come from the command line, in addition to those of the files.
	Rules []umpire.Rule
	// Follow keeps the rules current while the gate runs. Without it they are read once for each
	// project.
	Follow bool
	// Store keeps sessions and batches. Without it the gate only decides.
	Store *store.Store
	// Masker hides secrets in text stored for people; if nil, nothing is masked.
	Masker Masker
	// Sealer encrypts the originals of masked text; if nil, originals are not kept.
	Sealer Sealer
	// Alive reports whether a runner is still running. known is false for runners on other
	// machines. If nil, no runner is known.
	Alive func(runner string) (alive, known bool)
	// Layers are the layers of trials on this machine. If nil, the runner of a trial keeps its
	// changes.
	Layers Layers
	// UndoAge is the longest time undo keeps the files a trial replaced, or 0 if unknown.
	UndoAge time.Duration
	// KeepSessions is the age at which idle sessions are deleted; 0 means never.
	KeepSessions time.Duration
	// Warn receives the errors of background work; if nil, they are dropped.
	Warn func(error)
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

var _ umpire.Gate = (*Gate)(nil)

// A Gate decides calls, stores them and releases them. Its accessors return its parts.
type Gate struct {
	be            *backend
	projects      *Projects
	sessions      sessions
	conversations conversations
	trials        trials
	tickets       tickets
	rules         rules
	grants        grants

	// submitting keeps a batch that arrives twice at once from being decided twice, and its hooks from running twice.
	submitting keyedLock
	news       sessionNews
	// writingRules is held while the rules of an answer are written, keyed by the root of the project or
	// allRoots: the answer releases the agent, and its next calls must already follow the new rules.
	writingRules keyedLock
}

// Projects returns the projects that the gate has opened.
func (g *Gate) Projects() *Projects { return g.projects }

// Sessions returns the keeper of the sessions.
func (g *Gate) Sessions() umpire.SessionKeeper { return &g.sessions }

// Conversations returns the keeper of the sessions' messages.
func (g *Gate) Conversations() umpire.ConversationKeeper { return &g.conversations }

// Trials returns the part that tries calls before they run.
func (g *Gate) Trials() umpire.Trier { return &g.trials }

// Tickets returns the part that runs command lines by tickets.
func (g *Gate) Tickets() umpire.Ticketer { return &g.tickets }

// Rules returns the keeper of the projects' rule files.
func (g *Gate) Rules() umpire.RuleKeeper { return &g.rules }

// Grants returns the keeper of the remembered approvals.
func (g *Gate) Grants() umpire.GrantKeeper { return taskDesk{&g.grants, g} }

// reached marks a place where a crash leaves something to recover.
func (be *backend) reached(place string) {
	if be.crash != nil {
		be.crash(place)
	}
}

// New returns a gate. It reads the user's descriptions of programs once. Close it when done.
func New(c Config) *Gate {
	if c.Now == nil {
		c.Now = time.Now
	}
	be := &backend{config: c, store: c.Store, secrets: secrets{masker: c.Masker, sealer: c.Sealer}}
	ps := &Projects{backend: be, known: rulefile.LoadPrograms(c.Home)}
	g := &Gate{
		be: be, projects: ps, rules: rules{ps}, grants: grants{ps},
		sessions: sessions{Projects: ps, noted: &sync.Map{}}, conversations: conversations{be},
	}
	g.trials = trials{ps, g.Start, g.Finish}
	g.tickets = tickets{be, g.startWith, g.trials.report}
	g.sessions.tendTrials = g.trials.tend
	return g
}

// Programs returns the user's descriptions of programs.
func (ps *Projects) Programs() rulefile.Programs { return ps.known }

// JudgeOf returns the judge of calls in the project of a folder.
func (ps *Projects) JudgeOf(dir string) (*judge.Judge, error) { return ps.judgeOf(dir, nil) }

func (ps *Projects) judgeOf(dir string, added []string) (*judge.Judge, error) {
	at, err := ps.projectOf(dir, added)
	if err != nil {
		return nil, err
	}
	rules := at.rules()
	return &judge.Judge{
		Bounds: &at.Bounds, Policy: rules.policy, Degraded: rules.set.Degraded, Home: ps.config.UserHome,
		Programs: ps.known.Known, Sandbox: sandboxOf(&at.settings, nil), Code: ps.config.Code(),
		Written: ps.writtenIn(at.Project), Git: gitdir.Foresee,
		Shown: sandbox.Sees(ps.config.UserHome, append([]string{at.Root}, at.Added...), at.settings.SandboxShow),
		Made:  ps.config.scratch().Made,
	}, nil
}

// Code returns the ledger of clones that the user trusts to run code.
func (c *Config) Code() judge.CodeLedger {
	if c.Home == "" {
		return judge.CodeLedger{}
	}
	return judge.CodeLedger{Dir: filepath.Join(c.Home, judge.LedgerDir), Now: c.Now, Digest: func(data []byte) string {
		sum := sha256.Sum256(data)
		return "sha256:" + hex.EncodeToString(sum[:])
	}}
}

// scratch returns the ledger of temporary files that sessions made.
func (c *Config) scratch() sandbox.ScratchLedger {
	if c.Home == "" {
		return sandbox.ScratchLedger{}
	}
	return sandbox.NewScratchLedger(filepath.Join(c.Home, "state"), time.Now)
}

// Close stops following rule files. It waits a few seconds for folders that hang; the error names them.
func (g *Gate) Close() error { return g.projects.close() }
