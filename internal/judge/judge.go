// Package judge decides one call: it gathers the facts, resolves the paths within
// the project, and asks the policy.
//
//	find := func() (*judge.Judge, error) { return &judge.Judge{Bounds: bounds, Policy: rules, Home: home}, nil }
//	q := policy.Query{Call: call, Conditions: policy.Conditions{Mode: umpire.ModeDefault}}
//	decision := judge.Decide(find, q, time.Now)
//
// It reads no rule files: its callers provide the policy. LoadSnapshot reads the saved policy
// of a hook that runs without a gate.
//
// Some files of a project name code: those that a test runner, a package manager or a build obeys. The
// package reads the scripts in them that are command lines, and a [CodeLedger] records which of the files
// a person trusts:
//
//	l := judge.CodeLedger{Dir: filepath.Join(home, judge.LedgerDir), Digest: sum}
//	err := l.Grant(bounds)                 // a person trusts the code of this clone
//	why := l.Check(bounds, dirs)           // "" while that holds
//
// The record is outside the clone. It contains a digest for every part of a file that names code,
// and the commit of HEAD. Trust ends when one of them differs, when another such file appears, and
// when HEAD moves by anything but a commit made in this clone.
package judge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// A Judge decides the calls of one project. Without a policy it denies. It is safe for
// concurrent use.
type Judge struct {
	Bounds *place.Bounds
	Policy *policy.Policy
	// Degraded says why deny or ask rules may be missing; every call then needs approval. ""
	// means that no rules are missing.
	Degraded string
	// Home is the person's home directory, as commands write it.
	Home string
	// Programs holds the person's own declarations of programs, or nil if there are none.
	Programs *shell.Knowledge
	// Sandbox is the configured sandbox, for queries that do not describe one.
	Sandbox policy.Sandbox
	// Code records which clones a person trusts to run code.
	Code CodeLedger
	// Written returns the files of the project that agents changed since a time. It is nil if
	// no log of their writes is available.
	Written func(since time.Time) ([]string, error)
	// Git returns the changes a git command would make in the work tree around a folder, as
	// [gitdir.Foresee] does. If nil, no change can be foreseen.
	Git func(ctx context.Context, dir string, words []string) (changes []umpire.TrialEffect, known bool)
	// Shown reports whether a trial sees a path without links, as [sandbox.Sees] returns it.
	// If nil, a trial is assumed to see nothing.
	Shown func(path string) bool
	// Made reports whether a session made a file, as [sandbox.ScratchLedger.Made] does. If nil, no session made any.
	Made func(session umpire.SessionID, path string) bool
}

// Decide decides one call with the judge that find returns, which adds the facts and the state
// of the project. It looks at the file system and runs no part of the call. It denies the call
// if there is no judge or if umpire itself panics. If the query only says that a sandbox holds,
// Decide uses the configured one.
func Decide(find func() (*Judge, error), q policy.Query, now func() time.Time) umpire.Decision {
	return decide(find, q, now, (*Judge).decide)
}

// DecideEffects decides whether the effects of a call's trial may be kept: Allow keeps them
// without a question. Grants for paths count. An approval of the command does not, because it
// was given without seeing the effects. Otherwise it behaves like Decide.
func DecideEffects(
	find func() (*Judge, error), q policy.Query, e *umpire.TrialEffects, now func() time.Time,
) umpire.Decision {
	q.Sandbox = policy.Sandbox{Held: true} // the trial is over, so nothing runs any more
	q.Grants = slices.DeleteFunc(slices.Clone(q.Grants), func(g umpire.Grant) bool { return g.Match.PathGlob == "" })
	return decide(find, q, now, func(j *Judge, q policy.Query) umpire.Decision {
		q.Degraded, q.Facts, q.Search = j.Degraded, policy.FactsOfEffects(e), j.searcher()
		q.Missing, q.Ignored = isMissing, j.ignores
		j.Bounds.ResolveAll(&q.Facts)
		d := policy.Decide(j.Policy, q)
		d.Trial = umpire.NoTrial // the call has been tried already
		shortenDecision(&d)
		return d
	})
}

// maxDecided is the number of effects that a decision lists. All effects count for the verdict.
const maxDecided = 1000

// shortenDecision drops accesses beyond the limit, starting with allowed ones.
func shortenDecision(d *umpire.Decision) {
	if len(d.Accesses) <= maxDecided {
		return
	}
	var accesses []umpire.Access
	var reasons []umpire.Reason
	at := map[int]int{-1: -1}
	for _, allowed := range []bool{false, true} {
		isOf := func(access int) bool {
			return (access >= 0 && d.Accesses[access].Verdict == umpire.Allow) == allowed
		}
		for i := range d.Accesses {
			if isOf(i) && len(accesses) < maxDecided {
				at[i] = len(accesses)
				accesses = append(accesses, d.Accesses[i])
			}
		}
		for _, r := range d.Reasons { // they are in the order of their accesses
			if next, shown := at[r.Access]; shown && isOf(r.Access) {
				r.Access = next
				reasons = append(reasons, r)
			}
		}
	}
	d.Accesses, d.Reasons = accesses, reasons
}

