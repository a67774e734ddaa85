package host

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// MaxPayload is the largest payload that is read. The reader at the edge stops
// there too. Real payloads of 3 MB have been seen: a file being written whole.
const MaxPayload = 10 << 20

// readPayload reads a payload as one JSON object.
func readPayload(payload []byte) (strictjson.Object, error) {
	if len(payload) > MaxPayload {
		return nil, umpire.Errorf("payload of %d bytes is larger than %d", len(payload), MaxPayload)
	}
	return strictjson.ReadObject(payload)
}
