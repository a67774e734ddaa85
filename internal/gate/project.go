package gate

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate/userhook"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
)

// A Project is a project with the rules in force in it.
type Project struct {
	*project.Project

	config   Config
	settings config.Settings
	layers   []rulefile.Layer
	options  rulefile.Options
	watcher  *rulefile.Watcher            // nil if the rules are not followed
	set      atomic.Pointer[rulefile.Set] // if there is no watcher
	known    *rulefile.Set                // the rules of the last event about them; telling guards it
	current  atomic.Pointer[compiled]

	identity  sync.Mutex
	idNow     umpire.ProjectID
	idChecked time.Time
}

// A compiled is a set of rules prepared for deciding.
type compiled struct {
	set    *rulefile.Set
	policy *policy.Policy
}

// Projects are the projects that a gate has opened, by the requested folder. They decide calls by
// their rules.
type Projects struct {
	*backend

	known   rulefile.Programs
	telling rulefile.SeenChanges

	mu        sync.Mutex // never held while files are read: a folder may be on a disk that hangs
	dir       map[string]*opening
	following sync.WaitGroup // goroutines that follow rule files, or stop following them
	closing   sync.Map       // the openings being closed, with their folders
}

// An opening is a project that is open or being opened.
type opening struct{ project func() (*Project, error) }

// maxProjects bounds the folders that one gate remembers.
const maxProjects = 1000

// Project returns the project that a folder belongs to, with its rules.
func (ps *Projects) Project(dir string) (*Project, error) { return ps.projectOf(dir, nil) }

// projectOf returns the project of a folder, with added folders that count as inside.
func (ps *Projects) projectOf(dir string, added []string) (*Project, error) {
	if err := checkDir("working_dir", dir); err != nil {
		return nil, err
	}
	key := strings.Join(append([]string{dir}, added...), "\x00")
	ps.mu.Lock()
	if ps.dir == nil || len(ps.dir) >= maxProjects {
		ps.closeAll()
	}
	o, known := ps.dir[key]
	if !known {
		o = &opening{sync.OnceValues(func() (*Project, error) { return ps.openProject(dir, added) })}
		ps.dir[key] = o
	}
	ps.mu.Unlock()
	p, err := o.project()
	if err != nil {
		ps.mu.Lock()
		defer ps.mu.Unlock()
		if ps.dir[key] == o {
			delete(ps.dir, key)
		}
	}
	return p, err
}

// maxDir bounds the length of a folder's name.
const maxDir = 4096

// checkDir rejects a name that would resolve to a folder of the gate itself, or an empty one.
func checkDir(field, dir string) error {
	switch {
	case len(dir) > maxDir:
		return invalid(field, "longer than %d bytes", maxDir)
	case !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0):
		return invalid(field, "want an absolute path, got %q", dir)
	}
	return nil
}

// openProject opens a project. Several callers may share the result, so a panic becomes an error for all of them.
func (ps *Projects) openProject(dir string, added []string) (p *Project, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			p, err = nil, umpire.Errorf("internal error: %v", fault)
		}
	}()
	settings, err := ps.settingsOf(dir)
	if err != nil {
		return nil, err
	}
	settings.AddDirs = append(slices.Clone(settings.AddDirs), added...)
	found, err := project.Open(dir, project.Options{
		Added: settings.AddDirs, Home: ps.config.UserHome, Cache: ps.config.cacheDir(),
	})
	if err != nil {
		return nil, invalid("working_dir", "%v", err)
	}
	p = &Project{Project: found, config: ps.config, settings: settings}
	p.load()
	p.known = p.Rules()
	if p.watcher != nil && ps.store != nil {
		ps.following.Go(func() { ps.followRules(p) })
	}
	return p, nil
}

// settingsOf reads the settings for a folder. A mistake in them is reported as the caller's to fix,
// not as a fault of the gate.
func (ps *Projects) settingsOf(dir string) (config.Settings, error) {
	if ps.config.SettingsOf == nil {
		return ps.config.Settings, nil
	}
	s, err := ps.config.SettingsOf(dir)
	if err != nil {
		return config.Settings{}, umpire.Errorf("configuration: %w: %w", err, umpire.ErrInvalid)
	}
	return s, nil
}

// refresh forgets the project of a folder if its settings have changed. A new session then uses the
// current configuration.
func (ps *Projects) refresh(dir string) error {
	if err := checkDir("working_dir", dir); err != nil {
		return err
	}
	now, err := ps.settingsOf(dir)
	if err != nil {
		return err
	}
	ps.mu.Lock()
	o, known := ps.dir[dir]
	ps.mu.Unlock()
	if !known {
		return nil
	}
	if p, err := o.project(); err == nil && !reflect.DeepEqual(p.settings, now) {
		ps.mu.Lock()
		defer ps.mu.Unlock()
		ps.closeAll()
	}
	return nil
}

