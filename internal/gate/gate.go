// Package gate is the one way through: a call goes in, its facts are gathered,
// the policy decides, the decision comes out. Nothing else decides.
//
//	g := gate.New(gate.Config{UserHome: home, Home: umpireHome})
//	defer g.Close()
//	decision := g.Decide(gate.Request{Call: call, Mode: umpire.ModeDefault})
//
// A gate is safe for concurrent use. It never fails open: what goes wrong on the
// way becomes a reason of a decision that denies.
package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/manifest"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// A Config is what a gate is made of. The zero value knows no home and no store:
// it decides by what is built in, and by the managed and the projects' rule files,
// none of which it trusts.
type Config struct {
	UserHome string // the person's home directory
	Home     string // umpire's own folder, UMPIRE_HOME
	// Settings hold in every project, unless SettingsOf says otherwise for the
	// project of a folder.
	Settings   Settings
	SettingsOf func(dir string) (Settings, error)
	// Rules come from the command line, beside those of the files.
	Rules []umpire.Rule
	// Follow keeps the rules current while the gate lives. Without it they are
	// read once for each project.
	Follow bool
	// Store keeps sessions and batches. Without one the gate only decides.
	Store *store.Store
	// Masker hides secrets in what is stored for people; nil hides none.
	Masker Masker
	// Sealer encrypts the originals of what was masked; nil keeps no originals.
	Sealer Sealer
	// Alive tells whether a runner of this machine still lives; known is false for
	// a runner of another one. Nil knows of none.
	Alive func(runner string) (alive, known bool)
	// KeepSessions deletes sessions that nobody has touched for so long; 0 keeps
	// them all.
	KeepSessions time.Duration
	// Warn gets the errors of what runs in the background; nil drops them.
	Warn func(error)
	// Now tells the time; nil is time.Now.
	Now func() time.Time
}

// Settings are what a configuration says of a project. The zero value is the
// strictest there is: it rejects what is not known to be safe.
type Settings struct {
	Mode     umpire.Mode
	AlsoRead []string
	// Most is what the administrator of the machine set, beyond which nobody goes.
	Most Most
	// AddDirs count as inside the project.
	AddDirs []string
	// WarnOnly lets run what would ask or be denied, and records it. What is critical,
	// forbidden or malformed stays denied.
	WarnOnly     bool
	AllowMedium  bool
	DenyExternal bool
	Precedence   policy.Precedence
	RulesOff     []umpire.RuleID // built-in rules that do not hold
	// Sandbox is the loosest mode in which commands run, "" for workspace-write; and
	// SandboxNetwork lets all of them reach the network.
	Sandbox        umpire.SandboxMode
	SandboxNetwork bool
	// SandboxRequire says what happens where there is none.
	SandboxRequire Require
	CrossProject   bool // sessions of other projects may be continued without asking for it
	// PendingTimeout is how long a question waits, 0 for ever; MaxPending how many
	// may wait in one session, 0 for DefaultMaxPending.
	PendingTimeout time.Duration
	MaxPending     int
	// Remember is how long auto mode gives an answer again. After MaxDenialsInRow
	// refusals in a row, or MaxDenials in all, it asks; 0 never does.
	Remember        time.Duration
	MaxDenialsInRow int
	MaxDenials      int
	Profiles        map[string]policy.Profile
	// Hooks are beside those of the rule files.
	Hooks []rulefile.Hook
}

// A Most is the loosest that sessions may be, whatever they were opened with or
// switched to. The zero value sets no limit.
type Most struct {
	Mode    *umpire.Mode
	Sandbox umpire.SandboxMode
}

// Permits reports whether a session may be in a mode. Plan and reject change nothing, so
// they may always be.
func (m *Most) Permits(mode umpire.Mode) bool {
	return m.Mode == nil || mode == umpire.ModePlan || mode == umpire.ModeReject || mode.Tightens(*m.Mode)
}

