package editor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// A fakeJudge answers by the text of a call's input.
type fakeJudge struct {
	answer func(ctx context.Context, q Question) (Answer, error)

	mu    sync.Mutex
	asked []Question
	told  []Notice
}

func (j *fakeJudge) Decide(ctx context.Context, q Question) (Answer, error) {
	j.mu.Lock()
	j.asked = append(j.asked, q)
	j.mu.Unlock()
	return j.answer(ctx, q)
}

func (j *fakeJudge) Tell(_ context.Context, n Notice) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.told = append(j.told, n)
}

// byWord allows, asks or denies by a word in the input.
func byWord(_ context.Context, q Question) (Answer, error) {
	text := string(q.Call.Input)
	switch {
	case strings.Contains(text, "good"):
		return Answer{Reply: host.Allow}, nil
	case strings.Contains(text, "unsure"):
		return Answer{Reply: host.Ask, Reason: "not sure"}, nil
	}
	return Answer{Reason: "a bad thing"}, nil
}

// An end is one of the two programs, as a test plays it.
type end struct {
	t    testing.TB
	in   *bufio.Reader
	out  io.WriteCloser
	fed  io.Closer
	peer *jsonrpc.Peer // the proxy's view of it
}

func newEnd(t testing.TB) *end {
	t.Helper()
	fromProxy, toEnd := io.Pipe()
	fromEnd, toProxy := io.Pipe()
	t.Cleanup(func() { toProxy.Close(); fromProxy.Close() })
	return &end{t: t, in: bufio.NewReader(fromProxy), out: toProxy, fed: toEnd, peer: jsonrpc.NewPeer(fromEnd, toEnd)}
}

func (e *end) say(format string, args ...any) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.out, format+"\n", args...); err != nil {
		e.t.Fatal(err)
	}
}

