package gate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/batch"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/userhook"
	"github.com/umpirehq/umpire/policy"
)

// A scene is what a decision about a session's calls depends on, read from the
// store before the decision is made: deciding takes time, and the store's writer
// does not wait for it.
type scene struct {
	session  umpire.Session
	settings Settings
	mode     umpire.Mode
	headless bool
	grants   []umpire.Grant
	allowAll bool
	tighten  []umpire.Rule
	profile  *policy.Profile
	sandbox  *umpire.Confinement // nil for an agent that runs its calls its own way
}

// sceneOf reads what holds in a session, with the once grants of one call if one
// is named.
func (g *Gate) sceneOf(tx *store.Tx, id umpire.SessionID, call umpire.CallID) (*scene, error) {
	s, err := tx.Session(id)
	if err != nil {
		return nil, fmt.Errorf("session %q: %w", id, err)
	}
	if s.State == umpire.SessionOver {
		return nil, fmt.Errorf("session %q has ended: %w", id, umpire.ErrState)
	}
	if err := inherit(tx, &s); err != nil {
		return nil, err
	}
	rows, err := tx.Grants(store.GrantQuery{
		Session: id, Project: s.Project, GitDir: cloneOf(&s), Call: call, Now: g.now(),
	})
	if err != nil {
		return nil, err
	}
	w, err := tx.Workspace(s.Project, cloneOf(&s))
	if err != nil && !errors.Is(err, umpire.ErrNotFound) {
		return nil, err
	}
	sc := &scene{session: s, headless: s.Headless, allowAll: w.AllowAll}
	for i := range rows {
		sc.grants = append(sc.grants, g.openGrant(&rows[i]))
	}
	return sc, nil
}

// complete adds what the project's files say.
func (g *Gate) complete(sc *scene) error {
	p, err := g.projectOf(sc.session.Root, sc.session.AddDirs)
	if err != nil {
		return fmt.Errorf("project of session %q: %w", sc.session.ID, err)
	}
	sc.settings = p.settings
	if sc.settings.WarnOnly { // enforcing again counts at once, in sessions that are open too
		now, err := g.settingsOf(sc.session.Root)
		sc.settings.WarnOnly = err == nil && now.WarnOnly
	}
	sc.mode = effectiveMode(&sc.session, &p.settings)
	sc.profile, err = profileOf(sc.session.Profile, p.settings.Profiles)
	if sc.profile != nil && sc.session.External && sc.session.Profile == "" {
		// The tools of a host are its own: the list is about those of the built-in agent.
		sc.profile = sc.profile.EditLimit()
	}
	return err
}

// effectiveMode is the session's mode, but ask once auto has refused too often, and the
// administrator's where it is looser than that.
func effectiveMode(s *umpire.Session, settings *Settings) umpire.Mode {
	if !settings.Most.Permits(s.Mode) {
		return *settings.Most.Mode
	}
	if s.Mode == umpire.ModeAuto && degraded(s, settings) {
		return umpire.ModeAsk
	}
	return s.Mode
}

// AutoAvailable reports whether auto mode may answer in a session by itself: once too
// much was refused there it asks.
func AutoAvailable(s *umpire.Session, settings *Settings) bool { return !degraded(s, settings) }

func degraded(s *umpire.Session, settings *Settings) bool {
	return settings.MaxDenialsInRow > 0 && s.DenialsInRow >= settings.MaxDenialsInRow ||
		settings.MaxDenials > 0 && s.Denials >= settings.MaxDenials
}

// mainProfile is the profile of an agent that names none.
const mainProfile = "main"

func profileOf(name string, profiles map[string]policy.Profile) (*policy.Profile, error) {
	if name == "" {
		name = mainProfile
	}
	if p, ok := profiles[name]; ok {
		return &p, nil
	}
	if name == mainProfile {
		return nil, nil
	}
	return nil, fmt.Errorf("profile %q: the configuration has no such agent: %w", name, umpire.ErrInvalid)
}

// cloneOf tells clones of one project apart: by the git directory that worktrees
// share, or by the root where there is none.
func cloneOf(s *umpire.Session) string { return cmp.Or(s.GitDir, s.Root) }

// decide decides a call in a scene.
func (g *Gate) decide(sc *scene, call umpire.Call) umpire.Decision {
	return sc.settings.answer(g.Decide(Request{
		Call: call, Project: sc.session.Root, AddDirs: sc.session.AddDirs, Mode: sc.mode, Headless: sc.headless,
		Profile: sc.profile, Grants: sc.grants, AllowAll: sc.allowAll, Tighten: sc.tightenFor(&call),
		Sandbox: sandboxOf(&sc.settings, sc.sandbox),
	}))
}

// answer is a decision as the gate acts on it.
func (s *Settings) answer(d umpire.Decision) umpire.Decision {
	if s.WarnOnly {
		return judge.WarnOnly(d)
	}
	return d
}