// decide asks the judge that find returns for a decision, and denies after a panic.
func decide(
	find func() (*Judge, error), q policy.Query, now func() time.Time, by func(*Judge, policy.Query) umpire.Decision,
) (decision umpire.Decision) {
	defer func() {
		if fault := recover(); fault != nil {
			q.Facts, q.Invalid = umpire.Facts{}, fmt.Sprintf("internal error: %v", fault)
			decision = policy.Decide(nil, q)
		}
	}()
	q.Now = now()
	j, err := find()
	if err != nil {
		q.Invalid = fmt.Sprintf("The project cannot be told: %v", err)
		return policy.Decide(nil, q)
	}
	if held := q.Sandbox.Held; q.Sandbox == (policy.Sandbox{Held: held}) {
		q.Sandbox = j.Sandbox
		q.Sandbox.Held = held
	}
	return by(j, q)
}

func (j *Judge) decide(q policy.Query) umpire.Decision {
	q.Degraded = j.Degraded
	env := j.env(q.Call.Dir, q.Now)
	var err error
	if env.Shell, err = shellOf(&q.Call); err != nil {
		q.Invalid = "The call is malformed: " + err.Error()
		return policy.Decide(j.Policy, q)
	}
	q.Facts, err = policy.FactsOf(q.Call, env)
	if err != nil {
		q.Invalid = "The call is malformed: " + err.Error()
		return policy.Decide(j.Policy, q)
	}
	j.Bounds.ResolveAll(&q.Facts)
	q.Trust, q.Search, q.NoHooks = j.trust(&q), j.searcher(), !j.mayRunHooks(&q, &env)
	q.Below, q.Missing, q.Seen = j.lister(), isMissing, j.sees
	q.Fresh = func(a *umpire.Access) bool { return j.isFresh(q.Call.Session, a) }
	askAboutGit(&q.Facts)
	d := policy.Decide(j.Policy, q)
	if d.Verdict != umpire.Deny && j.foreseeGit(&q) {
		foreseen := policy.Decide(j.Policy, q)
		if d.Verdict == umpire.Allow || d.Trial == umpire.TrialFirst || foreseen.Verdict == umpire.Allow {
			d = foreseen
			shortenDecision(&d)
		}
	}
	d = j.heedUndo(j.Policy, q, d)
	j.raise(q, &d)
	return d
}

// heedUndo decides an allowed command line again if undo could not restore what it changes.
func (j *Judge) heedUndo(p *policy.Policy, q policy.Query, d umpire.Decision) umpire.Decision {
	if q.Call.Tool != "Bash" || d.Verdict != umpire.Allow {
		return d
	}
	room := int64(relay.MaxRecordedLater)
	if q.Sandbox.Held {
		room = relay.MaxRecorded
	}
	if q.BeyondUndo = beyondUndo(&d, append([]string{j.Bounds.Root}, j.Bounds.Added...), room); q.BeyondUndo != "" {
		return policy.Decide(p, q)
	}
	return d
}

// raise adds the next level of autonomy to a question that it would settle.
func (j *Judge) raise(q policy.Query, d *umpire.Decision) {
	if d.Verdict != umpire.Ask || j.Policy == nil {
		return
	}
	p, level := j.Policy.Raised()
	if p == nil {
		return
	}
	raised := j.heedUndo(p, q, policy.Decide(p, q))
	if raised.Verdict == umpire.Allow || raised.Trial == umpire.TrialFirst && d.Trial != umpire.TrialFirst {
		d.RaiseTo, d.RaiseTries = string(level), raised.Verdict == umpire.Ask
	}
}

// shellOf returns the shell that will run the call's line, or "" if the caller named none.
func shellOf(call *umpire.Call) (string, error) {
	raw, named := call.Extra[umpire.ExtraShell]
	if !named {
		return "", nil
	}
	name := ""
	err := json.Unmarshal(raw, &name)
	return name, err
}

