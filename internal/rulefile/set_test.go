package rulefile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
)

// TestLayers: M-141 the locations of files, M-142 and M-159 their order, C-14 the files of other tools.
func TestLayers(t *testing.T) {
	t.Parallel()
	root, home := t.TempDir(), t.TempDir()
	also := []string{".claude/settings.json", filepath.Join(root, ".muse", "permissions.json"), filepath.Join(home, "permissions.yml"), ""}
	got := []string{}
	for _, l := range Layers(home, root, also) {
		got = append(got, l.Source.String()+" "+l.Format.String()+" "+l.shown())
	}
	want := []string{
		"managed umpire /etc/umpire/permissions.json",
		"project umpire .umpire/permissions.json",
		"project claude-settings .claude/settings.json",
		"project muse .muse/permissions.json",
		"global umpire " + filepath.Join(home, "permissions.json"),
		"global claude-yaml " + filepath.Join(home, "permissions.yml"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	t.Run("M-143 no project means global only", func(t *testing.T) {
		for _, l := range Layers(home, "", []string{"relative.json"}) {
			if l.Source == umpire.SourceProject {
				t.Errorf("layer %+v without a project", l)
			}
		}
	})
	t.Run("a link into the project is the project's", func(t *testing.T) {
		link := filepath.Join(home, "link")
		if err := os.Symlink(root, link); err != nil {
			t.Fatal(err)
		}
		layers := Layers(home, root, []string{filepath.Join(link, "settings.json")})
		if l := layers[2]; l.Source != umpire.SourceProject || l.Root != root {
			t.Errorf("layer %+v, want the project's", l)
		}
	})
	t.Run("a project that is the home keeps the user's file the user's", func(t *testing.T) {
		layers := Layers(filepath.Join(root, ".umpire"), root, nil)
		if len(layers) != 2 || layers[1].Source != umpire.SourceUser {
			t.Errorf("layers %+v", layers)
		}
	})
}

func TestLoadMissing(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	set := Load(Layers(filepath.Join(root, "home"), root, nil)[1:], nil, testOptions())
	if len(set.Rules) != 0 || set.Degraded != "" {
		t.Errorf("M-201: rules %v, degraded %q", set.Rules, set.Degraded)
	}
	for _, f := range set.Files {
		if f.Health != HealthMissing || len(f.Problems) != 0 {
			t.Errorf("%s: health %s, problems %v", f.Path, f.Health, f.Problems)
		}
	}
}

func TestLoadOrder(t *testing.T) {
	t.Parallel()
	root, home := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, ".umpire", fileName), rulesFile(denyLocks, askFetch))
	write(t, filepath.Join(home, fileName), rulesFile(allowTests))
	set := Load(Layers(home, root, nil), nil, testOptions())
	got := []string{}
	for _, r := range set.Rules {
		got = append(got, r.Source.String()+" "+string(r.ID))
	}
	if diff := cmp.Diff([]string{"project locks", "project fetch", "global tests"}, got); diff != "" {
		t.Errorf("M-202 M-142 project first, then global:\n%s", diff)
	}
	if r := set.Rules[1]; r.File != ".umpire/permissions.json" || r.Line != 3 {
		t.Errorf("place %s:%d, want .umpire/permissions.json:3", r.File, r.Line)
	}
}

// TestLoadFields: M-82 the fields of a file, M-10 unknown fields.
func TestLoadFields(t *testing.T) {
	t.Parallel()
	l := userLayer(t, "\xef\xbb\xbf// mine\n"+`{
  "version": 1, "note": "kept",
  "rules": [
    /* first */ {"id": "a", "action": "allow", "tool": "Bash", "match": {"commandPrefix": "npm test"}, "description": "d",
      "examples": {"match": ["npm test x"], "not_match": ["npm testify"]}, "expires_at": "2027-01-01T00:00:00Z", "source": "managed"},
    {"action": "deny", "tool": "Edit",},
  ],
}`)
	set := Load([]Layer{l}, nil, testOptions())
	want := []umpire.Rule{{
		ID: "a", Action: umpire.Allow, Tool: "Bash", Match: umpire.Match{CommandPrefix: "npm test"}, Description: "d",
		Examples:  umpire.Examples{Match: []string{"npm test x"}, NotMatch: []string{"npm testify"}},
		ExpiresAt: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
		Source:    umpire.SourceUser, File: l.Path, Line: 5,
	}, {
		ID: derivedID(umpire.Rule{Tool: "Edit"}), Tool: "Edit", Source: umpire.SourceUser, File: l.Path, Line: 7,
	}}
	if diff := cmp.Diff(want, set.Rules); diff != "" {
		t.Error(diff)
	}
	if f := set.Files[0]; f.Health != HealthOK || f.Rules != 2 || f.Inert != 0 || len(f.Hash) != 64 {
		t.Errorf("file %+v", f)
	}
}

