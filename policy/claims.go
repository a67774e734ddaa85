package policy

import (
	"encoding/json"

	"github.com/umpirehq/umpire"
)

// claimsField is the extra field with what an MCP server says of a tool.
const claimsField = "annotations"

// anewField is the extra field that says that a tool is not described as it was when it
// was last called: what allowed that one does not speak of this one.
const anewField = "described_anew"

// claims are what a server says of its own tool, by the names of the protocol. They
// are a stranger's word: those that warn are taken, those that soothe (readOnlyHint,
// idempotentHint) are not read.
type claims struct {
	Destructive bool `json:"destructiveHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// raiseRisk is the access of a tool of an MCP server, of more risk where the server
// itself warns. Only what is said counts: the protocol's own defaults would make every
// tool dangerous. Claims that cannot be read warn as well.
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
		a.Reason = "a tool of an MCP server, whose annotations cannot be read"
	case said.Destructive:
		a.Reason = "a tool of an MCP server, which says that it may destroy something"
	case said.OpenWorld:
		a.Reason = "a tool of an MCP server, which says that it reaches out to others"
	default:
		return a
	}
	a.Risk = umpire.Worse(a.Risk, umpire.High)
	return a
}
