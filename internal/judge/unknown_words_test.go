package judge

import (
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// unknownWords maps the expected offer at autonomy medium to lines with a word that is known only at run time.
var unknownWords = map[umpire.TrialOffer][]string{
	umpire.TrialFirst: {
		`f=$(ls -t src/*.log | head -1); tail -50 "$f"`, `f=$(find src -name a); cat $f`,
		`wc -l "$(ls src/*.go | tail -1)"`, `find "$(go env GOMODCACHE)" -path '*x*' -name '*.go'`,
		`ls $(git rev-parse --git-dir)/MERGE_HEAD`, `grep -n x "$FILE"`,
		`P=$(go list -m -f '{{.Dir}}' example.org/x); grep -rn x "$P"/*.go`, `jq .name "$(npm root)/x/package.json"`,
		`head -20 "$1"`, `sed -n "$(grep -rn 'func A' src | cut -d: -f1),+30p" src/a`,
		`git show "$(cat base)"`, `git log $(git branch -r) --`, `git blame "$r" -- src/a`,
		`git grep -l x $(git branch -r --format='%(refname:short)')`, `source "$f"`,
		`git diff $(cat base)..main -- src`,
		`f=$(find "$(go env GOMODCACHE)" -name a.go | head -1); sed -n 1,5p "$f"`, `cat "$(which make)"`,
		`python3 "$(ls *.py | head -1)"`, `stat "$X"`, `diff "$A" "$B"`, `cd "$(dirname "$X")" && ls`,
		`d=$(dirname $(dirname "$f")); ls -la "$d" | head`, `cat < "$X"`,
	},
	umpire.TrialOffered: {
		`cat a > "$OUT"`, `sed -i s/a/b/ "$f"`, `rm -rf "$DIR"`, `cp src/a "$d"`, `mv "$f" src`, `tee "$f"`,
		`touch "$f"`, `mkdir -p "$d/x"`, `eval "$X"`, `$CMD src`, `"$(which make)"`, `git "$x"`, `xargs $X < list`,
		`kill $(cat pid)`, `kill "$(lsof -ti :80)"`, `chmod +x "$f"`, `ln -s "$f" b`, `cat $f > "$g"`,
		`cd "$d" && touch x`, `cat "$f" &`, `tar xf "$f" -C "$d"`, `npm install "$P"`, `cat "$f" && npm install x`,
		`docker logs "$c"`, `echo $(grep x`, `sudo cat "$f"`, `psql -c "$q"`,
	},
	umpire.NoTrial: {
		`cat "$f" ~/.ssh/id_rsa`, `cat "$f" && curl https://example.org`, `cat "$f" .env && rm ../x`,
		`cat "$f"; git push`, `cat "$f" > ../x`, `cat ~/notes.txt "$f"`, `cat "$f" /proc/1/environ`, `curl "$URL"`,
		`ssh "$HOST" ls`, `git push "$R"`,
	},
}

// TestAutonomyTriesUnknownWords: if only a word that a program reads by is unknown, the line is tried
// first. A trial hides secrets and homes and confines any option that the word turns out to be. An unknown
// word that the line writes to or runs asks, and so does any unknown word if a rule asks about paths.
func TestAutonomyTriesUnknownWords(t *testing.T) {
	t.Parallel()
	settings := policy.Settings{Autonomy: policy.AutonomyMedium.Autonomy()}
	find, root, _ := homeJudge(t, settings)
	low, lowRoot := effectsJudge(t, policy.Settings{})
	ruled, ruledRoot := effectsJudge(t, settings, umpire.Rule{
		ID: "r", Action: umpire.Deny, Tool: "Read", Match: umpire.Match{PathGlob: "private/**"},
	})
	for want, lines := range unknownWords {
		for _, line := range lines {
			for _, held := range []bool{true, false} {
				if d := decideLine(t, find, root, line, held); d.Verdict != umpire.Ask || d.Trial != want {
					t.Errorf("%s: %s %q, want %q (%s)", line, d.Verdict, d.Trial, want, d.Reason)
				}
			}
			for name, d := range map[string]umpire.Decision{
				"at low":      decideLine(t, low, lowRoot, line, false),
				"with a rule": decideLine(t, ruled, ruledRoot, line, false),
			} {
				if d.Verdict == umpire.Allow || d.Trial == umpire.TrialFirst {
					t.Errorf("%s: %s %q %s", line, d.Verdict, d.Trial, name)
				}
			}
		}
	}
}