// TestLoadBroken: M-148 and M-149, an invalid file. It keeps its last good rules, and
// says so if it has no good rules.
func TestLoadBroken(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ content, problem string }{
		"M09 half a text":        {`{"version": 1, "rules": [{"id": "x", "action`, ":1:"},
		"M-148 other version":    {`{"version": 2, "rules": []}`, ":1:13: version: want 1"},
		"version as text":        {`{"version": "1", "rules": []}`, "want 1"},
		"no version":             {`{"rules": []}`, "version is missing"},
		"M-148 rules not a list": {"{\"version\": 1,\n \"rules\": {}}", ":2:11: rules: want a list, not an object"},
		"not an object":          {`[]`, "want an object"},
		"empty":                  {``, "ends too early"},
		"null":                   {`null`, "want an object"},
		"invalid UTF-8":          {"{\"version\": 1, \"x\": \"\xff\"}", ":1:22: invalid UTF-8"},
		"rules twice":            {`{"version": 1, "rules": [], "rules": []}`, `duplicate key "rules"`},
		"deep":                   {strings.Repeat("[", 1_000_000), "nested deeper"},
		"too large":              {strings.Repeat(" ", maxFileSize+1), "larger than"},
		"too many rules": {`{"version":1,"rules":[` + strings.Repeat("0,", maxRules+1) + `]}`,
			"more than 100000 rules"},
		"control characters": {"{\"version\": 1, \"rules\": \x1b[31m}", `:1:`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := userLayer(t, rulesFile(allowTests, denyLocks))
			good := Load([]Layer{l}, nil, testOptions())
			write(t, l.Path, tc.content)
			cold := Load([]Layer{l}, nil, testOptions())
			if cold.Degraded == "" || len(cold.Rules) != 0 || cold.Files[0].Health != HealthDegraded {
				t.Fatalf("cold: %+v", cold)
			}
			text := cold.Files[0].Problems[0].Error()
			if !strings.Contains(text, tc.problem) || !strings.HasPrefix(text, l.Path) || strings.Contains(text, "\x1b") {
				t.Errorf("problem %q, want %q in it", text, tc.problem)
			}
			warm := Load([]Layer{l}, good, testOptions())
			warm = Load([]Layer{l}, warm, testOptions()) // and again
			if diff := cmp.Diff(good.Rules, warm.Rules); diff != "" || warm.Degraded != "" || warm.Files[0].Health != HealthDegraded {
				t.Errorf("X-49 last good rules: degraded %q, health %s\n%s", warm.Degraded, warm.Files[0].Health, diff)
			}
			if err := os.Remove(l.Path); err != nil {
				t.Fatal(err)
			}
			gone := Load([]Layer{l}, warm, testOptions())
			if len(gone.Rules) != 0 || gone.Files[0].Health != HealthMissing {
				t.Errorf("a removed file keeps %v", brief(gone.Rules))
			}
		})
	}
}

