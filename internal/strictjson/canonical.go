package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Canonical returns a JSON value with sorted names and without blanks. Numbers stay as they
// are written. No input at all is an empty object. Text that is not UTF-8, half a character
// (an unpaired surrogate) and a name that is given twice in one object are errors.
func Canonical(input json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(input)) == 0 {
		return json.RawMessage("{}"), nil
	}
	w := walker{data: input, builds: true}
	value := w.document()
	if err := w.problem(); err != nil {
		return nil, err
	}
	if w.half {
		return nil, errors.New("it holds half a character")
	}
	if w.twice != nil {
		return nil, w.twice
	}
	return json.Marshal(value)
}
