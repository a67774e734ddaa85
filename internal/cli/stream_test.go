package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A stream is an `umpire check --stdin` that runs during a script.
type stream struct {
	in      io.WriteCloser
	answers chan string
}

// streamKey is the key of a script's stream.
type streamKey struct{}

// The time that anything may take on a machine that is busy, and that within which a change of
// the rules has to show.
const (
	answerTime = 2 * time.Minute
	changeTime = 2 * time.Second
)

// stream ARGS...: starts umpire check --stdin, until the script ends.
func scriptStream(ts *testscript.TestScript, _ bool, args []string) {
	cmd := exec.Command(umpireIn(ts), append([]string{"check", "--stdin"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "PATH", "UMPIRE_HOME"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	s := ts.Value(streamKey{}).(*stream)
	s.in, s.answers = in, make(chan string, 1)
	go func() {
		defer close(s.answers)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			s.answers <- lines.Text()
		}
	}()
	ts.Defer(func() {
		in.Close()
		for range s.answers { // the reader ends when the program does
		}
		if err := cmd.Wait(); err != nil {
			ts.Logf("umpire check --stdin: %v", err)
		}
	})
}

// umpireIn finds the umpire that the script would run.
func umpireIn(ts *testscript.TestScript) string {
	path, err := programIn(ts.Getenv("PATH"))
	ts.Check(err)
	return path
}

func programIn(folders string) (string, error) {
	for _, dir := range filepath.SplitList(folders) {
		if path, err := exec.LookPath(filepath.Join(dir, "umpire")); err == nil {
			return path, nil
		}
	}
	return "", errors.New("umpire is not on PATH")
}

// ask sends a line and returns its answer.
func (s *stream) ask(ts *testscript.TestScript, line string) string {
	_, err := io.WriteString(s.in, line+"\n")
	ts.Check(err)
	select {
	case answer, ok := <-s.answers:
		if !ok {
			ts.Fatalf("the stream has ended")
		}
		return answer
	case <-time.After(answerTime):
		ts.Fatalf("no answer within %v to %.200s", answerTime, line)
	}
	return ""
}

// call VERDICT LINE: the stream answers the line with that verdict.
func scriptCall(ts *testscript.TestScript, _ bool, args []string) {
	answer := ts.Value(streamKey{}).(*stream).ask(ts, args[1])
	fmt.Fprintln(ts.Stdout(), answer)
	if got := decodeAnswer(ts, answer)["verdict"]; got != args[0] {
		ts.Fatalf("want %s, got %s", args[0], answer)
	}
}

// await VERDICT LINE: the answer to the line becomes that verdict in time.
func scriptAwait(ts *testscript.TestScript, _ bool, args []string) {
	s, began := ts.Value(streamKey{}).(*stream), time.Now()
	for {
		late := time.Since(began) > changeTime // when it is asked; the answer may take its time
		answer := s.ask(ts, args[1])
		if decodeAnswer(ts, answer)["verdict"] == args[0] {
			fmt.Fprintln(ts.Stdout(), answer)
			return
		}
		if late {
			ts.Fatalf("want %s within %v, still %s", args[0], changeTime, answer)
		}
	}
}