// A faulty rule never allows, and never takes protection away.
func TestLoadFaultyRule(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		rule, want string // want is empty if the rule is dropped
		health     Health
		cold       bool
	}{
		"allow, bad pattern":            {`{"action": "allow", "tool": "Bash", "match": {"commandPrefix": "bad"}}`, "", HealthOK, false},
		"allow, own example":            {`{"action": "allow", "tool": "Bash", "match": {"commandPrefix": "x"}, "examples": {"match": ["y"]}}`, "", HealthOK, false},
		"allow, bad time":               {`{"action": "allow", "tool": "Bash", "expires_at": "tomorrow"}`, "", HealthOK, false},
		"allow, no tool":                {`{"action": "allow"}`, "", HealthOK, false},
		"allow, match not an object":    {`{"action": "allow", "tool": "Bash", "match": "npm"}`, "", HealthOK, false},
		"allow, empty pattern":          {`{"action": "allow", "tool": "Bash", "match": {"commandPrefix": ""}}`, "", HealthOK, false},
		"allow, pattern twice":          {`{"action": "allow", "tool": "Bash", "match": {"commandPrefix": "a", "commandPrefix": "b"}}`, "", HealthOK, false},
		"allow, tool twice":             {`{"action": "allow", "tool": "Read", "tool": "Bash"}`, "", HealthOK, false},
		"deny, bad pattern":             {`{"action": "deny", "tool": "Edit", "match": {"pathGlob": "bad"}}`, "ask Edit", HealthDegraded, false},
		"ask, bad pattern":              {`{"action": "ask", "tool": "Edit", "match": {"pathGlob": "bad"}}`, "ask Edit", HealthDegraded, false},
		"deny, bad time, plain pattern": {`{"action": "deny", "tool": "Edit", "match": {"pathGlob": "x"}, "expires_at": 1}`, "deny Edit x", HealthDegraded, false},
		"deny, pattern not text":        {`{"action": "deny", "tool": "Edit", "match": {"pathGlob": 1}}`, "ask Edit", HealthDegraded, false},
		"deny then allow":               {`{"action": "deny", "tool": "Edit", "action": "allow"}`, "ask Edit", HealthDegraded, false},
		"allow then deny":               {`{"action": "allow", "tool": "Edit", "action": "deny"}`, "ask Edit", HealthDegraded, false},
		"unknown action":                {`{"action": "dney", "tool": "Edit"}`, "ask Edit", HealthDegraded, false},
		"no action":                     {`{"tool": "Edit"}`, "ask Edit", HealthDegraded, false},
		"miscased action":               {`{"Action": "allow", "tool": "Edit"}`, "ask Edit", HealthDegraded, false},
		"deny, no tool":                 {`{"action": "deny"}`, "", HealthDegraded, true},
		"not an object":                 {`"deny Edit"`, "", HealthDegraded, true},
		"deny, tool not a name":         {`{"action": "deny", "tool": "Ed it"}`, "", HealthDegraded, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := Load([]Layer{userLayer(t, rulesFile(denyLocks, tc.rule))}, nil, testOptions())
			want := []string{"deny Edit *.lock"}
			if tc.want != "" {
				want = append(want, tc.want)
			}
			if diff := cmp.Diff(want, brief(set.Rules)); diff != "" {
				t.Error(diff)
			}
			f := set.Files[0]
			if f.Health != tc.health || set.Degraded != "" != tc.cold || len(f.Problems) != 1 || f.Problems[0].Line != 3 {
				t.Errorf("health %s, degraded %q, problems %v", f.Health, set.Degraded, f.Problems)
			}
		})
	}
}

// An unknown key is not an error, but an allow rule must not allow more than its author
// meant.
func TestLoadUnknownKeys(t *testing.T) {
	t.Parallel()
	l := userLayer(t, rulesFile(
		`{"action": "allow", "tool": "Bash", "match": {"commandprefix": "npm test"}}`,
		`{"action": "allow", "tool": "Read", "mach": {"pathGlob": "src/**"}}`,
		`{"action": "allow", "tool": "LS", "note": "why", "owner": {"team": "x"}}`,
		`{"action": "deny", "tool": "Edit", "match": {"glob": "x"}}`,
	))
	set := Load([]Layer{l}, nil, testOptions())
	if diff := cmp.Diff([]string{"allow LS", "deny Edit"}, brief(set.Rules)); diff != "" {
		t.Error(diff)
	}
	if f := set.Files[0]; f.Health != HealthOK || f.Inert != 2 || len(f.Problems) != 0 {
		t.Errorf("M-10: health %s, inert %d, problems %v", f.Health, f.Inert, f.Problems)
	}
}

func TestLoadIdentifiers(t *testing.T) {
	t.Parallel()
	one := `{"action": "deny", "tool": "Edit"}`
	set := Load([]Layer{userLayer(t, rulesFile(one, one))}, nil, testOptions())
	again := Load([]Layer{userLayer(t, rulesFile(one))}, nil, testOptions())
	if set.Rules[0].ID == "" || set.Rules[0].ID == set.Rules[1].ID || set.Rules[0].ID != again.Rules[0].ID {
		t.Errorf("ids %q, %q and %q", set.Rules[0].ID, set.Rules[1].ID, again.Rules[0].ID)
	}
}

func TestZeroOptionsRefuse(t *testing.T) {
	t.Parallel()
	set := Load([]Layer{userLayer(t, rulesFile(allowTests, denyLocks))}, nil, Options{})
	if diff := cmp.Diff([]string{"deny Edit *.lock"}, brief(set.Rules)); diff != "" {
		t.Error(diff)
	}
	l := userLayer(t, rulesFile(allowTests, denyLocks))
	l.Source = umpire.SourceUnknown
	if set := Load([]Layer{l}, nil, testOptions()); len(set.Rules) != 1 {
		t.Errorf("a layer without a source allows: %v", brief(set.Rules))
	}
}

