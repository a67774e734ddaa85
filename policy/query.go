package policy

import (
	"slices"
	"time"

	"github.com/umpirehq/umpire"
)

// A Query is one call with everything that its decision depends on. The zero value is denied.
type Query struct {
	Conditions

	Call  umpire.Call
	Facts umpire.Facts
	// Invalid describes the problem if the input is malformed.
	Invalid string
	// tried are further rules, to find out whether they would settle the call.
	tried []*compiled
	// task is the task whose grants count, or "".
	task string
}

// Conditions are the inputs of a decision other than the call. The zero value never asks.
type Conditions struct {
	Mode umpire.Mode
	// Headless says that there is no person to answer, so calls that would ask are denied.
	Headless bool
	// Brief leaves out suggested rules, which take as long to find as the verdict.
	Brief bool
	// Profile limits the agent; nil permits every tool and every file.
	Profile *Profile
	Grants  []umpire.Grant
	// ShortForm shortens the exact form of a large call to match Grants; nil keeps it whole.
	ShortForm func(form string) string
	// AllowAll is the workspace's switch that allows everything no earlier row settles.
	AllowAll bool
	// Now is the time for the expiry of rules and grants.
	Now time.Time
	// Tighten are rules that a client sent with its request. Only those that deny or ask count.
	Tighten []umpire.Rule
	// Degraded says why deny or ask rules may be missing. Every call then needs approval. It is
	// "" if all rules are loaded.
	Degraded string
	// Sandbox is the sandbox in which the call would run.
	Sandbox Sandbox
	// Search looks at the files that a search of a folder outside the project would meet, and
	// at the matches of a pattern in it. If nil, no rule or grant for a folder covers a search,
	// and a pattern names only the secrets that it spells out.
	Search func(*umpire.Access) Search
	// Below lists the paths below a folder, or reports that there are too many to list. If nil,
	// a deny or ask rule such as packages/*/secrets/** applies to every command that works on a
	// whole folder of packages.
	Below func(folder string) (paths []string, whole bool)
	// Missing reports whether nothing exists at a resolved path. If nil, something may.
	Missing func(path string) bool
	// Fresh reports whether a write in a temporary folder reaches only files that are new or
	// that the session made. If nil, autonomy allows no such write.
	Fresh func(*umpire.Access) bool
	// Seen reports whether a read in a home meets only files that a trial sees or that git
	// tracks in repositories. If nil, autonomy allows no read in a home.
	Seen func(*umpire.Access) bool
	// Ignored reports whether git ignores a folder, by its path below the project. If nil, git ignores none.
	Ignored func(folder string) bool
	// NoHooks says that git would run no hook of a repository that the call works in. Otherwise
	// autonomy allows no git command.
	NoHooks bool
	// GitKnown says that Facts list all files that a git command of the call writes, marked with TableGitTree.
	GitKnown bool
	// BeyondUndo explains why a command's edits could not all be undone, or is "". If it is
	// set, autonomy does not allow them: see Autonomy.Edits.
	BeyondUndo umpire.Phrase
	// Trust is the person's decision about the code of this clone.
	Trust CodeTrust
}

// A CodeTrust says whether project code may run without a sandbox. The zero value does not
// trust it.
type CodeTrust struct {
	Trusted bool
	// Why explains a missing trust and how to grant it.
	Why umpire.Phrase
	// Written are files of the clone that the agent changed since a person last
	// confirmed its code. If there are any, trust does not settle a call.
	Written []string
}

// A Sandbox describes where calls run. The zero value has no network, and does not confine the
// code of a project.
type Sandbox struct {
	// Mode is the loosest mode for a call; "" is workspace-write.
	Mode umpire.SandboxMode
	// Network lets every call reach the network, not only those that need it.
	Network bool
	// Absent says that the machine has no sandbox, and that a person chose to go on without it.
	Absent bool
	// Held says that commands run in umpire's own sandbox, which confines everything they
	// start. A host runs them its own way.
	Held bool
	// Missing explains why a command would run without a sandbox; such a command asks. It is ""
	// if the command is confined, or if its confinement is not the policy's business.
	Missing umpire.Phrase
}

// A Profile limits the tools and files of one agent.
type Profile struct {
	// Tools lists the permitted tools by name or pattern. Nil permits every tool, an empty list
	// none.
	Tools []string
	// EditableSuffixes limits filesystem-edit and filesystem-edit_search to
	// files with these suffixes. Without a valid suffix there is no limit.
	EditableSuffixes []string
	// AllWrites extends EditableSuffixes to every file that any tool would write or delete,
	// including files named on a command line.
	AllWrites bool
}

// LimitsNothing reports whether the profile lists only invalid suffixes: it seems to limit
// editing, but does not.
func (p *Profile) LimitsNothing() bool {
	return len(p.EditableSuffixes) > 0 && len(NormalizeSuffixes(p.EditableSuffixes)) == 0
}

// EditLimit returns the part of the profile that limits files; it permits every tool.
func (p *Profile) EditLimit() *Profile {
	return &Profile{EditableSuffixes: p.EditableSuffixes, AllWrites: p.AllWrites}
}

// Lists reports whether the agent may use a tool. A nil profile lists every tool.
func (p *Profile) Lists(tool string) bool {
	return p == nil || p.Tools == nil ||
		slices.ContainsFunc(p.Tools, func(pattern string) bool { return ToolNamed(pattern, tool) })
}
