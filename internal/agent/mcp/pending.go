package mcp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/umpirehq/umpire"
)

// A pending is handed to a client to come back with while a person decides. It identifies umpire's
// call for the client's request. Its signature keeps it valid across restarts of both ends, and
// prevents forging one for another call.
type pending struct {
	Session umpire.SessionID `json:"session"`
	Call    umpire.CallID    `json:"call"`
	// Request is the digest of the tool's name and the arguments.
	Request string `json:"request"`
}

// requestDigest returns a digest of a request.
func requestDigest(tool string, arguments []byte) string {
	sum := sha256.Sum256([]byte(tool + "\x00" + string(arguments)))
	return hex.EncodeToString(sum[:])
}

// sign encodes a pending as signed text.
func (p *pending) sign(key []byte) (string, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(data)
	return text + "." + base64.RawURLEncoding.EncodeToString(mac(key, text)), nil
}

// readPending decodes a text from sign and checks that it is for this request.
func readPending(key []byte, text, request string) (pending, error) {
	body, signature, _ := strings.Cut(text, ".")
	sum, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(sum, mac(key, body)) {
		return pending{}, umpire.Errorf("requestState: umpire has not signed it")
	}
	data, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return pending{}, umpire.Errorf("requestState: %w", err)
	}
	var p pending
	if err := json.Unmarshal(data, &p); err != nil {
		return pending{}, umpire.Errorf("requestState: %w", err)
	}
	if p.Request != request {
		return pending{}, umpire.Errorf("requestState: it belongs to another call")
	}
	return p, nil
}

func mac(key []byte, text string) []byte {
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte("umpire mcp requestState 1\x00" + text))
	return sum.Sum(nil)
}
