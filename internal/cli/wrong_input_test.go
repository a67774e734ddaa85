package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/cli/app"
)

// A wrongInput is a line that a person may type by mistake, with the words of its error that name the mistake.
type wrongInput struct{ line, names string }

// wrongInputs are mistakes in every command. Quotes hold a word with blanks.
var wrongInputs = []wrongInput{
	{`foo`, `"foo"`},
	{`chek`, `"chek"`},
	{`hok`, `"hok"`},
	{`--nosuch`, `--nosuch`},
	{`-z`, `'z'`},
	{`help nosuch`, `"nosuch"`},
	{`help timeline nosuch`, `nosuch`},

	{`check`, `nothing to decide`},
	{`check --tool Write --input {`, `input`},
	{`check --tool Write --input []`, `input`},
	{`check --tool Write --input {"path":5}`, `input.path`},
	{`check --tool Nosuch --input {"a":`, `input`},
	{`check --mode nosuch -- ls`, `"nosuch"`},
	{`check --mode -- ls`, `"--"`},
	{`check --rules /no/such -- ls`, `/no/such`},
	{`check --rules broken.json -- ls`, `broken.json`},
	{`check --cwd /no/such -- ls`, `/no/such`},
	{`check --project /no/such -- ls`, `/no/such`},
	{`check --stdin ls`, `--stdin`},
	{`check --stdin --tool Read`, `--stdin`},
	{`check --input {} -- ls`, `--input`},
	{`check --headless=maybe -- ls`, `"maybe"`},
	{`check --nosuch -- ls`, `--nosuch`},
	{`check --allowed-tools "Bash(" -- ls`, `Bash(`},

	{`try`, `no command`},
	{`try --`, `no command`},
	{`try --keep --discard -- ls`, `--discard`},
	{`try --cwd /no/such -- ls`, `/no/such`},
	{`try --nosuch -- ls`, `--nosuch`},
	{`try keep nosuch`, `nosuch`},
	{`try show nosuch`, `nosuch`},
	{`try discard nosuch`, `nosuch`},
	{`try keep a b`, `"b"`},
	{`undo nosuch`, `no changes were kept`},
	{`undo --since yesterday`, `yesterday`},
	{`undo --since -1h`, `-1h`},
	{`undo a b`, `"b"`},
	{`undo a --since 1h`, `--since`},
	{`undo --only /no/such`, `no changes were kept`},
	{`exec`, `TICKET`},
	{`exec nosuch -- ls`, `nosuch`},

	{`pending nosuch`, `"nosuch"`},
	{`pending --limit -1`, `--limit -1`},
	{`pending --limit many`, `"many"`},
	{`approve`, `ID`},
	{`approve nosuch`, `nosuch`},
	{`approve a b`, `ID`},
	{`approve a --scope nosuch`, `nosuch`},
	{`approve a --width nosuch`, `--width`},
	{`approve a --expires yesterday`, `--expires`},
	{`approve a --scope session --width nosuch`, `nosuch`},
	{`approve a --scope session --expires yesterday`, `yesterday`},
	{`approve a --scope`, `--scope`},
	{`approve a --token-file /no/such`, `/no/such`},
	{`deny`, `ID`},
	{`deny nosuch`, `nosuch`},
	{`cancel`, `ID`},
	{`cancel nosuch`, `nosuch`},
	{`watch nosuch`, `"nosuch"`},
	{`watch --nosuch`, `--nosuch`},

	{`timeline nosuch`, `"nosuch"`},
	{`timeline --after -1`, `--after -1`},
	{`timeline --after x`, `"x"`},
	{`timeline --last 99999999999999999999`, `--last`},
	{`timeline --session nosuch`, `nosuch`},
	{`timeline --session "a b"`, `a b`},
	{`timeline --follow=perhaps`, `"perhaps"`},
	{`timeline verify nosuch`, `"nosuch"`},
	{`timeline verify --since nosuch`, `since`},
	{`timeline prune`, `--older-than`},
	{`timeline prune --older-than yesterday`, `yesterday`},
	{`sessions nosuch`, `"nosuch"`},
	{`sessions end`, `ID`},
	{`sessions end nosuch`, `"nosuch"`},
	{`sessions delete nosuch`, `"nosuch"`},
	{`sessions mode nosuch`, `"nosuch"`},
	{`sessions mode`, `no session`},
	{`sessions mode plan --session nosuch`, `"nosuch"`},
	{`sessions --limit -3`, `--limit -3`},

	{`rules nosuch`, `"nosuch"`},
	{`rules add`, `ACTION`},
	{`rules add allow`, `RULE`},
	{`rules add maybe Bash(ls)`, `"maybe"`},
	{`rules add allow Bash(`, `Bash(`},
	{`rules add allow ""`, `rule`},
	{`rules add allow Bash(ls) --scope nosuch`, `nosuch`},
	{`rules add allow Bash(ls) --expires yesterday`, `yesterday`},
	{`rules remove`, `ID`},
	{`rules remove nosuch`, `"nosuch"`},
	{`rules test nosuch`, `nosuch`},
	{`rules lint nosuch`, `nosuch`},
	{`rules import`, `FORMAT`},
	{`rules import nosuch file`, `"nosuch"`},
	{`rules import claude /no/such`, `/no/such`},
	{`rules import claude broken.json`, `broken.json`},
	{`rules trust nosuch`, `"nosuch"`},
	{`rules trust --show --revoke`, `revoke`},
	{`rules grants nosuch`, `"nosuch"`},
	{`rules grants revoke`, `--all`},
	{`rules grants revoke nosuch`, `nosuch`},

	{`autonomy nosuch`, `"nosuch"`},
	{`autonomy low high`, `"high"`},
	{`config nosuch`, `"nosuch"`},
	{`config set`, `"set"`},
	{`programs nosuch`, `"nosuch"`},
	{`programs show`, `name of a program`},
	{`programs show nosuch`, `"nosuch"`},
	{`programs lint /no/such`, `/no/such`},
	{`bench /no/such`, `/no/such`},
	{`completion nosuch`, `"nosuch"`},
	{`version nosuch`, `"nosuch"`},
	{`status nosuch`, `"nosuch"`},

	{`setup nosuch`, `"nosuch"`},
	{`setup Clade`, `"Clade"`},
	{`setup --autonomy nosuch`, `nosuch`},
	{`setup --only nosuch`, `"nosuch"`},
	{`setup claude --scope nosuch`, `nosuch`},
	{`setup uninstall nosuch`, `"nosuch"`},
	{`setup upgrade nosuch`, `"nosuch"`},
	{`init nosuch`, `"nosuch"`},
	{`init claud`, `"claud"`},
	{`doctor nosuch`, `"nosuch"`},
	{`conformance nosuch`, `"nosuch"`},
	{`demo nosuch`, `"nosuch"`},

	{`serve nosuch`, `"nosuch"`},
	{`serve --listen nosuch`, `nosuch`},
	{`serve --store nosuch`, `nosuch`},
	{`serve --console nosuch`, `nosuch`},
	{`serve --listen 0.0.0.0:0`, `0.0.0.0`},
	{`console nosuch`, `"nosuch"`},
	{`console pair nosuch`, `"nosuch"`},
	{`console pair`, `notify.ntfy`},
	{`console notify nosuch`, `"nosuch"`},
	{`run`, `TASK`},
	{`run task`, `--model`},
	{`run --model nosuch task`, `nosuch`},
	{`run --model script:/no/such task`, `/no/such`},
	{`run --model script:broken.json task`, `broken.json`},
	{`run --model script:turns.json --permission-mode nosuch task`, `nosuch`},
	{`run --model script:turns.json --session nosuch task`, `nosuch`},
	{`run --model script:turns.json --fork nosuch task`, `nosuch`},
	{`run --model script:turns.json --agent nosuch task`, `nosuch`},
	{`run --model script:turns.json --sandbox nosuch task`, `nosuch`},
	{`run --model script:turns.json --add-dir /no/such task`, `/no/such`},
	{`run --model script:turns.json --continue task`, `no session`},
	{`run --model script:turns.json --permission-mode bypass task`, `--allow-bypass`},
	{`chat --model nosuch`, `terminal`},
	{`proxy nosuch`, `"nosuch"`},
	{`proxy mcp`, `SERVER`},
	{`proxy mcp --url nosuch`, `url`},
	{`proxy mcp --listen nosuch -- cat`, `--listen`},
	{`proxy acp`, `AGENT`},
	{`proxy codex`, `CODEX`},
}

