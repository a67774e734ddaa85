// Package gate is the one way through: a call goes in, its facts are gathered,
// the policy decides, the decision comes out. Nothing else decides.
//
//	g := gate.New(gate.Config{UserHome: home, Home: umpireHome})
//	defer g.Close()
//	decision := g.Check(gate.Request{Call: call, Mode: umpire.ModeDefault})
//
// A gate is safe for concurrent use. It never fails open: what goes wrong on the
// way becomes a reason of a decision that denies.
package gate

import (
	"fmt"
	"os"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// A Config is what a gate is made of. The zero value knows no home: it decides by
// what is built in, and by the managed and the projects' rule files, none of
// which it trusts.
type Config struct {
	UserHome string // the person's home directory
	Home     string // umpire's own folder, UMPIRE_HOME
	AlsoRead []string
	// AddDirs count as inside every project.
	AddDirs []string
	// Rules come from the command line, beside those of the files.
	Rules        []umpire.Rule
	AllowMedium  bool
	DenyExternal bool
	Precedence   policy.Precedence
	// Follow keeps the rules current while the gate lives. Without it they are
	// read once for each project.
	Follow bool
	// Now tells the time; nil is time.Now.
	Now func() time.Time
}

// A Gate decides calls.
type Gate struct {
	config   Config
	known    rulefile.Programs
	projects projects
}

// New returns a gate, which reads what the person knows of programs once. Close it
// when done.
func New(c Config) *Gate {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Gate{config: c, known: rulefile.LoadPrograms(c.Home)}
}

// Programs returns what the person's files say of programs.
func (g *Gate) Programs() rulefile.Programs { return g.known }

// A Request is one call with what its client says of it. The zero value is denied.
type Request struct {
	Call umpire.Call
	// Project is the folder that tells the project; "" is the call's own.
	Project  string
	Mode     umpire.Mode
	Headless bool
	Profile  *policy.Profile
	Grants   []umpire.Grant
	AllowAll bool
	Tighten  []umpire.Rule
}

// Check decides one call. It looks at the file system and runs nothing of the
// call. A fault of umpire's own denies that call, and the gate lives on.
func (g *Gate) Check(r Request) (decision umpire.Decision) {
	q := policy.Query{
		Call: r.Call, Mode: r.Mode, Headless: r.Headless, Profile: r.Profile,
		Grants: r.Grants, AllowAll: r.AllowAll, Tighten: r.Tighten,
	}
	defer func() {
		if fault := recover(); fault != nil {
			q.Facts, q.Invalid = umpire.Facts{}, fmt.Sprintf("internal error: %v", fault)
			decision = policy.Decide(nil, q)
		}
	}()
	q.Now = g.config.Now()
	at, err := g.Project(orElse(r.Project, r.Call.Dir))
	if err != nil {
		q.Invalid = fmt.Sprintf("The project cannot be told: %v", err)
		return policy.Decide(nil, q)
	}
	rules := at.rules()
	if rules.cold {
		q.AllowAll = false
	}
	q.Facts, err = policy.FactsOf(r.Call, shell.Env{
		Dir: r.Call.Dir, Home: g.config.UserHome, IsDir: isDir, Programs: g.known.Known,
	})
	if err != nil {
		q.Invalid = "The call is malformed: " + err.Error()
		return policy.Decide(rules.policy, q)
	}
	for i := range q.Facts.Accesses {
		at.Project.Resolve(&q.Facts.Accesses[i])
	}
	return policy.Decide(rules.policy, q)
}

// Close stops following rule files.
func (g *Gate) Close() error { return g.projects.close() }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
