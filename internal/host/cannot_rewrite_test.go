package host

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

// needTrial are lines that autonomy medium and high settle by a trial and by nothing else.
var needTrial = []string{
	"bash make.sh", "./make.sh", "make", "make test", "npm test", "npm run build", "go test ./...", "pytest", "python3 gen.py",
	"python3 -c 'exec(input())'", "node gen.js", "perl -e 1", "cargo build", "npx made", "rm -rf src", "rm src/a", "find . -name '*.o' -delete",
	"tar xf a.tar", "cd src && bash ../make.sh", "mkdir out && python3 gen.py",
}

// trialJudge decides at a level of autonomy in a git project with untrusted code.
func trialJudge(t *testing.T, level policy.Level) (*judge.Judge, policy.Settings) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(base, "project")
	for _, dir := range []string{"project/.git/objects", "project/.git/refs", "project/src", "project/node_modules/.bin", "home"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", "make.sh": "echo x > a\n", "gen.py": "print(1)\n", "gen.js": "1\n", "src/a": "a\n",
		"Makefile": "all test:\n\tbash make.sh\n", "node_modules/.bin/made": "#!/bin/sh\n", "a.tar": "",
		"package.json": `{"name": "p", "scripts": {"test": "node gen.js", "build": "node gen.js"}}`, "go.mod": "module p\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bounds, err := place.Open(root, place.Options{Home: filepath.Join(base, "home")})
	if err != nil {
		t.Fatal(err)
	}
	settings := policy.Settings{Mode: umpire.ModeDefault, Autonomy: level.Autonomy()}
	made, err := policy.New(nil, policy.Options{Settings: settings, Root: bounds.Root, Home: bounds.Home})
	if err != nil {
		t.Fatal(err)
	}
	return &judge.Judge{Bounds: bounds, Policy: made, Home: bounds.Home}, settings
}

// askAbout is the payload by which a host asks about a line in one of its modes.
func (h *Host) askAbout(root, mode, line string) []byte {
	if h.own != nil {
		return strictjson.EncodeLine(map[string]any{
			"toolName": "Bash", "toolCallId": "c", "input": map[string]string{"command": line},
		})
	}
	payload := h.Sample("s", "c", root, line)
	object, err := strictjson.ReadObject(payload)
	if h.fields.mode == "" || err != nil {
		return payload
	}
	object[h.fields.mode] = encode(mode)
	return encode(object)
}

// TestWhatNeedsATrialIsAskedWhereNoneCanBe: a host that cannot have umpire run a command in its
// place never runs unasked what only a trial would settle, in none of its modes, at no level of
// autonomy, with and without a gate. The same holds of those that could, where a person wants no
// command rewritten.
func TestWhatNeedsATrialIsAskedWhereNoneCanBe(t *testing.T) {
	t.Parallel()
	cannot := 0
	for _, h := range Hosts {
		if !h.Rewrites() {
			cannot++
		}
		for _, level := range []policy.Level{policy.AutonomyMedium, policy.AutonomyHigh} {
			t.Run(h.Name+" "+string(level), func(t *testing.T) {
				t.Parallel()
				by, settings := trialJudge(t, level)
				settings.Hook.NeverRewrite = h.Rewrites()
				modes := h.Modes()
				if len(modes) == 0 {
					modes = []HostMode{{Is: Default}}
				}
				for _, mode := range modes {
					for _, line := range needTrial {
						h.asksAbout(t, by, settings, mode, line)
					}
				}
			})
		}
	}
	if cannot == 0 || cannot == len(Hosts) {
		t.Errorf("%d of %d hosts cannot rewrite", cannot, len(Hosts))
	}
}

// asksAbout wants that a line does not run unasked.
func (h *Host) asksAbout(t *testing.T, by *judge.Judge, settings policy.Settings, mode HostMode, line string) {
	t.Helper()
	var decided umpire.Decision
	p := &Responder{
		Rewriter: &testRewriter{},
		Config: func(string) (Config, error) {
			return Config{Settings: settings, Decide: func(_ context.Context, _ string, q policy.Query) umpire.Decision {
				decided = judge.Decide(func() (*judge.Judge, error) { return by, nil }, q, time.Now)
				return decided
			}}, nil
		},
	}
	payload := h.askAbout(by.Bounds.Root, mode.Word, line)
	q := Question{
		Agent: h.Name, Payload: payload, Project: by.Bounds.Root, Dir: by.Bounds.Root, Deadline: time.Minute, Attended: true,
		Shell: "/bin/bash",
	}
	out, err := p.Answer(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	attended := mode.Is != Plan && mode.Is != DontAsk
	if attended && (decided.Verdict != umpire.Ask || decided.Trial != umpire.TrialFirst) {
		t.Errorf("%s, %q: no trial settles it: %s %s (%s)", mode.Word, line, decided.Verdict, decided.Trial, decided.Reason)
	}
	if h.own != nil {
		if !bytes.HasPrefix(out.Stdout, []byte(museMarker)) {
			t.Errorf("%q: %s", line, describeOutput(out))
		}
		return
	}
	asksItself := mode.Silence == SilenceChecks && mode.Is != Auto && mode.Is != Bypass
	switch said := h.DecisionOf(out.Stdout, out.Exit); {
	case said == "ask", denies(h, out), said == "" && asksItself:
	default:
		t.Errorf("%s, %q runs unasked: %s", mode.Word, line, describeOutput(out))
	}
	e, err := h.Read(payload)
	if err != nil {
		t.Fatal(err)
	}
	for _, hold := range []bool{true, false} {
		reply := e.Reply(decided, Mode{Hold: hold, Gate: true}, false)
		if reply == Allow || reply == Silent && !asksItself {
			t.Errorf("%s, %q with a gate, hold %t: %s", mode.Word, line, hold, reply)
		}
	}
}