func (e *end) hear() string {
	e.t.Helper()
	line, err := e.in.ReadString('\n')
	if err != nil {
		e.t.Fatalf("read: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (e *end) hears(want string) {
	e.t.Helper()
	if got := e.hear(); got != want {
		e.t.Fatalf("got  %s\nwant %s", got, want)
	}
}

// A stage is an editor and an agent with the proxy between them.
type stage struct {
	editor, agent *end
	judge         *fakeJudge
	done          chan error
}

func startProxy(t testing.TB, answer func(context.Context, Question) (Answer, error)) *stage {
	t.Helper()
	s := &stage{editor: newEnd(t), agent: newEnd(t), judge: &fakeJudge{answer: answer}, done: make(chan error, 1)}
	p := &ACPProxy{
		Editor: s.editor.peer, Agent: s.agent.peer, Judge: s.judge,
		HangUp: func() { s.agent.out.Close() }, // an agent whose editor is gone ends
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() { s.done <- p.Run(ctx) }()
	return s
}

// openSession opens the session S in /work.
func (s *stage) openSession() {
	open := `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/work","mcpServers":[]}}`
	s.editor.say("%s", open)
	s.agent.hears(open)
	opened := `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"S"}}`
	s.agent.say("%s", opened)
	s.editor.hears(opened)
}

const threeOptions = `"options":[{"optionId":"A","name":"always","kind":"allow_always"},` +
	`{"optionId":"Y","name":"yes","kind":"allow_once"},{"optionId":"N","name":"no","kind":"reject_once"}]`

func asked(id int, command, options string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"S",`+
		`"toolCall":{"toolCallId":"t%d","kind":"execute","rawInput":{"command":%q}},%s}}`, id, id, command, options)
}

func TestQuestionsAreAnsweredByKind(t *testing.T) {
	t.Parallel()
	s := startProxy(t, byWord)
	s.openSession()
	s.agent.say("%s", asked(7, "good", threeOptions))
	s.agent.hears(`{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"Y"}}}`)
	s.agent.say("%s", asked(8, "bad", threeOptions))
	s.agent.hears(`{"jsonrpc":"2.0","id":8,"result":{"outcome":{"outcome":"selected","optionId":"N"}}}`)
	unsure := asked(9, "unsure", threeOptions)
	s.agent.say("%s", unsure)
	s.editor.hears(unsure)
	answer := `{"jsonrpc":"2.0","id":9,"result":{"outcome":{"outcome":"selected","optionId":"A"}}}`
	s.editor.say("%s", answer)
	s.agent.hears(answer)
}

func TestWithoutAnOptionForOnceNothingIsChosen(t *testing.T) {
	t.Parallel()
	s := startProxy(t, byWord)
	s.openSession()
	always := `"options":[{"optionId":"A","name":"","kind":"allow_always"},{"optionId":"R","name":"","kind":"reject_always"}]`
	allowed := asked(7, "good", always)
	s.agent.say("%s", allowed)
	s.editor.hears(allowed)
	s.agent.say("%s", asked(8, "bad", always))
	if got := s.agent.hear(); !strings.Contains(got, `"error"`) || !strings.Contains(got, "a bad thing") {
		t.Errorf("got %s", got)
	}
	twice := asked(9, "good", `"options":[{"optionId":"Y","kind":"allow_once"},{"optionId":"Y","kind":"allow_always"}]`)
	s.agent.say("%s", twice)
	s.editor.hears(twice)
}

func TestFilesAndTerminals(t *testing.T) {
	t.Parallel()
	s := startProxy(t, byWord)
	s.openSession()
	write := `{"jsonrpc":"2.0","id":"w","method":"fs/write_text_file","params":{"sessionId":"S","path":"/work/a","content":"%s"}}`
	s.agent.say(write, "good")
	s.editor.hears(fmt.Sprintf(write, "good"))
	s.editor.say(`{"jsonrpc":"2.0","id":"w","result":null}`)
	s.agent.hears(`{"jsonrpc":"2.0","id":"w","result":null}`)
	s.agent.say(write, "bad")
	s.agent.hears(`{"jsonrpc":"2.0","id":"w","error":{"code":-32001,"message":"umpire: a bad thing"}}`)

	terminal := `{"jsonrpc":"2.0","id":5,"method":"terminal/create","params":{"sessionId":"S","command":"unsure","args":["a b"],"cwd":"/work/sub"}}`
	s.agent.say("%s", terminal)
	asked, err := jsonrpc.Parse([]byte(s.editor.hear()))
	if err != nil || asked.Method != methodPermission {
		t.Fatalf("asked %s: %v", asked.Raw, err)
	}
	s.editor.say(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}`, asked.ID)
	s.editor.hears(terminal)
	var judged []string // both ways in which an editor may run it
	for _, q := range s.judge.asked[len(s.judge.asked)-2:] {
		judged = append(judged, q.Call.Dir+string(q.Call.Input))
	}
	want := []string{`/work/sub{"command":"unsure 'a b'"}`, `/work/sub{"command":"unsure a b"}`}
	if !slices.Equal(judged, want) {
		t.Errorf("judged %q", judged)
	}
}

func TestUnknownMethodsOfFilesAreJudged(t *testing.T) {
	t.Parallel()
	s := startProxy(t, byWord)
	s.openSession()
	s.agent.say(`{"jsonrpc":"2.0","id":5,"method":"fs/remove","params":{"sessionId":"S","path":"/work/bad"}}`)
	if got := s.agent.hear(); !strings.Contains(got, "a bad thing") {
		t.Errorf("got %s", got)
	}
	s.agent.say(`{"jsonrpc":"2.0","method":"terminal/create","params":{"sessionId":"S","command":"good"}}`)
	s.agent.say(`{"jsonrpc":"2.0","id":6,"method":"terminal/output","params":{"sessionId":"S","terminalId":"1"}}`)
	s.editor.hears(`{"jsonrpc":"2.0","id":6,"method":"terminal/output","params":{"sessionId":"S","terminalId":"1"}}`)
}

