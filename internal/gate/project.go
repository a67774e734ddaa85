package gate

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
)

// A Project is a project with the rules that hold in it.
type Project struct {
	*project.Project

	config  Config
	layers  []rulefile.Layer
	options rulefile.Options
	watcher *rulefile.Watcher // nil when the rules are not followed
	set     *rulefile.Set     // when there is no watcher
	current atomic.Pointer[rules]
}

// rules are a set of rules made ready to decide with.
type rules struct {
	set    *rulefile.Set
	policy *policy.Policy
	// cold says that deny or ask rules may be missing, so nothing is allowed
	// but what is safe.
	cold bool
}

// projects are the projects a gate has met, by the folder asked for.
type projects struct {
	mu  sync.Mutex
	dir map[string]*Project
}

// maxProjects bounds how many folders one gate remembers.
const maxProjects = 1000

// Project returns the project that a folder belongs to, with its rules.
func (g *Gate) Project(dir string) (*Project, error) {
	if dir == "" {
		return nil, errors.New("no working directory is given")
	}
	g.projects.mu.Lock()
	defer g.projects.mu.Unlock()
	if p, ok := g.projects.dir[dir]; ok {
		return p, nil
	}
	found, err := project.Open(dir, project.Options{
		Added: g.config.AddDirs, Home: g.config.UserHome, Cache: g.config.cacheDir(),
	})
	if err != nil {
		return nil, err
	}
	p := &Project{Project: found, config: g.config}
	p.load()
	if g.projects.dir == nil || len(g.projects.dir) >= maxProjects {
		_ = g.projects.closeAll() // what stops watching is forgotten anyway
		g.projects.dir = map[string]*Project{}
	}
	g.projects.dir[dir] = p
	return p, nil
}

func (c *Config) cacheDir() string {
	if c.Home == "" {
		return ""
	}
	return filepath.Join(c.Home, "state", "projects")
}

// load reads the rule files, and follows them if the gate does.
func (p *Project) load() {
	p.layers = rulefile.Layers(p.config.Home, p.Root, p.config.AlsoRead)
	trust := rulefile.Trust{Now: p.config.Now}
	if p.config.Home == "" {
		// Joined to nothing, the names of the user's files would mean files in the
		// working directory, which anybody may have put there.
		p.layers = slices.DeleteFunc(p.layers, func(l rulefile.Layer) bool { return l.Source == umpire.SourceUser })
	} else {
		trust.Path = filepath.Join(p.config.Home, "trust.json")
	}
	p.options = rulefile.Options{Check: p.check, Short: policy.ParseShort, Trust: trust}
	if p.config.Follow {
		p.watcher = rulefile.Watch(p.layers, p.options)
		return
	}
	p.set = rulefile.Load(p.layers, nil, p.options)
}

// check says whether a rule is sound: it is valid, and keeps its own examples.
func (p *Project) check(r umpire.Rule) error {
	if err := policy.Validate(r); err != nil {
		return err
	}
	return policy.CheckExamples(r, p.policyOptions())
}

// Rules returns the rules as they stand in the files now.
func (p *Project) Rules() *rulefile.Set {
	if p.watcher != nil {
		return p.watcher.Set()
	}
	return p.set
}

// Layers returns the files in which rules may stand.
func (p *Project) Layers() []rulefile.Layer { return p.layers }

// Options are how its rule files are read.
func (p *Project) Options() rulefile.Options { return p.options }

// Policy returns the policy as it stands now.
func (p *Project) Policy() *policy.Policy { return p.rules().policy }

// rules returns the policy for the current set, made anew when the set changed.
// Two callers may both make it; they make the same.
func (p *Project) rules() *rules {
	set := p.Rules()
	if made := p.current.Load(); made != nil && made.set == set {
		return made
	}
	made := p.compile(set)
	p.current.Store(made)
	return made
}

func (p *Project) compile(set *rulefile.Set) *rules {
	all := make([]umpire.Rule, 0, len(set.Rules)+len(p.config.Rules))
	for _, r := range append(slices.Clip(set.Rules), p.config.Rules...) {
		if set.ColdBroken && r.Action == umpire.Allow {
			continue
		}
		all = append(all, r)
	}
	made := &rules{set: set, cold: set.ColdBroken}
	// An error leaves no policy, and without a policy everything is denied.
	made.policy, _ = policy.New(all, p.policyOptions())
	return made
}

func (p *Project) policyOptions() policy.Options {
	return policy.Options{
		AllowMedium: p.config.AllowMedium, DenyExternal: p.config.DenyExternal, Precedence: p.config.Precedence,
		Root: p.Root, Home: p.Home, StateDir: p.config.Home, FoldCase: p.FoldCase,
	}
}

func (ps *projects) close() error {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.closeAll()
}

func (ps *projects) closeAll() error {
	var errs []error
	for _, p := range ps.dir {
		if p.watcher != nil {
			errs = append(errs, p.watcher.Close())
		}
	}
	ps.dir = nil
	return errors.Join(errs...)
}
