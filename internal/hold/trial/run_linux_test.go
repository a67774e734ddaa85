package trial

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

func TestRunResult(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var out, errs bytes.Buffer
	b.spec.Stdout, b.spec.Stderr = &out, &errs
	result, err := b.run("echo one; cat; sleep 0.1; echo two >&2; exit 7")
	if err != nil || result.Exit != 7 || string(result.Output) != "one\ntwo\n" {
		t.Errorf("%v, %+v", err, result)
	}
	if out.String() != "one\n" || errs.String() != "two\n" {
		t.Errorf("stdout %q, stderr %q", &out, &errs)
	}
	result, err = b.run("head -c 2000000 /dev/zero; echo end")
	if err != nil || len(result.Output) != maxOutput || !strings.HasSuffix(out.String(), "end\n") {
		t.Errorf("%v, %d bytes are recorded, and %d were printed", err, len(result.Output), out.Len())
	}
	if result, err = b.run("kill -TERM $$"); err != nil || result.Exit != 128+15 {
		t.Errorf("%v, %+v", err, result)
	}
}

func TestRunInput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := filepath.Join(b.base, "input")
	if err := os.WriteFile(path, []byte("given"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b.spec.Stdin = f
	if result := b.try("cat"); string(result.Output) != "given" {
		t.Errorf("it read %q", result.Output)
	}
}

// TestRunWithHelperAhead checks that a helper started ahead serves the first command, and that a
// command runs the same way without one.
func TestRunWithHelperAhead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.spec.Ahead = sandbox.StartAhead(nil)
	for range 2 { // the second time it is used up
		var out, errs bytes.Buffer
		b.spec.Stdout, b.spec.Stderr = &out, &errs
		result, err := b.run("cat; echo x >made; echo one; echo two >&2; exit 7")
		if err != nil || result.Exit != 7 || out.String() != "one\n" || errs.String() != "two\n" {
			t.Fatalf("%v, %+v, %q, %q", err, result, &out, &errs)
		}
		if len(result.Effects.List) != 1 || !result.Effects.Whole() {
			t.Errorf("effects %+v", result.Effects)
		}
		must(t, result.Layer.Discard())
	}
	b.spec.Ahead.End()
	b.spec.Ahead.End() // calling it again has no effect
}

// TestRunEndsWithTheContext checks that neither a process nor a layer remains.
func TestRunEndsWithTheContext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	b.spec.Args, b.spec.Grace = []string{"sh", "-c", "trap '' TERM; echo started; sleep 10000 & sleep 10000; sleep 10000"}, time.Millisecond
	b.spec.Stdout = writerFunc(func([]byte) { cancel(cause) })
	result, err := Run(ctx, b.spec)
	if !errors.Is(err, cause) || result != nil {
		t.Errorf("%+v, %v", result, err)
	}
	b.noLayers()
	if result, err := Run(ctx, b.spec); !errors.Is(err, cause) || result != nil {
		t.Errorf("%+v, %v", result, err)
	}
	b.noLayers()
}

// noLayers checks that only the layer of each bench's first run exists.
func (b *bench) noLayers() {
	b.Helper()
	if left, _ := filepath.Glob(b.state + "/trial-*"); len(left) > 1 {
		b.Errorf("left: %q", left)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

func TestRunPassesSignals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	signals := make(chan os.Signal, 1)
	b.spec.Signals = signals
	b.spec.Stdout = writerFunc(func(p []byte) {
		if bytes.Contains(p, []byte("ready")) {
			signals <- syscall.SIGINT
		}
	})
	if result := b.try("trap 'echo caught >f; exit 0' INT; echo ready; while :; do sleep 0.05; done"); b.listing(&result.Effects) != "created f\n" {
		t.Errorf("%+v", result)
	}
}

// TestRunEndsTheBackground checks that background processes are killed and no longer write to the layer.
func TestRunEndsTheBackground(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	result := b.try("(setsid sh -c 'while :; do date >>late; sleep 0.01; done' >/dev/null 2>&1 &) ; until test -e late; do sleep 0.01; done; echo done")
	time.Sleep(50 * time.Millisecond)
	again, err := read(t.Context(), result.Layer, limits{})
	if err != nil || again.Digest != result.Effects.Digest || b.listing(&again) != "created late\n" {
		t.Errorf("%v, %s", err, b.listing(&again))
	}
}

// TestRunSees checks that a command sees neither hidden files of the machine nor other trials.
func TestRunSees(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("mkdir -p ../h/.umpire/state ../h/.ssh && echo key >../h/.ssh/id_rsa && echo TOKEN=x >.env && echo x >../o/file")
	b.bare("ln -s ../o out && echo real >/dev/null")
	result := b.try("cat ~/.ssh/id_rsa .env; ls ~/.umpire/state; echo x >out/file || echo refused; echo x >../o/new || echo refused")
	if text := string(result.Output); strings.Contains(text, "key") || strings.Contains(text, "TOKEN") || strings.Count(text, "refused") != 2 {
		t.Errorf("it saw %s", text)
	}
	if got := b.listing(&result.Effects); got != "" {
		t.Errorf("effects %s", got)
	}
	want := []Attempt{
		{Kind: AttemptWrite, Target: filepath.Join(b.root, "out/file")}, {Kind: AttemptWrite, Target: filepath.Join(b.base, "o/new")},
	}
	if diff := cmp.Diff(want, result.Effects.Refused); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := b.bare("cat ../o/*"); got != "x\n" {
		t.Errorf("outside lies %q", got)
	}
}

func TestRunNetwork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	result := b.try(`perl -MIO::Socket::INET -e 'for my $to (qw(203.0.113.7:5432 203.0.113.7:5432 127.0.0.1:9)) {
		IO::Socket::INET->new(PeerAddr => $to, Timeout => 2) and die }'`)
	want := []Attempt{{Kind: AttemptNetwork, Target: "203.0.113.7:5432"}}
	if diff := cmp.Diff(want, result.Effects.Refused); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRunLimits checks that a command that writes endlessly is killed, and that its effects are incomplete.
func TestRunLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.spec.maxLayer, b.spec.Grace = 1<<20, time.Second
	result, err := b.run("while :; do head -c 1000000 /dev/urandom >>f; sleep 0.01; done")
	if err != nil || result.Effects.Whole() || !strings.Contains(result.Effects.Limit, "bytes were written") {
		t.Errorf("%v, %+v", err, result)
	}
	b.spec.maxLayer = 0
	for _, test := range []struct {
		limits limits
		want   string
	}{
		{limits{Entries: 3}, "more than 3 files"},
		{limits{Bytes: 3}, "more than 3 bytes"},
		{limits{Depth: 2}, "more than 2 folders"},
	} {
		b.spec.limits = test.limits
		result := b.try("mkdir -p a/b/c/d && echo text >a/x && cp a/x a/y && echo y >a/b/c/d/z")
		if !strings.Contains(result.Effects.Limit, test.want) || result.Effects.Whole() {
			t.Errorf("%+v: %q, want %q", test.limits, result.Effects.Limit, test.want)
		}
	}
}