func TestWhatWasAllowedMayBeDoneOnce(t *testing.T) {
	t.Parallel()
	s := startProxy(t, byWord)
	s.openSession()
	ask := asked(7, "unsure", threeOptions)
	s.agent.say("%s", ask)
	s.editor.hears(ask)
	yes := `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"Y"}}}`
	s.editor.say("%s", yes)
	s.agent.hears(yes)
	terminal := `{"jsonrpc":"2.0","id":%d,"method":"terminal/create","params":{"sessionId":"S","command":"unsure"}}`
	s.agent.say(terminal, 8)
	s.editor.hears(fmt.Sprintf(terminal, 8))
	s.agent.say(terminal, 9)
	if got := s.editor.hear(); !strings.Contains(got, methodPermission) {
		t.Errorf("the second time nobody is asked: %s", got)
	}
}

func TestUnreadableMessagesOfTheAgentStay(t *testing.T) {
	t.Parallel()
	s := startProxy(t, byWord)
	s.openSession()
	for _, line := range []string{
		`not JSON`, `[{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{}}]`,
		`{"jsonrpc":"2.0","id":5,"method":"x","method":"terminal/create","params":{"sessionId":"S","command":"bad"}}`,
		`{"jsonrpc":"2.0","id":5,"Method":"terminal/create","params":{"sessionId":"S","command":"bad"}}`,
	} {
		s.agent.say("%s", line)
		if got := s.agent.hear(); !strings.Contains(got, `"error"`) {
			t.Errorf("%s: %s", line, got)
		}
	}
	s.agent.say(`{"jsonrpc":"2.0","method":"terminal\/create","id":5,"params":{"sessionId":"S","command":"bad"}}`)
	if got := s.agent.hear(); !strings.Contains(got, "a bad thing") {
		t.Errorf("got %s", got)
	}
	s.agent.say(`{"jsonrpc":"2.0","method":"end"}`)
	s.editor.hears(`{"jsonrpc":"2.0","method":"end"}`)
}

// holdAll waits until the question is withdrawn.
func holdAll(ctx context.Context, _ Question) (Answer, error) {
	<-ctx.Done()
	return Answer{Reply: host.Allow}, nil
}

func TestCancelledTurn(t *testing.T) {
	t.Parallel()
	s := startProxy(t, holdAll)
	s.openSession()
	s.agent.say("%s", asked(7, "held", threeOptions))
	s.agent.say(`{"jsonrpc":"2.0","method":"passes","params":1}`)
	s.editor.hears(`{"jsonrpc":"2.0","method":"passes","params":1}`)
	cancel := `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"S"}}`
	s.editor.say("%s", cancel)
	got := []string{s.agent.hear(), s.agent.hear()}
	slices.Sort(got)
	want := []string{`{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"cancelled"}}}`, cancel}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	s.agent.say("%s", asked(8, "held", threeOptions))
	s.agent.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":8}}`)
	if got := s.agent.hear(); !strings.Contains(got, "-32800") {
		t.Errorf("got %s", got)
	}
}

func TestEitherDeathAllowsNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"editor", "agent"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startProxy(t, holdAll)
			s.openSession()
			s.agent.say("%s", asked(7, "held", threeOptions))
			want := error(nil)
			if name == "agent" {
				s.agent.out.Close()
				want = io.EOF
			} else {
				s.editor.out.Close()
			}
			if err := <-s.done; !errors.Is(err, want) {
				t.Errorf("ended with %v", err)
			}
			heard := make(chan string, 1)
			go func() { line, _ := s.agent.in.ReadString('\n'); heard <- line }()
			select {
			case line := <-heard:
				t.Errorf("the agent was told %q", line)
			case <-time.After(50 * time.Millisecond):
			}
		})
	}
}

// TestEverythingElseIsForwarded: a message that is not judged comes out on the other side byte for
// byte, in order, in both directions.
func TestEverythingElseIsForwarded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := startProxy(t, byWord)
		for _, way := range [][2]*end{{s.editor, s.agent}, {s.agent, s.editor}} {
			lines := rapid.SliceOfN(rapid.Custom(drawMessage), 1, 8).Draw(r, "lines")
			go func() {
				for _, line := range lines {
					way[0].say("%s", line)
				}
			}()
			for _, line := range lines {
				way[1].hears(line)
			}
		}
		s.agent.out.Close()
	})
}