// A world-writable file does not speak for the person: it may deny, but not allow.
func TestUsersFileThatEverybodyCanWrite(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing about access here")
	}
	l := userLayer(t, rulesFile(allowTests, denyLocks))
	folder := filepath.Dir(l.Path)
	for _, row := range []struct {
		file, folder os.FileMode
		want         int
	}{{0o600, 0o700, 2}, {0o664, 0o775, 2}, {0o666, 0o700, 1}, {0o600, 0o777, 1}, {0o600, 0o777 | os.ModeSticky, 2}} {
		if err := errors.Join(os.Chmod(l.Path, row.file), os.Chmod(folder, row.folder)); err != nil {
			t.Fatal(err)
		}
		if set := Load([]Layer{l}, nil, testOptions()); len(set.Rules) != row.want || row.want == 1 && len(set.Files[0].Problems) != 1 {
			t.Errorf("%v in %v: %v, %+v", row.file, row.folder, brief(set.Rules), set.Files[0].Problems)
		}
	}
}

func TestManagedFile(t *testing.T) {
	t.Parallel()
	l := userLayer(t, rulesFile(allowTests, denyLocks))
	l.Source = umpire.SourceManaged
	if err := os.Chmod(l.Path, 0o666); err != nil {
		t.Fatal(err)
	}
	set := Load([]Layer{l}, nil, testOptions())
	f := set.Files[0]
	if diff := cmp.Diff([]string{"deny Edit *.lock"}, brief(set.Rules)); diff != "" || f.Health != HealthUntrusted || f.Inert != 1 || len(f.Problems) != 1 {
		t.Errorf("file %+v\n%s", f, diff)
	}
	if err := os.Chmod(l.Path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(l.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	want := 2
	if os.Getuid() != 0 {
		want = 1 // the file is not root's
	}
	if set := Load([]Layer{l}, nil, testOptions()); len(set.Rules) != want {
		t.Errorf("%d rules, want %d", len(set.Rules), want)
	}
}

// An untrusted project file never widens permissions, regardless of its content.
func TestUntrustedNeverWidens(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	l := Layer{Source: umpire.SourceProject, Path: filepath.Join(root, ".umpire", fileName), Root: root}
	rapid.Check(t, func(t *rapid.T) {
		l.Format = rapid.SampledFrom([]Format{FormatUmpire, FormatMuse}).Draw(t, "format")
		rules := rapid.SliceOf(rapid.SampledFrom([]string{
			allowTests, denyLocks, askFetch, `{"action": "allow", "tool": "*"}`, `{"action": "allow"}`, `{"tool": "Bash", "action": "allow", "source": "managed"}`,
		})).Draw(t, "rules")
		doc, problem := parseFile(l, []byte(rulesFile(rules...)), testOptions())
		if problem != nil {
			t.Fatal(problem)
		}
		set := &Set{}
		stranger := []Trusted{{Root: root, File: l.Path, SHA256: hashOf([]byte("something else"))}}
		set.addFile(File{Layer: l, Health: HealthOK, good: doc, goodHash: hashOf([]byte("content"))}, stranger)
		for _, r := range set.Rules {
			if r.Action == umpire.Allow {
				t.Fatalf("rule %+v allows", r)
			}
		}
	})
}

// Neither the order of the rules nor the format of the file changes their meaning.
func TestFormatAndOrderDoNotMatter(t *testing.T) {
	t.Parallel()
	type want struct{ json, settings string }
	all := []want{
		{`{"action": "%s", "tool": "Bash", "match": {"commandPrefix": "npm test"}}`, `"Bash(npm test:*)"`},
		{`{"action": "%s", "tool": "WebFetch", "match": {"domain": "example.com"}}`, `"WebFetch(domain:example.com)"`},
		{`{"action": "%s", "tool": "Read", "match": {"pathGlob": "src/**"}}`, `"Read(src/**)"`},
		{`{"action": "%s", "tool": "Edit"}`, `"Edit"`},
	}
	rapid.Check(t, func(t *rapid.T) {
		action := rapid.SampledFrom([]string{"allow", "deny", "ask"}).Draw(t, "action")
		order := rapid.Permutation(all).Draw(t, "order")
		jsons, settings := []string{}, []string{}
		for _, w := range order {
			jsons = append(jsons, strings.ReplaceAll(w.json, "%s", action))
			settings = append(settings, w.settings)
		}
		got := map[string]bool{}
		for format, content := range map[Format]string{
			FormatUmpire:         rulesFile(jsons...),
			FormatClaudeSettings: `{"permissions": {"` + action + `": [` + strings.Join(settings, ",") + `]}}`,
		} {
			doc, problem := parseFile(Layer{Source: umpire.SourceUser, Format: format}, []byte(content), testOptions())
			if problem != nil {
				t.Fatal(problem)
			}
			ids := map[string]bool{}
			for _, line := range brief(doc.rules) {
				ids[line] = true
			}
			if len(got) == 0 {
				got = ids
			} else if diff := cmp.Diff(got, ids); diff != "" || len(ids) != len(all) {
				t.Fatalf("%d rules\n%s", len(ids), diff)
			}
		}
	})
}
