package strictjson

import (
	"bytes"
	"encoding/json"
)

// EncodeLine returns v as one line of JSON, without HTML escapes. It returns nil for a value that
// JSON cannot represent, such as a channel.
func EncodeLine(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil
	}
	return b.Bytes()
}
