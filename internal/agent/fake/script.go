package fake

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// A Turn is one reply of the script. Its fields mean the same as in scripts of `script:`.
type Turn struct {
	Text    string  `json:"text"`
	Calls   []Call  `json:"calls"`
	DelayMS float64 `json:"delay_ms"`

	Thinking string `json:"thinking"` // before all else, signed or encrypted
	Stop     string `json:"stop"`     // "cut": at the longest reply; "refused": by the provider
	// Faults happen to the first requests for this turn, one each, instead of the reply.
	Faults []Fault `json:"faults"`
}

// A Call is a call of a tool. Raw, if set, is sent in place of the input, even if it is not JSON.
type Call struct {
	ID    string          `json:"id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	Raw   *string         `json:"raw"`
}

// arguments returns the input as sent.
func (c *Call) arguments() string {
	switch {
	case c.Raw != nil:
		return *c.Raw
	case len(c.Input) == 0:
		return "{}"
	}
	return string(c.Input)
}

// A Fault is a failure of one request.
type Fault string

// The faults. Those of the second group happen in the middle of a reply.
const (
	faultKey      Fault = "key"        // 401
	faultRights   Fault = "rights"     // 403
	faultModel    Fault = "model"      // 404
	faultRequest  Fault = "request"    // 400
	faultTooLong  Fault = "too_long"   // 400; the conversation does not fit
	faultLimit    Fault = "rate_limit" // 429; retry at once
	faultLongWait Fault = "long_wait"  // 429; retry in two hours
	faultOverload Fault = "overloaded" // 529 or 503
	faultServer   Fault = "server"     // 500
	faultSilence  Fault = "silence"    // nothing until the client leaves
	faultRedirect Fault = "redirect"   // 307, to this server under another name

	faultBreak Fault = "disconnect" // the connection ends
	faultEvent Fault = "error"      // an event that reports an overloaded server
	faultHang  Fault = "hang"       // nothing more until the client leaves
	faultFlood Fault = "flood"      // text without end, until the client leaves
)

var faults = []Fault{
	faultKey, faultRights, faultModel, faultRequest, faultTooLong, faultLimit, faultLongWait, faultOverload,
	faultServer, faultSilence, faultRedirect,
	faultBreak, faultEvent, faultHang, faultFlood,
}

// ReadScript reads the turns from a file.
func ReadScript(file string) ([]Turn, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var turns []Turn
	if err := json.Unmarshal(data, &turns); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i, t := range turns {
		for _, f := range t.Faults {
			if !slices.Contains(faults, f) {
				return nil, fmt.Errorf("%s: turn %d: no such fault: %q", file, i+1, f)
			}
		}
	}
	return turns, nil
}

// pieces cuts a text into several pieces, between characters.
func pieces(text string) []string {
	var cut []string
	for len(text) > 0 {
		n := min(len(text), 1+len(text)/3)
		for n < len(text) && text[n]&0xc0 == 0x80 {
			n++ // JSON cannot carry half a character
		}
		cut, text = append(cut, text[:n]), text[n:]
	}
	return cut
}
