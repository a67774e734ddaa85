package judge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

// runsLater are files that something runs, or picks programs from, after a call has written
// them. This list repeats their names, so removing a row from the table fails a test.
var runsLater = strings.Fields(`
	.clinerules/hooks/PreToolUse .clinerules/workflows/w.md .agents/hooks.json .agents/skills/s/SKILL.md .grok/hooks/x.json
	.hg/hgrc .jj/repo/config.toml .sl/config .agent/rules/r.md .trae/mcp.json .augment/settings.json .copilot/config.json
	.github/copilot/settings.json .openhands/setup.sh .claude/statusline.sh .claude/output-styles/o.md
	.claude/workflows/w.js .claude/rules/r.md .claude/skills/s/SKILL.md .vscode/extensions/e/package.json .fleet/run.json
	p.sublime-project .vs/tasks.vs.json .theia/tasks.json .nvim.lua .exrc .vimrc .dir-locals.el .gdbinit .autoenv .Rprofile
	.config/direnv/direnv.toml rust-toolchain.toml .bazelrc tools/bazel
`)

// guardedExamples returns runsLater and an example of each project path in the table.
func guardedExamples() (all []string) {
	all = append(all, runsLater...)
	for p := range sensitive.Places() {
		if !strings.HasPrefix(p.Path, "~") && !strings.HasPrefix(p.Path, "/") {
			all = append(all, p.Example())
		}
	}
	return all
}

// TestGuardedPlacesAskHoweverTheyAreWritten: at no level does a call write a guarded place
// unasked, be it with a tool, a redirection, a program, or the effects of a trial.
func TestGuardedPlacesAskHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, level := range policy.Levels {
		find, root := effectsJudge(t, policy.Settings{Autonomy: level.Autonomy()})
		for _, name := range guardedExamples() {
			for _, below := range []string{"", "src", "a/b/c"} {
				file := filepath.Join(root, below, name)
				input, _ := json.Marshal(map[string]string{"file_path": file, "content": "x"})
				q := policy.Query{Call: umpire.Call{Tool: "Write", Dir: root, Input: input}}
				q.Mode = umpire.ModeDefault
				if d := Decide(find, q, time.Now); d.Verdict == umpire.Allow {
					t.Errorf("%s: Write %s: %s", level, file, d.Reason)
				}
				for _, line := range []string{"echo x > " + file, "echo x | tee " + file, "cp README.md " + file} {
					if d := decideLine(t, find, root, line, true); d.Verdict == umpire.Allow || d.Trial == umpire.TrialFirst {
						t.Errorf("%s: %s: %s %s", level, line, d.Verdict, d.Reason)
					}
				}
				tried := umpire.TrialEffects{Whole: true, List: []umpire.TrialEffect{
					{Kind: umpire.EffectCreated, Path: file, Mode: 0o644},
				}}
				if d := DecideEffects(find, q, &tried, time.Now); d.Verdict == umpire.Allow {
					t.Errorf("%s: a trial made %s: %s", level, file, d.Reason)
				}
			}
		}
	}
}

// credentialStores are files in a home that hold logins. This list repeats their names, so
// removing a row from the table fails a test.
var credentialStores = strings.Split(strings.TrimSpace(`
.config/git/credentials
.yarnrc.yml
.config/pypoetry/auth.toml
.config/pip/pip.conf
.bundle/config
.nuget/NuGet/NuGet.Config
.kaggle/kaggle.json
.cache/huggingface/token
.config/configstore/firebase-tools.json
.supabase/access-token
.config/stripe/config.toml
.databrickscfg
.dbt/profiles.yml
.config/hcloud/cli.toml
.aliyun/config.json
.config/ngrok/ngrok.yml
.wrangler/config/default.toml
.sentryclirc
.config/age/keys.txt
.authinfo
.mc/config.json
.smbcredentials
.Xauthority
.snowflake/config.toml
.config/glab-cli/config.yml
.cf/config.json
.bitcoin/wallet.dat
.config/solana/id.json
.config/filezilla/sitemanager.xml
.thunderbird/p/logins.json
.config/Slack/Cookies
.local/share/atuin/key
.config/openai/key
.claude/settings.json
.cursor/mcp.json
.gemini/settings.json
.codex/config.toml
secrets.csv
`), "\n")

