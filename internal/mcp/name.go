package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the longest name of a tool that every model takes.
const maxName = 64

// toolName is the name of a server's tool for models and rules. What models do not take
// in a name becomes an underscore; of a name that is too long the beginning stays, with
// a sum of the whole.
func toolName(server, tool string) string {
	name := "mcp__" + server + "__" + strings.Map(plainRune, tool)
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(tool))
	tail := "_" + hex.EncodeToString(sum[:4])
	return name[:maxName-len(tail)] + tail
}

func plainRune(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
		return r
	}
	return '_'
}
