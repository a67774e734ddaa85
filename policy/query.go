package policy

import (
	"time"

	"github.com/umpirehq/umpire"
)

// A Query is one call with all that its decision depends on. The zero value is
// denied.
type Query struct {
	Conditions

	Call  umpire.Call
	Facts umpire.Facts
	// Invalid is not empty when the input is malformed, and says how.
	Invalid string
	// tried are further rules, to find out whether they would settle the call.
	tried []*compiled
}

// Conditions are what a decision depends on beside the call. The zero value asks nobody.
type Conditions struct {
	Mode umpire.Mode
	// Headless says that nobody can answer: what would ask is denied.
	Headless bool
	// Profile limits the agent; nil is every tool and every file.
	Profile *Profile
	Grants  []umpire.Grant
	// ShortForm shortens the exact form of a large call as Grants have it; nil leaves it whole.
	ShortForm func(form string) string
	// AllowAll is the workspace's switch that allows what no row before it settles.
	AllowAll bool
	// Now is the time that rules and grants expire by.
	Now time.Time
	// Tighten are rules that a client sent with its request. Only those that
	// deny or ask are honoured.
	Tighten []umpire.Rule
	// Degraded says why deny or ask rules may be missing. Nothing is then allowed
	// without a question. It is "" when all rules are there.
	Degraded string
	// Sandbox is what the call would run in.
	Sandbox Sandbox
	// Search tells what a search of a folder outside the project would meet, and what a
	// pattern in it matches. Without it no rule and no grant for a folder covers one, and
	// a pattern names only what it spells.
	Search func(*umpire.Access) Search
	// Below lists what lies below a folder, by absolute paths, or reports that this is too much to
	// list. Without it a rule such as packages/*/secrets/** that denies or asks is taken to be about
	// every command that works on a whole folder of packages.
	Below func(folder string) (paths []string, whole bool)
	// Missing reports that nothing stands at a resolved path. Without it something may.
	Missing func(path string) bool
	// Fresh reports whether a write in a temporary folder reaches only files that are new or that the session made.
	// Without it autonomy lets none run.
	Fresh func(*umpire.Access) bool
	// Seen reports whether a read in a home meets only what a trial sees and what git tracks in repositories.
	// Without it autonomy answers no read in a home.
	Seen func(*umpire.Access) bool
	// Ignored reports that git ignores a folder, by its path below the project. Without it git ignores none.
	Ignored func(folder string) bool
	// NoHooks says that git would run no hook of a repository that the call works in. Without
	// it autonomy lets no git command run.
	NoHooks bool
	// GitKnown says that Facts have all that a git command of the call puts in place, by TableGitTree.
	GitKnown bool
	// BeyondUndo says what of a command's edits could not be taken back; "" is nothing. Autonomy then does not
	// let them run: see Autonomy.Edits.
	BeyondUndo umpire.Phrase
	// Trust is what a person said of the code of this clone.
	Trust CodeTrust
}

// A CodeTrust says whether project code may run where nothing holds it. The zero value
// is no.
type CodeTrust struct {
	Trusted bool
	// Why says why not, and what to do about it.
	Why umpire.Phrase
	// Written are files of the clone that the agent changed since a person last
	// confirmed its code. While there are any, trust does not settle a call.
	Written []string
}

// A Sandbox says what calls run in. The zero value has no network, and does not hold
// the code of a project.
type Sandbox struct {
	// Mode is the loosest that a call gets; "" is workspace-write.
	Mode umpire.SandboxMode
	// Network lets every call reach the network, not only those that say so.
	Network bool
	// Absent says that the machine has none, and that a person chose to go on without.
	Absent bool
	// Held says that commands run in umpire's own sandbox, which holds whatever they start.
	// A host runs them its own way.
	Held bool
	// Missing says why a command would run without one; "" when it would not, or when
	// that is not the policy's business. A command then asks.
	Missing umpire.Phrase
}

// A Profile limits what one agent may use.
type Profile struct {
	// Tools lists the tools by name or pattern. Nil is every tool, an empty
	// list none.
	Tools []string
	// EditableSuffixes limits filesystem-edit and filesystem-edit_search to
	// files with these suffixes. None, or none that is valid, is no limit.
	EditableSuffixes []string
	// AllWrites extends EditableSuffixes to every file that any tool would write or
	// delete, the ones that a command line names included.
	AllWrites bool
}

// LimitsNothing reports whether the profile names suffixes of which none is valid:
// it seems to limit editing, and does not.
func (p *Profile) LimitsNothing() bool {
	return len(p.EditableSuffixes) > 0 && len(NormalizeSuffixes(p.EditableSuffixes)) == 0
}

// EditLimit is the part of the profile that limits files; it lists every tool.
func (p *Profile) EditLimit() *Profile {
	return &Profile{EditableSuffixes: p.EditableSuffixes, AllWrites: p.AllWrites}
}

// Lists reports whether the agent may use a tool. A nil profile lists every tool.
func (p *Profile) Lists(tool string) bool {
	if p == nil || p.Tools == nil {
		return true
	}
	for _, pattern := range p.Tools {
		if ToolNamed(pattern, tool) {
			return true
		}
	}
	return false
}
