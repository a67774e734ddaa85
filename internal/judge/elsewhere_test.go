package judge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// elsewhere maps the expected offer at autonomy medium to lines that run code and read outside
// the project. OUT is a folder outside any home; HID holds a secret.
var elsewhere = map[umpire.TrialOffer]string{
	umpire.TrialFirst: `
		cd OUT && make | cd OUT; go test ./... | (cd OUT && npm test) | pushd OUT && ./x.sh | make -C OUT
		npm --prefix OUT test | go -C OUT test ./... | cargo test --manifest-path OUT/Cargo.toml | pytest OUT
		python3 OUT/x.py | /usr/bin/python3 OUT/x.py | node OUT/x.js --dir src | bash OUT/x.sh | ./OUT/x.sh
		cat OUT/x.py && python3 -c 'x()' | ls OUT; make | rspec OUT/spec | cd OUT && python3 - <<E⏎x()⏎E
		python3 x.py < OUT/x.py | cd OUT && make 2>&1 | for f in OUT/*.py; do python3 "$f"; done
		cd ~/clean && go test ./... | python3 ~/clean/a.go | cat ~/lib/README.md && make
		python3 ~/lib/src/a.go | cd ~/lib/src && make | cd ~/missing && go test ./...
		node ~/.missing/x.mjs report | ls ~/.missing/ && make | cd ~/seen && make | cd /tmp && python3 -c 'x()'
		cd /nowhere && ./x sync | cat OUT/x.py "$X" && make
		cd OUT && npx tsc --noEmit -p sub | cd OUT && npx eslint . | cd OUT/sub && npx vitest run a.test.ts
		cd OUT && cargo test | cd OUT && cargo build | cd OUT && dotnet build | cd OUT && mvn test`,
	umpire.TrialOffered: `
		cd HID && make | cd HID && python3 -c 'x()' | make -C HID | ls HID && make | cd / && make
		cd ~/lib && make | cd ~/tokens && make | ls ~/lib && python3 x.py | ls ~/lib/mixed; make
		ls ~/.cargo && make | cd OUT && make & | cd OUT && npm install x | cd OUT && psql x
		cd OUT && npx cowsay | cd OUT && npx tsc@5 | cd OUT && npx -p x tsc | cd OUT && npx "$X" | cd OUT && npm i
		cd OUT && docker run x | cd OUT && eval "$X" | cd OUT && $X`,
	umpire.NoTrial: `
		ls ~/.config && make | cd ~ && make | python3 ~/notes.txt | cd ~/taxes && make | cd ~/private && make
		cat ~/notes.txt; make | cd OUT && git push | cd OUT && rm x.py && make | cd OUT && python3 x.py > x.py
		cd OUT && sed -i s/a/b/ x.py; make | cp src/a OUT/; make | cd OUT && cat ~/.ssh/id_rsa && make
		cat HID/.env && make | cd OUT && curl https://example.org && make | cd OUT && echo x > ~/.bashrc && make
		cd OUT && ln -s ~ src/h; make | mv OUT/x.py . && make | cat /proc/1/environ; make`,
}

// TestAutonomyTriesCodeElsewhere: code that lies or works in another folder is tried first if
// the whole folder may be read, because a trial cannot write there either. It asks if the
// folder holds a secret, or if the code would see more of a home than the person allowed.
func TestAutonomyTriesCodeElsewhere(t *testing.T) {
	t.Parallel()
	find, root, _ := homeJudge(t, policy.Settings{Autonomy: policy.AutonomyMedium.Autonomy()})
	out, hid := filepath.Join(root, "../out"), filepath.Join(root, "../hid")
	for _, name := range []string{out + "/x.py", out + "/x.sh", out + "/sub/x.js", hid + "/deep/x.py", hid + "/.env"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for want, lines := range elsewhere {
		for form := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(lines), "\n", " | "), " | ") {
			form = strings.ReplaceAll(strings.TrimSpace(form), "⏎", "\n")
			line := strings.NewReplacer("OUT", "../out", "HID", "../hid").Replace(form)
			if d := decideLine(t, find, root, line, false); d.Verdict == umpire.Allow || d.Trial != want {
				t.Errorf("%s: %s %q, want %q (%s)", line, d.Verdict, d.Trial, want, d.Reason)
			}
		}
	}
}

