package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// maxJobs bounds how many commands run in the background at once.
	maxJobs = 32
	// maxJobOutput limits the output of one BashOutput, in bytes; the next one returns the rest.
	maxJobOutput = 30 << 10
)

var outputTool = tool{
	about: "Returns what a background command has printed since the last time, and whether it still runs.",
	schema: `{"type":"object","required":["bash_id"],"properties":{
		"bash_id":{"type":"string","description":"the id that Bash gave"}}}`,
	run: (*Set).jobOutput,
}

var killTool = tool{
	about: "Ends a background command, with all that it started.",
	schema: `{"type":"object","required":["shell_id"],"properties":{
		"shell_id":{"type":"string","description":"the id that Bash gave"}}}`,
	run: (*Set).jobKill,
}

// A job is a command in the background.
type job struct {
	id      string
	command string
	file    string
	out     *capped
	stop    context.CancelFunc
	over    chan struct{} // closed when it has ended

	err  error // the failure; read it after over is closed
	seen int64 // how much of the file was returned; guarded by the mutex of the jobs
}

// The jobs of a set are safe for concurrent use.
type jobs struct {
	scratch string // where their output goes

	mu     sync.Mutex
	byID   map[string]*job
	last   int // number of the latest job
	closed bool
}

// startJob starts a command in the background. It outlives the context of the call: it ends
// by itself, by KillShell or with the set.
func (s *Set) startJob(command string, u *use) (string, error) {
	ctx, stop := context.WithCancel(context.Background())
	j, err := s.newJob(command, stop)
	if err != nil {
		stop()
		return "", err
	}
	own, record := *u, u.record
	u.record = nil // it is sealed when the job has ended
	go func() {
		defer close(j.over)
		defer stop()
		j.err = s.confined(ctx, &own, s.shell(command, u.call.Dir, j.out), j.out)
		if err := j.out.f.Close(); j.err == nil {
			j.err = err
		}
		if record != nil {
			_, err := record.Seal(context.WithoutCancel(ctx))
			j.err = errors.Join(j.err, err)
		}
	}()
	return fmt.Sprintf(
		"started in the background as %s; it prints to %s; see BashOutput and KillShell", j.id, j.file,
	), nil
}

var errClosed = errors.New("the session is over: no command can start")

// newJob makes a job with its output file.
func (b *jobs) newJob(command string, stop context.CancelFunc) (*job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errClosed
	}
	running := 0
	for _, j := range b.byID {
		if !j.ended() {
			running++
		}
	}
	if running >= maxJobs {
		return nil, fmt.Errorf("%d commands already run in the background", running)
	}
	id := fmt.Sprintf("bash_%d", b.last+1)
	file := filepath.Join(b.scratch, id+".out")
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("output of a background command: %w", err)
	}
	b.last++
	j := &job{id: id, command: command, file: file, out: &capped{f: f}, stop: stop, over: make(chan struct{})}
	b.byID[id] = j
	return j, nil
}

func (j *job) ended() bool {
	select {
	case <-j.over:
		return true
	default:
		return false
	}
}

// state describes the state of a job in a few words.
func (j *job) state() string {
	if !j.ended() {
		return "running"
	}
	if j.err == nil {
		return "ended: exit code 0"
	}
	if errors.Is(j.err, context.Canceled) {
		return "ended: stopped"
	}
	return "ended: " + j.err.Error()
}

func (b *jobs) job(in input, names ...string) (*job, error) {
	id, err := in.must(names...)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if j, ok := b.byID[id]; ok {
		return j, nil
	}
	return nil, fmt.Errorf("unknown background command %q", id)
}

func (b *jobs) jobOutput(_ context.Context, u *use) (string, error) {
	j, err := b.job(u.in, "bash_id", "shell_id")
	if err != nil {
		return "", err
	}
	state := j.state() // read before the file, because no output may follow "ended"
	b.mu.Lock()
	defer b.mu.Unlock()
	size, dropped := j.out.written()
	text, err := readFrom(j.file, j.seen, min(size-j.seen, maxJobOutput))
	if err != nil {
		return "", err
	}
	j.seen += int64(len(text))
	var out strings.Builder
	fmt.Fprintf(&out, "[%s: %s]\n%s", j.id, state, text)
	switch {
	case j.seen < size:
		fmt.Fprintf(&out, "\n[%d bytes more: call again]", size-j.seen)
	case dropped > 0:
		fmt.Fprintf(&out, "\n[%d bytes did not fit into the file]", dropped)
	}
	return out.String(), nil
}

func readFrom(file string, offset, size int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, offset, size))
	if int64(len(text)) == maxJobOutput {
		text = wholeRunes(text)
	}
	return text, err
}

func (b *jobs) jobKill(ctx context.Context, u *use) (string, error) {
	j, err := b.job(u.in, "shell_id", "bash_id")
	if err != nil {
		return "", err
	}
	if j.ended() {
		return fmt.Sprintf("%s has ended before: %s", j.id, j.state()), nil
	}
	j.stop()
	select {
	case <-j.over:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	return fmt.Sprintf("%s is stopped", j.id), nil
}

// A Job is a command in the background, for people to look at.
type Job struct{ ID, Command string }

// Running returns the background commands that still run, the oldest first.
func (b *jobs) Running() []Job {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Job
	for n := range b.last {
		if j := b.byID[fmt.Sprintf("bash_%d", n+1)]; j != nil && !j.ended() {
			all = append(all, Job{ID: j.id, Command: j.command})
		}
	}
	return all
}

// Wait waits for the background commands to end by themselves, and reports whether
// all did within the time.
func (b *jobs) Wait(ctx context.Context, longest time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	for _, j := range b.all() {
		select {
		case <-j.over:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// Stop ends the background commands and waits until they have ended.
func (b *jobs) Stop() {
	all := b.all()
	for _, j := range all {
		j.stop()
	}
	for _, j := range all {
		<-j.over
	}
}

// Close is Stop for good: no command can be started in the background afterwards.
func (b *jobs) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.Stop()
}

func (b *jobs) all() []*job {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Values(b.byID))
}
