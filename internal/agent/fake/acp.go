package fake

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// A message is any message of the protocol.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// An acpStream is one side of a connection.
type acpStream struct {
	in *bufio.Scanner

	mu  sync.Mutex
	out io.Writer
}

func newStream(in io.Reader, out io.Writer) *acpStream {
	s := bufio.NewScanner(in)
	const longest = 64 << 20
	s.Buffer(nil, longest)
	return &acpStream{in: s, out: out}
}

func (s *acpStream) next() (m message, ok bool) {
	for s.in.Scan() {
		if json.Unmarshal(s.in.Bytes(), &m) == nil {
			return m, true
		}
	}
	return m, false
}

func (s *acpStream) write(m message) {
	m.Version = "2.0"
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "%s\n", line)
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// AgentMain is the agent. A prompt is a list of requests, which it sends one after another,
// replacing {{S}}, {{T}} and {{D}} by its session, an id for a call and its folder; "die" ends it.
func AgentMain() {
	s := newStream(os.Stdin, os.Stdout)
	answers := make(chan message, 1)
	turn := 0
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		m, ok := s.next()
		if !ok {
			return
		}
		switch m.Method {
		case "":
			answers <- m
		case "initialize":
			s.write(message{ID: m.ID, Result: encode(map[string]any{"protocolVersion": 1})})
		case "session/new":
			s.write(message{ID: m.ID, Result: encode(map[string]any{"sessionId": "talk"})})
		case "session/prompt":
			turn++
			go play(s, m, turn, dir, answers)
		}
	}
}

// play sends the requests of a prompt.
func play(s *acpStream, m message, turn int, dir string, answers <-chan message) {
	var about struct {
		Prompt []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	}
	if err := json.Unmarshal(m.Params, &about); err != nil {
		panic(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(about.Prompt[0].Text), "\n") {
		method, params, _ := strings.Cut(line, " ")
		if method == "die" {
			os.Exit(7)
		}
		id := fmt.Sprintf("tool-%d-%d", turn, i)
		params = strings.NewReplacer("{{S}}", "talk", "{{T}}", id, "{{D}}", dir).Replace(params)
		s.write(message{ID: encode(i), Method: method, Params: json.RawMessage(params)})
		answer := <-answers
		told := encode(map[string]any{"sessionId": "talk", "update": map[string]any{
			"sessionUpdate": "agent_message_chunk",
			"content":       map[string]any{"type": "text", "text": string(answer.Result) + string(answer.Error)},
		}})
		s.write(message{Method: "session/update", Params: told})
		done := map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"}
		s.write(message{Method: "session/update", Params: encode(map[string]any{"sessionId": "talk", "update": done})})
	}
	s.write(message{ID: m.ID, Result: encode(map[string]any{"stopReason": "end_turn"})})
}

// EditorMain is the editor: ANSWER FILE COMMAND... It starts the command as its agent, sends the
// text of the file as a prompt, answers questions with the option of the kind ANSWER, and carries
// out requests. It prints everything it receives.
func EditorMain() {
	answer, file, command := os.Args[1], os.Args[2], os.Args[3:]
	prompt, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx,gosec // a test names it
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	s := newStream(out, in)
	s.write(message{ID: encode(1), Method: "initialize", Params: encode(map[string]any{"protocolVersion": 1})})
	for {
		m, ok := s.next()
		if !ok {
			fmt.Println("the agent has ended:", cmd.Wait())
			return
		}
		switch {
		case m.Method != "":
			doRequest(s, m, answer)
		case string(m.ID) == "1":
			open := encode(map[string]any{"cwd": dir, "mcpServers": []string{}})
			s.write(message{ID: encode(2), Method: "session/new", Params: open})
		case string(m.ID) == "2":
			text := []any{map[string]any{"type": "text", "text": string(prompt)}}
			s.write(message{ID: encode(3), Method: "session/prompt",
				Params: encode(map[string]any{"sessionId": "talk", "prompt": text})})
		case string(m.ID) == "3":
			fmt.Printf("turn: %s\n", m.Result)
			in.Close() //nolint:errcheck // it is over
		}
	}
}

// doRequest carries out a request of the agent.
func doRequest(s *acpStream, m message, answer string) {
	var p struct {
		Path    string   `json:"path"`
		Content string   `json:"content"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Update  struct {
			Content struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"update"`
		ToolCall struct {
			Title string `json:"title"`
		} `json:"toolCall"`
		Options []struct {
			OptionID string `json:"optionId"`
			Kind     string `json:"kind"`
		} `json:"options"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		panic(err)
	}
	result := any(map[string]any{})
	switch m.Method {
	case "session/update":
		if text := p.Update.Content.Text; text != "" {
			fmt.Printf("agent got: %s\n", text)
		}
		return
	case "session/request_permission":
		fmt.Printf("dialog: %s\n", p.ToolCall.Title)
		for _, o := range p.Options {
			if o.Kind == answer {
				result = map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": o.OptionID}}
			}
		}
	case "fs/read_text_file":
		fmt.Printf("reads: %s\n", p.Path)
		result = map[string]any{"content": "some text"}
	case "fs/write_text_file":
		fmt.Printf("writes: %s: %s\n", p.Path, p.Content)
		result = nil
	case "terminal/create":
		fmt.Printf("runs: %s %q\n", p.Command, p.Args)
		result = map[string]any{"terminalId": "one"}
	}
	s.write(message{ID: m.ID, Result: encode(result)})
}
