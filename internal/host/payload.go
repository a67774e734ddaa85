package host

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// readPayload reads a payload as one JSON object.
func readPayload(payload []byte) (strictjson.Object, error) {
	if len(payload) > relay.MaxPayload {
		return nil, umpire.Errorf("payload of %d bytes is larger than %d", len(payload), relay.MaxPayload)
	}
	return strictjson.ReadObject(payload)
}