// load reads the rule files, and follows them if the gate does.
func (p *Project) load() {
	p.layers = rulefile.Layers(p.config.Home, p.Root, p.settings.AlsoRead)
	trust := rulefile.Trust{Now: p.config.Now}
	if p.config.Home == "" {
		// Without a home, the names of the user's files would be relative to the working directory,
		// where anybody may have put such files.
		p.layers = slices.DeleteFunc(p.layers, func(l rulefile.Layer) bool { return l.Source == umpire.SourceUser })
	} else {
		trust.Path = filepath.Join(p.config.Home, "trust.json")
	}
	options := p.PolicyOptions()
	check := func(r umpire.Rule) error { return policy.CheckExamples(r, options) }
	p.options = rulefile.Options{
		Check: check, Short: policy.ParseShort, Trust: trust,
		Prepare: func(set *rulefile.Set) { p.current.Store(p.compile(set)) },
	}
	if p.config.Follow {
		p.watcher = rulefile.Watch(p.layers, p.options)
		return
	}
	p.set.Store(rulefile.Load(p.layers, nil, p.options))
}

// reload reads the rule files again, after this process wrote one.
func (p *Project) reload() {
	if p.watcher != nil {
		p.watcher.Reload()
		return
	}
	p.set.Store(rulefile.Load(p.layers, p.set.Load(), p.options))
}

// Rules returns the current rules in the files.
func (p *Project) Rules() *rulefile.Set {
	if p.watcher != nil {
		return p.watcher.Current()
	}
	return p.set.Load()
}

// Layers returns the files that may contain rules.
func (p *Project) Layers() []rulefile.Layer { return p.layers }

// Options returns the options for reading the project's rule files.
func (p *Project) Options() rulefile.Options { return p.options }

// policy returns the current policy.
func (p *Project) policy() *policy.Policy { return p.rules().policy }

// rules returns the policy that decides calls. The watcher replaces it when rules change. Before the
// first change, or without a watcher, two callers may each compile it, with the same result.
func (p *Project) rules() *compiled {
	if p.watcher != nil {
		set := p.watcher.Ready()
		if p.current.Load() == nil {
			p.current.CompareAndSwap(nil, p.compile(set))
		}
		return p.current.Load()
	}
	made, set := p.current.Load(), p.set.Load()
	if made == nil || made.set != set {
		made = p.compile(set)
		p.current.Store(made)
	}
	return made
}

// Holding returns the rules for the policy: those of the files, but without allow rules if deny or
// ask rules may be missing.
func (p *Project) Holding(set *rulefile.Set) []umpire.Rule {
	all := slices.Concat(set.Rules, p.config.Rules)
	if set.Degraded != "" {
		all = slices.DeleteFunc(all, func(r umpire.Rule) bool { return r.Action == umpire.Allow })
	}
	return all
}

func (p *Project) compile(set *rulefile.Set) *compiled {
	made := &compiled{set: set}
	options := p.PolicyOptions()
	options.ControlFiles = p.hookFiles(set)
	// After an error the policy is nil, and everything is denied.
	made.policy, _ = policy.New(p.Holding(set), options)
	return made
}

// PolicyOptions returns the options of the policy, without the programs of hooks.
func (p *Project) PolicyOptions() policy.Options {
	return policy.Options{
		Settings: p.settings.Settings, Root: p.Root, Home: p.Home, StateDir: p.config.Home, FoldCase: p.FoldCase,
	}
}

// closeTime is how long a closing gate waits for folders that hang.
const closeTime = 3 * time.Second

// close stops following rule files. The error names the folders that hang: their goroutines are left behind.
func (ps *Projects) close() error {
	ps.mu.Lock()
	ps.closeAll()
	ps.mu.Unlock()
	ended := make(chan struct{})
	go func() { ps.following.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-time.After(closeTime):
	}
	var hang []string
	ps.closing.Range(func(_, dir any) bool { hang = append(hang, fmt.Sprint(dir)); return true })
	slices.Sort(hang)
	return umpire.Errorf("stopped waiting for folders that do not answer: %s", strings.Join(hang, ", "))
}

// closeAll forgets all projects and stops following their files in the background.
func (ps *Projects) closeAll() {
	for key, o := range ps.dir {
		dir, _, _ := strings.Cut(key, "\x00")
		ps.closing.Store(o, dir)
		ps.following.Go(func() {
			defer ps.closing.Delete(o)
			if p, err := o.project(); err == nil && p.watcher != nil {
				_ = p.watcher.Close() // a watcher that fails to close is forgotten anyway
			}
		})
	}
	ps.dir = map[string]*opening{}
}

// hookFiles returns the files that hook commands name. They are control files: changing one changes
// the hook's verdict and runs code as the user.
func (p *Project) hookFiles(set *rulefile.Set) []string {
	var files []string
	for _, h := range append(slices.Clip(set.Hooks), p.settings.Hooks...) {
		files = append(files, userhook.FilesOf(&h, p.Root)...)
	}
	return files
}