// PermitsSandbox reports whether commands may run in a mode of the sandbox.
func (m *Most) PermitsSandbox(mode umpire.SandboxMode) bool {
	return m.Sandbox == "" || !m.Sandbox.Tighter(mode)
}

// beyond refuses a mode that the administrator does not permit.
func (m *Most) beyond(mode *umpire.Mode) error {
	if mode == nil || m.Permits(*mode) {
		return nil
	}
	return invalid("mode", "the administrator of this machine permits %s or a tighter mode", m.Mode)
}

// A Require says what happens to commands where the sandbox cannot be had.
type Require uint8

// What can be required. The zero value is the strictest.
const (
	RequireFull   Require = iota // they ask
	RequireWeaker                // some of its layers will do, else they ask
	RequireNone                  // they run
)

var _ umpire.Gate = (*Gate)(nil)

// A Gate decides calls. Its verbs are those of its parts.
type Gate struct {
	*backend
	*projects
	sessions
	conversations
	modes
	rules
	grants
	timeline

	// submitting keeps a batch that comes twice at once from being decided twice.
	submitting keyedLock
	news       sessionNews
	// writingRules is held while the rules of an answer are written: the answer sets the agent
	// free, and its next calls are decided by those rules too.
	writingRules sync.RWMutex
}

// reached marks a place where a crash leaves something to recover.
func (be *backend) reached(place string) {
	if be.crash != nil {
		be.crash(place)
	}
}

// New returns a gate, which reads what the person knows of programs once. Close it
// when done.
func New(c Config) *Gate {
	if c.Now == nil {
		c.Now = time.Now
	}
	be := &backend{config: c, store: c.Store, secrets: secrets{masker: c.Masker, sealer: c.Sealer}}
	ps := &projects{backend: be, known: rulefile.LoadPrograms(c.Home)}
	return &Gate{
		backend: be, projects: ps, modes: modes{ps}, rules: rules{ps}, grants: grants{ps}, timeline: timeline{be},
		sessions: sessions{projects: ps, notedFormer: &sync.Map{}}, conversations: conversations{be},
	}
}

// Programs returns what the person's files say of programs.
func (ps *projects) Programs() rulefile.Programs { return ps.known }

// A Request is one call with what its client says of it.
type Request = judge.Request

// Decide decides one call. It looks at the file system and runs nothing of the
// call, and no hook. A fault of umpire's own denies that call, and the gate lives on.
func (ps *projects) Decide(r Request) umpire.Decision {
	find := func() (*judge.Judge, error) { return ps.judgeOf(cmp.Or(r.Project, r.Call.Dir), r.AddDirs) }
	return judge.Decide(find, r, ps.config.Now)
}

// JudgeOf returns what calls in the project of a folder are decided by.
func (ps *projects) JudgeOf(dir string) (*judge.Judge, error) { return ps.judgeOf(dir, nil) }

func (ps *projects) judgeOf(dir string, added []string) (*judge.Judge, error) {
	at, err := ps.projectOf(dir, added)
	if err != nil {
		return nil, err
	}
	rules := at.rules()
	return &judge.Judge{
		Bounds: &at.Bounds, Policy: rules.policy, Degraded: rules.set.Degraded, Home: ps.config.UserHome,
		Programs: ps.known.Known, Sandbox: sandboxOf(&at.settings, nil), Code: ps.config.Code(),
		Written: ps.writtenIn(at.Project),
	}, nil
}

// Code keeps which clones the person trusts to run code.
func (c *Config) Code() manifest.Ledger {
	if c.Home == "" {
		return manifest.Ledger{}
	}
	return manifest.Ledger{Dir: filepath.Join(c.Home, manifest.Folder), Now: c.Now, Digest: func(data []byte) string {
		sum := sha256.Sum256(data)
		return "sha256:" + hex.EncodeToString(sum[:])
	}}
}

// Close stops following rule files.
func (g *Gate) Close() error { return g.projects.close() }