// TestRunRefusals checks that a command that cannot be tried does not start and leaves no layer.
func TestRunRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	link := filepath.Join(b.base, "link")
	if err := os.Symlink(b.root, link); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*Spec)
		want   string
	}{
		"no command":     {func(s *Spec) { s.Args = nil }, "no command"},
		"an unknown one": {func(s *Spec) { s.Args = []string{"no-such-program"} }, "not found"},
		"no folder":      {func(s *Spec) { s.Place.Workspace = nil }, "no folder"},
		"a missing one":  {func(s *Spec) { s.Place.Workspace = []string{"/no/such"} }, "no such file"},
		"the whole root": {func(s *Spec) { s.Place.Workspace = []string{"/"} }, "cannot be covered"},
		"a missing Dir":  {func(s *Spec) { s.Dir = "/no/such" }, "working directory"},
	} {
		spec := b.spec
		spec.Args = []string{"sh", "-c", "echo started"}
		spec.Place = &sandbox.Place{Workspace: b.spec.Place.Workspace, Home: b.spec.Place.Home}
		var out bytes.Buffer
		spec.Stdout = &out
		test.change(&spec)
		if result, err := Run(t.Context(), spec); err == nil || !strings.Contains(err.Error(), test.want) || out.Len() > 0 {
			t.Errorf("%s: %+v, %v, %q", name, result, err, &out)
		}
	}
	b.noLayers()
	b.spec.Place.Workspace = []string{link} // a link counts as its target
	if result := b.try("echo x >f"); b.listing(&result.Effects) != "created f\n" {
		t.Errorf("%+v", result)
	}
}

// TestReadRefusesAnotherFolder checks that effects are only read over the covered folder.
func TestReadRefusesAnotherFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	result := b.try("echo x >f")
	b.bare("mv ../p ../was && mkdir ../p")
	if e, err := read(t.Context(), result.Layer, limits{}); err == nil ||
		!strings.Contains(err.Error(), "is not the folder") {
		t.Errorf("%+v, %v", e, err)
	}
	b.bare("rmdir ../p && ln -s was ../p")
	if e, err := read(t.Context(), result.Layer, limits{}); err == nil {
		t.Errorf("%+v, %v, want it not to follow a link", e, err)
	}
}

// TestRunMovesFolders checks that programs can rename folders as in a real run.
func TestRunMovesFolders(t *testing.T) {
	t.Parallel()
	for program, line := range map[string]string{
		"git":    "git mv a z",
		"python": "python3 -c 'import os; os.rename(\"a\", \"z\")'",
		"node":   "node -e 'fs.renameSync(\"a\", \"z\")'",
		"perl":   "perl -e 'rename \"a\", \"z\" or die $!'",
		"mv":     "mv -T a z",
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(strings.Fields(line)[0]); err != nil {
				t.Skip(err)
			}
			b := newBench(t)
			b.bare("git init -q && mkdir -p a/b && echo x >a/b/f && echo y >a/g && git add .")
			result := b.try(line + " && cat z/b/f && ! test -e a")
			got := b.listing(&result.Effects)
			got = regexp.MustCompile(`(?m)^.* \.git/.*\n`).ReplaceAllString(got, "")
			want := "deleted a\ndeleted a/b\ncreated z\ncreated z/b\nmoved z/b/f from a/b/f\nmoved z/g from a/g\n"
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
