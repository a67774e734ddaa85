package trees

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

var (
	allGit   = flag.Bool("trees.git", false, "run every workflow of git in every state of a repository")
	gitFiles = flag.Int("trees.files", 100_000, "the number of files in the tree in which switch is timed")
)

// gitStates are states of the repository that testdata/git.sh makes, by the commands that lead there.
var gitStates = []string{
	"true",
	"git switch -q feature",
	"git switch -q --detach v1",
	"git pull -q --rebase && git gc -q",
	"echo more >> src/f1.go && echo x > new.txt && git add src/f1.go",
}

// maxGitAsks is the share of the workflows that may ask, in percent.
const maxGitAsks = 3

// TestGitWorkflows counts the questions of everyday git. Each workflow is decided, and tried if
// reading does not allow it.
func TestGitWorkflows(t *testing.T) {
	t.Parallel()
	if !sandbox.Available().Whole() {
		t.Skip("no sandbox on this machine")
	}
	text, err := os.ReadFile("testdata/git.txt")
	must(t, err)
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	states := gitStates
	if !*allGit {
		states = states[:1]
		var sample []string
		for i := 0; i < len(lines); i += 6 {
			sample = append(sample, lines[i])
		}
		lines = sample
	}
	base := folderOutsideTmp(t)
	program := buildUmpire(t, base)
	var mu sync.Mutex
	count, asks := 0, 0
	t.Run("states", func(t *testing.T) {
		for i, state := range states {
			t.Run(state, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(base, "state", string(rune('a'+i)), "tree")
				must(t, os.MkdirAll(dir, 0o755))
				w := newWorld(t, program, filepath.Join(base, "home", string(rune('a'+i))), levels[0])
				gitShell(t, dir, "testdata/git.sh", "")
				gitShell(t, dir, "", state)
				for _, line := range lines {
					got := w.settle(t, dir, line)
					mu.Lock()
					if count++; got.how != byReading && got.how != byTrial {
						asks++
						t.Logf("figure:   asks: %s: %s: %s: %s", state, line, got.how, got.why)
					}
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("figure: %d workflows of git at autonomy %s: %d ask", count, levels[0], asks)
	if 100*asks > maxGitAsks*max(count, 100/maxGitAsks+1) {
		t.Errorf("%d of %d ask, want at most %d %%", asks, count, maxGitAsks)
	}
}

// gitShell runs a script, given by its file or its text, as a named git user.
func gitShell(t *testing.T, dir, file, text string) {
	t.Helper()
	args := []string{"-ec", text}
	if file != "" {
		path, err := filepath.Abs(file)
		must(t, err)
		args = []string{path}
	}
	cmd := exec.CommandContext(t.Context(), "sh", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.test")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// maxSwitch is the maximum time of a switch in a large tree, decided and run, as a multiple of plain git's.
const maxSwitch = 2

// TestSwitchInLargeTree times switch with and without umpire.
func TestSwitchInLargeTree(t *testing.T) {
	if !*allGit {
		t.Skip("make workflows runs it")
	}
	base := folderOutsideTmp(t)
	dir := filepath.Join(base, "tree")
	for i := range *gitFiles {
		folder := filepath.Join(dir, string(rune('a'+i%26)), string(rune('a'+i/26%26)))
		if i < 26*26 {
			must(t, os.MkdirAll(folder, 0o755))
		}
		name := strings.Repeat("x", 1+i/676/26) + string(rune('a'+i/676%26))
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600))
	}
	gitShell(t, dir, "", `git init -q -b main; git add .; git commit -qm one; git switch -qc other; echo x > a/a/xa
git commit -qam two; git switch -q main`)
	w := newWorld(t, buildUmpire(t, base), filepath.Join(base, "home"), levels[0])
	plain, judged := time.Duration(1<<62), time.Duration(1<<62)
	for range 5 {
		for _, to := range []string{"other", "main"} {
			began := time.Now()
			if got := w.settle(t, dir, "git switch "+to); got.how != byReading {
				t.Fatalf("%s: %s", got.how, got.why)
			}
			decided := time.Since(began)
			began = time.Now()
			gitShell(t, dir, "", "git switch -q "+to)
			took := time.Since(began)
			plain, judged = min(plain, took), min(judged, decided+took)
		}
	}
	t.Logf("figure: git switch in a tree of %d files: %s, with umpire %s", *gitFiles, plain.Round(time.Millisecond),
		judged.Round(time.Millisecond))
	if judged > maxSwitch*plain {
		t.Errorf("it takes %.1f times as long, want %d", float64(judged)/float64(plain), maxSwitch)
	}
}