func drawMessage(r *rapid.T) string {
	value := func(label string) string {
		text, err := json.Marshal(rapid.String().Draw(r, label))
		if err != nil {
			r.Fatal(err)
		}
		return string(text)
	}
	space := rapid.SampledFrom([]string{"", " ", "\t"}).Draw(r, "space")
	method := rapid.SampledFrom([]string{"session/update", "session/elicit", "_ext/x", "initialize", "terminal/kill"}).Draw(r, "method")
	id := rapid.SampledFrom([]string{"", `"id":"x",`, `"id":-3.50,`, `"id":null,`}).Draw(r, "id")
	return fmt.Sprintf(`{%s%s"x":%s,"jsonrpc":"2.0","method":%q,"params":{"a":%s}}`, id, space, value("x"), method, value("a"))
}

// TestOnlyOfferedOptions: the answer is always one of the options that the agent offered, and never
// one that lasts longer than once.
func TestOnlyOfferedOptions(t *testing.T) {
	t.Parallel()
	kinds := []string{"allow_once", "allow_always", "reject_once", "reject_always", "other", ""}
	rapid.Check(t, func(r *rapid.T) {
		offered := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) option {
			return option{rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(r, "id"), "", rapid.SampledFrom(kinds).Draw(r, "kind")}
		}), 0, 5).Draw(r, "options")
		params, err := json.Marshal(map[string]any{"options": offered})
		if err != nil {
			r.Fatal(err)
		}
		for _, kind := range []string{optionAllow, optionReject} {
			o, ok := pick(optionsOf(params), kind)
			same := func(each option) bool { return each.ID == o.ID }
			if ok && (o.Kind != kind || !slices.ContainsFunc(offered, same) || slices.ContainsFunc(offered, func(each option) bool { return each.ID == o.ID && each.Kind != kind })) {
				r.Fatalf("picked %v of %v", o, offered)
			}
		}
	})
}

// A request that is not forwarded is answered under its own id, and one that an editor could take
// for a judged one is not forwarded.
func TestRefusedRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	s := startProxy(t, byWord)
	for line, id := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"x","method":"terminal/create"}`:                               "7",
		`{"jsonrpc":"2.0","id":"a","Method":"terminal/create"}`:                                          `"a"`,
		`{"jsonrpc":"2.0","id":7,"method":"Terminal/create","params":{"sessionId":"S","command":"bad"}}`: "7",
		`{"jsonrpc":"2.0","id":7,"method":"fs/write_text_file\u200b","params":{"sessionId":"S"}}`:        "7",
		`{"jsonrpc":"2.0","id":7,"method":" fs/x"}`:                                                      "7",
		`{"jsonrpc":"2.0","id":[1],"method":"fs/x"}`:                                                     "null",
		`[{"jsonrpc":"2.0","id":7,"method":"terminal/create"}]`:                                          "null",
	} {
		s.agent.say("%s", line)
		if m, err := jsonrpc.Parse([]byte(s.agent.hear())); err != nil || string(m.ID) != id || m.Error == nil {
			t.Errorf("%s: %s, %v; want an error for %s", line, m.Raw, err, id)
		}
	}
}

// FuzzAgent gives the proxy any bytes as the agent's. What reaches the editor is never a
// request that is judged, unless the judge allowed it.
func FuzzAgent(f *testing.F) {
	f.Add(asked(7, "bad", threeOptions))
	f.Add(`{"jsonrpc":"2.0","id":5,"method":"terminal/create","params":{"sessionId":"S","command":"bad"}}`)
	f.Add("[]\n{}\nnull\n{\"method\":\"fs/x\"}")
	f.Fuzz(func(t *testing.T, said string) {
		s := startProxy(t, byWord)
		go io.Copy(io.Discard, s.agent.in)
		go func() {
			io.WriteString(s.agent.out, said+"\n")
			s.agent.out.Close()
		}()
		go func() {
			<-s.done
			s.editor.fed.Close()
		}()
		for {
			line, err := s.editor.in.ReadString('\n')
			if err != nil {
				return
			}
			var m struct {
				Method string `json:"method"`
			}
			if json.Unmarshal([]byte(line), &m) == nil && isJudged(m.Method) {
				t.Fatalf("forwarded %s", line)
			}
		}
	})
}