// TestApprovedFolderIsTriedIn: code may work in a home folder that a person has approved for
// reading. The rule does not cover secrets in that folder.
func TestApprovedFolderIsTriedIn(t *testing.T) {
	t.Parallel()
	find, root := effectsJudge(
		t, policy.Settings{Autonomy: policy.AutonomyMedium.Autonomy()},
		allowReads("~/api/**"), allowReads("~/keys/**"),
	)
	home := filepath.Join(root, "../home")
	for _, name := range []string{"api/a.py", "keys/.env", "other/a.py"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]umpire.TrialOffer{
		"cd ~/api && make": umpire.TrialFirst, "python3 ~/api/a.py": umpire.TrialFirst,
		"cd ~/keys && make": umpire.TrialOffered, "cd ~/other && make": umpire.NoTrial,
		"cd ~/api && rm a.py && make": umpire.NoTrial,
	} {
		if d := decideLine(t, find, root, line, false); d.Verdict != umpire.Ask || d.Trial != want {
			t.Errorf("%s: %s %q, want %q (%s)", line, d.Verdict, d.Trial, want, d.Reason)
		}
	}
}

// allowReads returns a user's rule that allows reads below a folder.
func allowReads(glob string) umpire.Rule {
	return umpire.Rule{
		ID: umpire.RuleID(glob), Action: umpire.Allow, Tool: "Read", Source: umpire.SourceUser,
		Match: umpire.Match{PathGlob: glob},
	}
}

// TestStrictModesTryNothingElsewhere: neither code in other folders nor unknown words are tried
// if effects cannot be kept, or if the person wants to be asked about everything.
func TestStrictModesTryNothingElsewhere(t *testing.T) {
	t.Parallel()
	find, root := effectsJudge(t, policy.Settings{Autonomy: policy.AutonomyMedium.Autonomy()})
	for _, line := range []string{
		"cd ../outside && make", "python3 ../outside/x.py", `tail -5 "$(ls *.log | head -1)"`,
	} {
		input, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		plain := policy.Query{Call: umpire.Call{Tool: "Bash", Dir: root, Input: input}}
		plain.Mode = umpire.ModeDefault
		if d := Decide(find, plain, time.Now); d.Trial != umpire.TrialFirst {
			t.Errorf("%s: %s %q", line, d.Verdict, d.Trial)
		}
		for name, change := range map[string]func(*policy.Query){
			"read-only":  func(q *policy.Query) { q.Sandbox = policy.Sandbox{Mode: umpire.SandboxReadOnly} },
			"no sandbox": func(q *policy.Query) { q.Sandbox.Missing = "Nothing is known about the call" },
			"background": func(q *policy.Query) { q.Call.Background = true },
			"tightened": func(q *policy.Query) {
				q.Tighten = []umpire.Rule{{Action: umpire.Ask, Tool: "Read", Match: umpire.Match{PathGlob: "/**"}}}
			},
			"headless": func(q *policy.Query) { q.Headless = true },
			"ask":      func(q *policy.Query) { q.Mode = umpire.ModeAsk },
			"plan":     func(q *policy.Query) { q.Mode = umpire.ModePlan },
			"reject":   func(q *policy.Query) { q.Mode = umpire.ModeReject },
		} {
			q := plain
			change(&q)
			if d := Decide(find, q, time.Now); d.Verdict == umpire.Allow || d.Trial == umpire.TrialFirst {
				t.Errorf("%s: %s: %s %q (%s)", name, line, d.Verdict, d.Trial, d.Reason)
			}
		}
	}
}