// mayRunHooks reports whether git could run a hook in one of the folders that a call works in:
// its working directory and those it changes to. It looks only if the call starts git.
func (j *Judge) mayRunHooks(q *policy.Query, env *shell.Env) bool {
	dirs, git := []string{cmp.Or(q.Call.Dir, j.Bounds.Dir)}, false
	for i := range q.Facts.Accesses {
		a := &q.Facts.Accesses[i]
		git = git || a.Kind == umpire.KindExec && a.Program == "git" && a.Risk != umpire.Safe
		if a.Kind == umpire.KindRead && a.Table == "cd" && !slices.Contains(dirs, a.Resolved) {
			dirs = append(dirs, a.Resolved)
		}
	}
	return git && (gitdir.PersonRunsPrograms(j.Home) || slices.ContainsFunc(dirs, func(dir string) bool {
		settings, err := env.Git(dir)
		return err != nil || gitdir.MayRunHooks(dir, settings)
	}))
}

// searcher returns a function that looks through the files a search or pattern would read, once
// for each access.
func (j *Judge) searcher() func(*umpire.Access) policy.Search {
	known := map[string]policy.Search{}
	return func(a *umpire.Access) policy.Search {
		key := fmt.Sprint(a.Resolved, a.Target, a.Tree, a.Follows, a.Glob, a.Handed)
		found, ok := known[key]
		if !ok {
			var err error
			if found.Secret, found.Links, err = j.Bounds.Search(a, j.Policy.NamesSecret); err != nil {
				found.Problem = err.Error()
			}
			known[key] = found
		}
		return found
	}
}

// ignores reports whether the .gitignore at the project's root names a folder.
func (j *Judge) ignores(folder string) bool { return gitdir.Ignores(j.Bounds.Root, folder) }

// isMissing reports whether nothing exists at a path, not even a link.
func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return files.Missing(err)
}

// lister returns a function that lists the files below a folder, once for each folder.
func (j *Judge) lister() func(folder string) ([]string, bool) {
	return once(func(folder string) ([]string, bool) { return place.Below(folder, maxListed) })
}

// once caches the results of find by folder while one call is decided.
func once[A, B any](find func(folder string) (A, B)) func(folder string) (A, B) {
	type result struct {
		a A
		b B
	}
	known := map[string]result{}
	return func(folder string) (A, B) {
		found, ok := known[folder]
		if !ok {
			found.a, found.b = find(folder)
			known[folder] = found
		}
		return found.a, found.b
	}
}

// maxListed is the maximum number of paths to list below a folder: a large project, read in a fraction of a second.
const maxListed = 100_000

// trust returns whether a person trusts the code of this clone, if the call runs such code
// outside a sandbox.
func (j *Judge) trust(q *policy.Query) policy.CodeTrust {
	if q.Sandbox.Holds() {
		return policy.CodeTrust{}
	}
	var dirs []string
	runs := false
	for i := range q.Facts.Accesses {
		a := &q.Facts.Accesses[i]
		if !a.Code {
			continue
		}
		if len(a.Dirs) == 0 {
			return policy.CodeTrust{Why: j.Code.Check(j.Bounds, nil)}
		}
		for _, dir := range a.Dirs {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
		runs = true
	}
	if !runs {
		return policy.CodeTrust{}
	}
	if why := j.Code.Check(j.Bounds, dirs); why != "" || j.Written == nil {
		return policy.CodeTrust{Trusted: why == "", Why: why}
	}
	written, err := j.Written(j.Code.Confirmed(j.Bounds))
	if err != nil {
		return policy.CodeTrust{Why: umpire.Say("the files that the agent changed cannot be told: %s", err)}
	}
	return policy.CodeTrust{Trusted: true, Written: written}
}

// recently bounds the search for files that agents changed. It is longer than a session.
const recently = 24 * time.Hour

// wrote returns a function that reports whether agents may have changed a file of the project
// recently, and no person has confirmed its code since. It returns nil without a log of writes.
func (j *Judge) wrote(now time.Time) func(path string) bool {
	if j.Written == nil {
		return nil
	}
	written := sync.OnceValues(func() ([]string, error) {
		since := j.Code.Confirmed(j.Bounds)
		if lately := now.Add(-recently); since.Before(lately) {
			since = lately
		}
		return j.Written(since)
	})
	return func(path string) bool {
		changed, err := written()
		return err != nil || slices.ContainsFunc(changed, func(name string) bool {
			return files.Within(filepath.Join(j.Bounds.Root, filepath.FromSlash(name)), path)
		})
	}
}

// env returns the environment for reading a command line in dir.
func (j *Judge) env(dir string, now time.Time) shell.Env {
	env := j.Bounds.Env()
	env.Dir, env.Home, env.Programs, env.Git = dir, j.Home, j.Programs, once(env.Git)
	env.Find = func(dir string, names ...string) string { return findManifest(j.Bounds, dir, names...) }
	env.Entries, env.Wrote = listEntries, j.wrote(now)
	env.Recipe = func(dir, program, name string) shell.Recipe { return findRecipe(j.Bounds, dir, program, name) }
	return env
}