// Check decides a call and stores nothing. A call that names a session is decided
// as that session's would be; any other by the configuration.
func (g *Gate) Check(ctx context.Context, call umpire.Call) (umpire.Decision, error) {
	if call.Dir != "" || call.Session == "" {
		if err := checkDir("cwd", call.Dir); err != nil {
			return umpire.Decision{}, err
		}
	}
	if call.Session == "" {
		settings, err := g.settingsOf(call.Dir)
		if err != nil {
			return umpire.Decision{}, err
		}
		return settings.answer(g.Decide(Request{Call: call, Mode: settings.Mode})), nil
	}
	var sc *scene
	err := g.view(ctx, func(tx *store.Tx) (err error) {
		sc, err = g.sceneOf(tx, call.Session, "")
		return err
	})
	if err != nil {
		return umpire.Decision{}, err
	}
	if err := g.complete(sc); err != nil {
		return umpire.Decision{}, err
	}
	call.Dir = cmp.Or(call.Dir, sc.session.Dir)
	return g.decide(sc, call), nil
}

// A judged is one call of a submission with all that was found out before it is
// stored.
type judged struct {
	call     umpire.Call
	hash     string
	input    store.Sealed
	extra    json.RawMessage
	decision umpire.Decision
	effect   umpire.Effect
	denied   *umpire.Standing // a person denied the very same in this turn
	unasked  bool             // would ask, and nobody can answer
	question *question        // what a person is asked
	took     time.Duration    // deciding it
	hooks    []userhook.Ran   // that were heard about it
	alone    umpire.Decision  // without what hooks said
	before   json.RawMessage  // the files that it would change, as they are; of a planned call
	planned  []umpire.Planned // what a call that leaves plan mode is about
}

// judge decides one call of a submission.
func (g *Gate) judge(sc *scene, call umpire.Call) (*judged, error) {
	canonical, err := batch.Canonical(call.Input)
	if err != nil {
		return nil, fmt.Errorf("call %q: %w", call.ID, err)
	}
	j := &judged{call: call}
	j.call.Input, j.call.Dir = canonical, cmp.Or(call.Dir, sc.session.Dir)
	j.call.Session, j.call.Agent = sc.session.ID, cmp.Or(call.Agent, sc.session.Agent)
	j.hash = batch.CanonicalHash(call.Tool, canonical)
	if j.input, err = g.sealJSON(callLabel(sc.session.ID, call.ID), canonical); err != nil {
		return nil, fmt.Errorf("call %q: %w", call.ID, err)
	}
	if len(call.Extra) > 0 {
		j.extra = g.maskJSON(data(call.Extra))
	}
	g.weigh(sc, j)
	j.alone = j.decision
	if j.decision.ReasonCode == umpire.CodePlan {
		j.before = snapshot(&j.decision)
	}
	return j, nil
}

// weigh decides the call in a scene.
func (g *Gate) weigh(sc *scene, j *judged) {
	began := time.Now()
	j.decision = g.decide(sc, j.call)
	j.took += time.Since(began)
	j.effect = effectOf(&j.decision)
	j.unasked = sc.headless && j.decision.Verdict == umpire.Deny && j.decision.ReasonCode == umpire.CodeAutoDeny && asksOtherwise(g, sc, j.call)
}

// asksOtherwise reports whether the call is denied only because nobody is there.
func asksOtherwise(g *Gate, sc *scene, call umpire.Call) bool {
	attended := *sc
	attended.headless = false
	d := g.decide(&attended, call)
	return d.Verdict == umpire.Ask
}

// effectOf says whether a call may run again after a crash. A call that only looks may,
// and so may a sub-agent: it goes on in its own session, where each of its calls is
// accounted for. Code of the project may not, however harmless it is to start.
func effectOf(d *umpire.Decision) umpire.Effect {
	if d.Type == umpire.Task {
		return umpire.EffectIdempotent
	}
	for i := range d.Accesses {
		if a := &d.Accesses[i]; a.Changes() || a.Code || a.Doubt != "" {
			return umpire.EffectUnknown
		}
	}
	if len(d.Accesses) == 0 {
		return umpire.EffectUnknown
	}
	return umpire.EffectPure
}

// shownDigest binds an approval to what was shown: where the call runs, what it
// would touch once links are resolved, which code it runs, and under which obligations.
func shownDigest(call *umpire.Call, d *umpire.Decision, code []umpire.CodeFile) string {
	sum := sha256.New()
	write := func(text string) { fmt.Fprintf(sum, "%d:%s", len(text), text) }
	write(call.Dir)
	write(fmt.Sprintf("%t %s %t", call.Background, d.Obligations.Sandbox, d.Obligations.Network))
	for i := range d.Accesses {
		a := &d.Accesses[i]
		write(a.Kind.String())
		write(a.Program)
		for _, arg := range a.Args {
			write(arg)
		}
		write(a.Target)
		write(a.Resolved)
		write(a.Place.String())
		write(a.Doubt)
	}
	for _, f := range code {
		write(f.Path)
		write(f.Digest)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// cardDigest binds an answer to a card that is about no decision: to all that it says.
func cardDigest(card *umpire.Pending) string {
	sum := sha256.Sum256(data(card))
	return hex.EncodeToString(sum[:])
}
