package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the longest tool name that every model accepts.
const maxName = 64

// toolName returns the name of a server's tool for models and rules. Characters that models do not
// accept become underscores; a name that is too long is cut and gets a digest of the whole.
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
