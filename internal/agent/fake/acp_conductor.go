package fake

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// ConductorMain leads a chain of one proxy: PROXY AGENT, each a command with its arguments. It
// speaks with its editor over the standard streams, and ends with it.
func ConductorMain() {
	proxy, agent := startProgram(os.Args[1]), startProgram(os.Args[2])
	editor := newStream(os.Stdin, os.Stdout)
	var reading sync.WaitGroup
	reading.Go(func() {
		for m, ok := proxy.next(); ok; m, ok = proxy.next() {
			passOn(m, editor, agent)
		}
	})
	go func() {
		for m, ok := agent.next(); ok; m, ok = agent.next() {
			if m.Method != "" {
				m.Params = encode(message{Method: m.Method, Params: m.Params})
				m.Method, m.ID = "_proxy/successor", markID("a", m.ID)
			}
			proxy.write(m)
		}
	}()
	for m, ok := editor.next(); ok; m, ok = editor.next() {
		if m.Method != "" {
			m.ID = markID("e", m.ID)
		}
		if m.Method == "initialize" {
			m.Method = "_proxy/initialize"
		}
		proxy.write(m)
	}
	proxy.hangUp()
	reading.Wait()
	agent.hangUp()
}

// passOn passes a message of the proxy to its recipient.
func passOn(m message, editor, agent *acpStream) {
	switch {
	case m.Method == "_proxy/successor":
		inner := message{}
		if err := json.Unmarshal(m.Params, &inner); err != nil {
			panic(err)
		}
		agent.write(message{ID: m.ID, Method: inner.Method, Params: inner.Params})
	case m.Method != "":
		editor.write(m)
	default:
		var id string
		if err := json.Unmarshal(m.ID, &id); err != nil {
			panic(err)
		}
		to := editor
		if id[0] == 'a' {
			to = agent
		}
		m.ID = json.RawMessage(id[1:])
		to.write(m)
	}
}

// markID makes the ids of one side differ from those of the other; a notification stays without an id.
func markID(side string, id json.RawMessage) json.RawMessage {
	if id == nil {
		return nil
	}
	return encode(side + string(id))
}

// startProgram starts a command, and returns the stream to it.
func startProgram(command string) *acpStream {
	words := strings.Fields(command)
	cmd := exec.Command(words[0], words[1:]...) //nolint:noctx,gosec // a test names it
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
	return newStream(out, in)
}

// hangUp closes the output.
func (s *acpStream) hangUp() {
	if c, is := s.out.(interface{ Close() error }); is {
		c.Close() //nolint:errcheck // it may have ended
	}
}
