package editor

import (
	"testing"

	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// TestLink: a link of a chain does over one pair of streams the same as a separate proxy over two,
// with the agent's messages in envelopes.
func TestLink(t *testing.T) {
	t.Parallel()
	conductor := newEnd(t)
	editor, agent := NewLink(conductor.peer)
	p := &ACPProxy{Editor: editor, Agent: agent, Judge: &fakeJudge{answer: byWord}}
	go p.Run(t.Context())

	conductor.say(`{"jsonrpc":"2.0","id":0,"method":"_proxy/initialize","params":{"protocolVersion":1}}`)
	conductor.hears(`{"jsonrpc":"2.0","id":0,"method":"_proxy/successor","params":{"method":"initialize","params":{"protocolVersion":1}}}`)
	conductor.say(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
	conductor.hears(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)

	conductor.say(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/work"}}`)
	conductor.hears(`{"jsonrpc":"2.0","id":1,"method":"_proxy/successor","params":{"method":"session/new","params":{"cwd":"/work"}}}`)
	conductor.say(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"S"}}`)
	conductor.hears(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"S"}}`)

	wrapped := func(id int, command string) string {
		m, err := jsonrpc.Parse([]byte(asked(id, command, threeOptions)))
		if err != nil {
			t.Fatal(err)
		}
		line := closeEnvelope(&m)
		return string(line[:len(line)-1])
	}
	conductor.say("%s", wrapped(7, "bad"))
	conductor.hears(`{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"N"}}}`)
	conductor.say("%s", wrapped(8, "unsure"))
	conductor.hears(asked(8, "unsure", threeOptions))
	conductor.say(`{"jsonrpc":"2.0","id":8,"result":{"outcome":{"outcome":"selected","optionId":"Y"}}}`)
	conductor.hears(`{"jsonrpc":"2.0","id":8,"result":{"outcome":{"outcome":"selected","optionId":"Y"}}}`)

	conductor.say(`{"jsonrpc":"2.0","method":"_proxy/successor","params":{"method":"session/update","params":{"sessionId":"S"}}}`)
	conductor.hears(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S"}}`)
	conductor.say(`{"jsonrpc":"2.0","id":9,"method":"_proxy/successor","params":{"method":"_proxy/successor"}}`)
	conductor.hears(`{"jsonrpc":"2.0","id":9,"error":{"code":-32602,"message":"method: \"_proxy/successor\" cannot be in an envelope"}}`)
	conductor.say(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"S"}}`)
	conductor.hears(`{"jsonrpc":"2.0","method":"_proxy/successor","params":{"method":"session/cancel","params":{"sessionId":"S"}}}`)
}
