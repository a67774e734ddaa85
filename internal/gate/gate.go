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
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile"
)

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
func (g *Gate) Grants() umpire.GrantKeeper { return &g.grants }

// New returns a gate. It reads the user's descriptions of programs once. Close it when done.
func New(c Config) *Gate {
	if c.Now == nil {
		c.Now = time.Now
	}
	be := &backend{config: c, store: c.Store, secrets: secrets{masker: c.Masker, sealer: c.Sealer}}
	ps := &Projects{backend: be, known: rulefile.LoadPrograms(c.Home)}
	g := &Gate{
		be: be, projects: ps, rules: rules{ps},
		sessions: sessions{Projects: ps, noted: &sync.Map{}}, conversations: conversations{be},
	}
	g.grants = grants{ps, g.Pending, g.resolve}
	g.trials = trials{ps, g.Start, g.Finish}
	g.tickets = tickets{be, g.startWith, g.trials.report}
	g.sessions.tendTrials = g.trials.tend
	return g
}

// Programs returns the user's descriptions of programs.
func (ps *Projects) Programs() rulefile.Programs { return ps.known }

// Close stops following rule files. It waits a few seconds for folders that hang; the error names them.
func (g *Gate) Close() error { return g.projects.close() }