// TestCredentialStoresAsk: at no level does a call read a credential store unasked.
func TestCredentialStoresAsk(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(home, "src/project")
	if err := os.MkdirAll(filepath.Join(root, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	bounds, err := place.Open(root, place.Options{Home: home, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range policy.Levels {
		settings := policy.Settings{Autonomy: level.Autonomy()}
		rules, err := policy.New(nil, policy.Options{Settings: settings, Root: bounds.Root, Home: bounds.Home})
		if err != nil {
			t.Fatal(err)
		}
		find := func() (*Judge, error) { return &Judge{Bounds: bounds, Policy: rules, Home: home}, nil }
		for _, name := range credentialStores {
			for _, line := range []string{"cat ~/" + name, "head -1 " + home + "/" + name, "cp ../../" + name + " copy"} {
				d := decideLine(t, find, root, line, true)
				if d.Verdict == umpire.Allow || d.Trial == umpire.TrialFirst || !rules.NamesSecret(filepath.Join(home, name)) {
					t.Errorf("%s: %s: %s %s (%s)", level, line, d.Verdict, d.Trial, d.Reason)
				}
			}
		}
	}
}

// TestNewDotFoldersAsk: no level creates a dot-folder unasked, because some editor or tool may run its contents. A
// trial may create the ones that tools fill and git ignores, and an existing dot-folder accepts new files.
func TestNewDotFoldersAsk(t *testing.T) {
	t.Parallel()
	for _, level := range []policy.Level{policy.AutonomyMedium, policy.AutonomyHigh} {
		find, root := effectsJudge(t, policy.Settings{Autonomy: level.Autonomy()})
		for _, err := range []error{
			os.Mkdir(filepath.Join(root, ".known"), 0o700),
			os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.log\n/.made/\n"), 0o600),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for name, want := range map[string]struct{ written, tried umpire.Verdict }{
			".unknown/x": {umpire.Ask, umpire.Ask}, "src/.unknown/a/x": {umpire.Ask, umpire.Ask},
			".venv/bin/python": {umpire.Allow, umpire.Allow}, "target/debug/.fingerprint/x": {umpire.Allow, umpire.Allow},
			"node_modules/p/.github/x": {umpire.Allow, umpire.Allow},
			".made/x":                  {umpire.Ask, umpire.Allow}, "src/.made/x": {umpire.Ask, umpire.Ask},
			".known/x": {umpire.Allow, umpire.Allow}, ".known/.new/x": {umpire.Ask, umpire.Ask},
			".worktrees/t/x": {umpire.Allow, umpire.Allow}, ".worktrees/t/.new/x": {umpire.Ask, umpire.Ask},
			".prettierrc": {umpire.Allow, umpire.Allow}, "src/.hidden": {umpire.Allow, umpire.Allow},
		} {
			file := filepath.Join(root, name)
			input, _ := json.Marshal(map[string]string{"file_path": file, "content": "x"})
			q := policy.Query{Call: umpire.Call{Tool: "Write", Dir: root, Input: input}}
			q.Mode = umpire.ModeDefault
			if d := Decide(find, q, time.Now); d.Verdict != want.written {
				t.Errorf("%s: Write %s: %s (%s), want %s", level, name, d.Verdict, d.Reason, want.written)
			}
			if d := decideLine(t, find, root, "echo x > "+name, true); d.Verdict != want.written {
				t.Errorf("%s: echo x > %s: %s (%s), want %s", level, name, d.Verdict, d.Reason, want.written)
			}
			tried := umpire.TrialEffects{Whole: true, List: []umpire.TrialEffect{
				{Kind: umpire.EffectCreated, Path: file, Mode: 0o644},
			}}
			if d := DecideEffects(find, q, &tried, time.Now); d.Verdict != want.tried {
				t.Errorf("%s: a trial made %s: %s (%s), want %s", level, name, d.Verdict, d.Reason, want.tried)
			}
		}
		for line, want := range map[string]umpire.Verdict{
			"mkdir .unknown": umpire.Ask, "mkdir -p a/.unknown/b": umpire.Ask, "mv src .unknown": umpire.Ask,
			"mkdir src/new": umpire.Allow, "cp README.md .prettierrc": umpire.Allow, "mkdir .known/a": umpire.Allow,
		} {
			if d := decideLine(t, find, root, line, true); d.Verdict != want {
				t.Errorf("%s: %s: %s (%s), want %s", level, line, d.Verdict, d.Reason, want)
			}
		}
		folder := umpire.TrialEffects{Whole: true, List: []umpire.TrialEffect{
			{Kind: umpire.EffectCreated, Path: filepath.Join(root, ".unknown"), Mode: os.ModeDir | 0o755},
		}}
		q := policy.Query{Call: umpire.Call{Tool: "Bash", Dir: root}}
		q.Mode = umpire.ModeDefault
		if d := DecideEffects(find, q, &folder, time.Now); d.Verdict != umpire.Ask {
			t.Errorf("%s: a trial made an empty folder: %s (%s)", level, d.Verdict, d.Reason)
		}
	}
}
