package policy

import (
	"encoding/json"

	"github.com/umpirehq/umpire"
)

// claimsField is the extra field with an MCP server's claims about a tool.
const claimsField = "annotations"

// anewField is the extra field that says that a tool's description has changed since its last
// call. Earlier approvals do not apply to the changed tool.
const anewField = "described_anew"

// claims are a server's statements about its own tool, named as in the protocol. The server is
// not trusted: umpire heeds warnings and ignores reassurances (readOnlyHint, idempotentHint).
type claims struct {
	Destructive bool `json:"destructiveHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// raiseRisk raises the risk of an MCP server's tool if the server itself warns. Only explicit
// claims count, because the protocol's defaults would make every tool dangerous. Unreadable
// claims count as a warning.
func raiseRisk(a umpire.Access, extra map[string]json.RawMessage) umpire.Access {
	if anew, ok := extra[anewField]; ok && string(anew) != "false" {
		a.Doubt = "its server describes the tool otherwise than when it was last called"
	}
	raw, ok := extra[claimsField]
	if !ok {
		return a
	}
	var said claims
	err := json.Unmarshal(raw, &said)
	switch {
	case err != nil:
		a.Reason = "calls a tool of an MCP server, whose annotations cannot be read"
	case said.Destructive:
		a.Reason = "calls a tool of an MCP server, which says that it may destroy something"
	case said.OpenWorld:
		a.Reason = "calls a tool of an MCP server, which says that it reaches out to others"
	default:
		return a
	}
	a.Risk = umpire.Worse(a.Risk, umpire.High)
	return a
}