// blanked splits a line at blanks outside of double quotes, unless these are JSON's.
var blanked = regexp.MustCompile(`"[^"{}]*"(?: |$)|[^ ]+`)

// TestWrongInputs: no mistake makes the program crash. Each gets a code other than 0, an error that names the
// mistake, and a next step.
func TestWrongInputs(t *testing.T) {
	t.Parallel()
	if len(wrongInputs) < 112 {
		t.Errorf("only %d wrong inputs", len(wrongInputs))
	}
	home, dir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"broken.json": "{\n  \"version\": 1,\n  \"rules\": [\n", "turns.json": "[]"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"HOME": home}
	for _, wrong := range wrongInputs {
		var args []string
		for _, word := range blanked.FindAllString(wrong.line, -1) {
			args = append(args, strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(word), `"`), `"`))
		}
		out := playIn(t, dir, env, strings.NewReader(""), args...)
		switch {
		case out.code == app.ExitDone, out.code > app.ExitRefused && out.code < 125, out.code > 126:
			t.Errorf("umpire %s: exit code %d\n%s%s", wrong.line, out.code, out.stdout, out.stderr)
		case !strings.HasPrefix(out.stderr, "umpire: "), !strings.Contains(out.stderr, wrong.names),
			!strings.Contains(out.stderr, "\nnext: "), strings.Contains(out.stderr, "goroutine "),
			strings.Contains(out.stderr, "next: umpire hook"):
			t.Errorf("umpire %s: exit code %d\n%s%s", wrong.line, out.code, out.stdout, out.stderr)
		case os.Getenv("SHOWALL") != "":
			t.Logf("umpire %s: exit code %d\n%s%s", wrong.line, out.code, out.stdout, out.stderr)
		}
	}
}
