package judge

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

// effectsJudge returns a judge for a new git project with a link and a folder outside it.
func effectsJudge(t *testing.T, settings policy.Settings, rules ...umpire.Rule) (find func() (*Judge, error), root string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(base, "project")
	for _, dir := range []string{"project/.git/objects", "project/.git/refs", "project/src", "outside", "home"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, ".git/HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../outside", filepath.Join(root, "link")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	bounds, err := place.Open(root, place.Options{Home: filepath.Join(base, "home")})
	if err != nil {
		t.Fatal(err)
	}
	made, err := policy.New(rules, policy.Options{Settings: settings, Root: bounds.Root, Home: bounds.Home})
	if err != nil {
		t.Fatal(err)
	}
	j := &Judge{Bounds: bounds, Policy: made, Home: bounds.Home, Git: gitdir.Foresee}
	return func() (*Judge, error) { return j, nil }, root
}

// effectCases maps trial effects in a project to their decision at autonomy high. Relative
// paths lie in the project.
var effectCases = map[string]struct {
	effects umpire.TrialEffects
	want    umpire.Verdict
	code    umpire.ReasonCode
}{
	"nothing":      {umpire.TrialEffects{Whole: true}, umpire.Allow, umpire.CodeSafe},
	"zero":         {umpire.TrialEffects{}, umpire.Ask, umpire.CodeUnparsed},
	"created":      {oneEffect(umpire.EffectCreated, "src/a.go"), umpire.Allow, umpire.CodeAutonomy},
	"deleted":      {oneEffect(umpire.EffectDeleted, "src/a.go"), umpire.Allow, umpire.CodeAutonomy},
	"unknown kind": {oneEffect("painted", "src/a.go"), umpire.Deny, umpire.CodeInvalid},
	"git hook":     {oneEffect(umpire.EffectCreated, ".git/hooks/pre-commit"), umpire.Ask, umpire.CodeControlFile},
	"deep envrc":   {oneEffect(umpire.EffectChanged, "src/a/b/.envrc"), umpire.Ask, umpire.CodeControlFile},
	"rule file":    {oneEffect(umpire.EffectAttributes, ".umpire/permissions.json"), umpire.Ask, umpire.CodeControlFile},
	"deleted rule file": {
		oneEffect(umpire.EffectDeleted, "src/.umpire/permissions.json"), umpire.Ask, umpire.CodeControlFile,
	},
	"outside": {oneEffect(umpire.EffectCreated, "/elsewhere/a"), umpire.Ask, umpire.CodeExternalDirectory},
	"set-id": {
		umpire.TrialEffects{Whole: true, List: []umpire.TrialEffect{
			{Kind: umpire.EffectAttributes, Path: "src/a", Mode: fs.ModeSetuid | 0o755},
		}}, umpire.Ask, umpire.CodeUnparsed,
	},
	"link out": {
		umpire.TrialEffects{Whole: true, List: []umpire.TrialEffect{
			{
				Kind: umpire.EffectCreated, Path: "src/l", Mode: fs.ModeSymlink | 0o777, Link: "../../outside/f",
				LeadsOut: true,
			},
		}}, umpire.Ask, umpire.CodeExternalDirectory,
	},
	"link within": {
		umpire.TrialEffects{Whole: true, List: []umpire.TrialEffect{
			{Kind: umpire.EffectCreated, Path: "src/l", Mode: fs.ModeSymlink | 0o777, Link: "a.go"},
		}}, umpire.Allow, umpire.CodeAutonomy,
	},
	"name of a guarded file": {
		umpire.TrialEffects{Whole: true, List: []umpire.TrialEffect{
			{Kind: umpire.EffectCreated, Path: "src/l", Mode: 0o644, SameAs: ".git/config"},
		}}, umpire.Ask, umpire.CodeControlFile,
	},
	"moved from a guarded place": {
		umpire.TrialEffects{Whole: true, List: []umpire.TrialEffect{
			{Kind: umpire.EffectMoved, Path: "src/l", From: ".envrc", Mode: 0o644},
		}}, umpire.Ask, umpire.CodeControlFile,
	},
	// Keeping such an effect deletes or replaces the link, not its target.
	"deleted link":  {oneEffect(umpire.EffectDeleted, "link"), umpire.Allow, umpire.CodeAutonomy},
	"replaced link": {oneEffect(umpire.EffectChanged, "link"), umpire.Allow, umpire.CodeAutonomy},
	"through link":  {oneEffect(umpire.EffectCreated, "link/a"), umpire.Ask, umpire.CodeExternalDirectory},
	"network": {
		umpire.TrialEffects{Whole: true, Refused: []umpire.TrialAttempt{
			{Kind: umpire.AttemptNetwork, Target: "registry.example:443"},
		}}, umpire.Ask, umpire.CodeTrial,
	},
	"write elsewhere": {
		umpire.TrialEffects{Whole: true, Refused: []umpire.TrialAttempt{
			{Kind: umpire.AttemptWrite, Target: "/usr/local/x"},
		}}, umpire.Ask, umpire.CodeExternalDirectory,
	},
	"refused inside": {
		umpire.TrialEffects{Whole: true, Refused: []umpire.TrialAttempt{
			{Kind: umpire.AttemptWrite, Target: "src/a"},
		}}, umpire.Ask, umpire.CodeTrial,
	},
	"denied by a rule": {oneEffect(umpire.EffectChanged, "src/locked.go"), umpire.Deny, umpire.CodeBlocked},
	"asked by a rule":  {oneEffect(umpire.EffectChanged, "src/asked.go"), umpire.Ask, umpire.CodeRule},
	"forbidden":        {oneEffect(umpire.EffectChanged, "/etc/shadow"), umpire.Deny, umpire.CodeCritical},
}

func oneEffect(kind umpire.EffectKind, path string) umpire.TrialEffects {
	return umpire.TrialEffects{Whole: true, List: []umpire.TrialEffect{{Kind: kind, Path: path, Mode: 0o644}}}
}

// in returns the effects with every path made absolute below root.
func in(root string, e umpire.TrialEffects) *umpire.TrialEffects {
	e.List, e.Refused = slices.Clone(e.List), slices.Clone(e.Refused)
	for i := range e.List {
		for _, path := range []*string{&e.List[i].Path, &e.List[i].From, &e.List[i].SameAs} {
			if *path != "" && !filepath.IsAbs(*path) {
				*path = filepath.Join(root, *path)
			}
		}
	}
	for i := range e.Refused {
		if a := &e.Refused[i]; a.Kind == umpire.AttemptWrite && !filepath.IsAbs(a.Target) {
			a.Target = filepath.Join(root, a.Target)
		}
	}
	return &e
}

func TestEffectsAreDecidedByTheSameRows(t *testing.T) {
	t.Parallel()
	rules := []umpire.Rule{
		{ID: "locked", Source: umpire.SourceUser, Action: umpire.Deny, Tool: "Edit", Match: umpire.Match{PathGlob: "src/locked.go"}},
		{ID: "asked", Source: umpire.SourceUser, Action: umpire.Ask, Tool: "Write", Match: umpire.Match{PathGlob: "src/asked.go"}},
	}
	for name, test := range effectCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			find, root := effectsJudge(t, policy.Settings{Autonomy: policy.AutonomyHigh.Autonomy()}, rules...)
			q := policy.Query{Call: umpire.Call{Tool: "Bash", Dir: root}, Conditions: policy.Conditions{Mode: umpire.ModeDefault}}
			d := DecideEffects(find, q, in(root, test.effects), time.Now)
			if d.Verdict != test.want || d.ReasonCode != test.code || d.Trial != umpire.NoTrial {
				t.Errorf("got %s %s %q (%s), want %s %s", d.Verdict, d.ReasonCode, d.Trial, d.Reason, test.want, test.code)
			}
			low, root := effectsJudge(t, policy.Settings{}, rules...)
			q.Call.Dir = root
			d = DecideEffects(low, q, in(root, test.effects), time.Now)
			if d.Verdict > test.want || d.Verdict == umpire.Allow && name != "nothing" {
				t.Errorf("at low: %s (%s)", d.Verdict, d.Reason)
			}
		})
	}
}

// An approval of the command was given without seeing its effects.
func TestApprovalOfACommandDoesNotKeepItsEffects(t *testing.T) {
	t.Parallel()
	find, root := effectsJudge(t, policy.Settings{})
	e := in(root, oneEffect(umpire.EffectCreated, "src/a.go"))
	grants := map[string]umpire.Grant{
		"exact": {Scope: umpire.ScopeOnce, Tool: "Bash", Exact: "make"}, "tool": {Scope: umpire.ScopeSession, Tool: "Bash"},
	}
	for name, g := range grants {
		q := policy.Query{Call: umpire.Call{Tool: "Bash", Dir: root, Input: []byte(`{"command":"make"}`)}}
		q.Mode, q.Grants = umpire.ModeDefault, []umpire.Grant{g}
		if d := DecideEffects(find, q, e, time.Now); d.Verdict != umpire.Ask {
			t.Errorf("%s: %s (%s)", name, d.Verdict, d.Reason)
		}
		q.Grants = []umpire.Grant{{Scope: umpire.ScopeSession, Tool: "Edit", Match: umpire.Match{PathGlob: "src/**"}}}
		if d := DecideEffects(find, q, e, time.Now); d.Verdict != umpire.Allow {
			t.Errorf("with a grant for the folder: %s (%s)", d.Verdict, d.Reason)
		}
	}
}

// A decision about many effects is quick and shows the ones that ask.
func TestManyEffects(t *testing.T) {
	t.Parallel()
	find, root := effectsJudge(t, policy.Settings{Autonomy: policy.AutonomyHigh.Autonomy()})
	e := &umpire.TrialEffects{Whole: true}
	for i := range 3000 {
		path := filepath.Join(root, "src", strconv.Itoa(i))
		e.List = append(e.List, umpire.TrialEffect{Kind: umpire.EffectCreated, Path: path, Mode: 0o644})
	}
	e.List[2500].Path = filepath.Join(root, ".envrc")
	q := policy.Query{Call: umpire.Call{Tool: "Bash", Dir: root}, Conditions: policy.Conditions{Mode: umpire.ModeDefault}}
	d := DecideEffects(find, q, e, time.Now)
	if d.Verdict != umpire.Ask || d.ReasonCode != umpire.CodeControlFile || len(d.Accesses) != maxDecided ||
		d.Accesses[0].Verdict != umpire.Ask || d.Reasons[0].Access != 0 || d.Reasons[0].Code != umpire.CodeControlFile {
		t.Errorf("%s %s, %d accesses, first %+v", d.Verdict, d.ReasonCode, len(d.Accesses), d.Accesses[0])
	}
	low, _ := effectsJudge(t, policy.Settings{})
	if d := DecideEffects(low, q, e, time.Now); d.Verdict != umpire.Ask || len(d.Suggestions) > 0 {
		t.Errorf("at low: %s, %d suggestions", d.Verdict, len(d.Suggestions))
	}
}
