package gate

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// The texts for the model about calls that did not run.
const (
	deniedWithReason = `[Tool Denied] The user denied the "{NAME}" tool call (ID: {ID}). Reason: {REASON}. ` +
		`Please adjust your approach.`
	deniedPlain = `[Tool Denied] The user denied the "{NAME}" tool call (ID: {ID}). ` +
		`Please try a different approach or ask the user for guidance.`
	cancelledText = `[Tool Cancelled] The user cancelled the "{NAME}" tool call (ID: {ID}) and stopped the turn.`
	timeoutText   = `[Tool Denied] Nobody answered for the "{NAME}" tool call (ID: {ID}) in time. ` +
		`Please try a different approach or ask the user for guidance.`
	refusedText = `Error: Tool "{NAME}" was denied. {REASON}`
	unknownText = `[Outcome Unknown] The "{NAME}" tool call (ID: {ID}) was started, and it is not known whether ` +
		`it ran. Inspect the state of things before trying again.`
	settledDoneText = `[Outcome Settled] The "{NAME}" tool call (ID: {ID}) was interrupted. ` +
		`The user says that it was done. {REASON}`
	settledNotText = `[Outcome Settled] The "{NAME}" tool call (ID: {ID}) was interrupted. ` +
		`The user says that it was not done. {REASON}`
)

// fillIn inserts a call's name, its id and a reason into a text. The inserted values are not
// expanded again.
func fillIn(text, tool string, id umpire.CallID, reason string) string {
	filled := strings.NewReplacer("{NAME}", tool, "{ID}", string(id), "{REASON}", reason).Replace(text)
	return strings.TrimSpace(filled)
}

// denialText returns the text that tells the model why a call did not run, chosen by reason code.
func denialText(tool string, id umpire.CallID, code umpire.ReasonCode, said umpire.Phrase) string {
	text, reason := refusedText, catalogue.English.Text(said)
	switch code {
	case umpire.CodeCancelled:
		text = cancelledText
	case umpire.CodeTimeout:
		text = timeoutText
	case umpire.CodeSuffix:
		return reason // a fixed text, and nothing around it
	case umpire.CodeDenied:
		text = deniedWithReason
		if reason == "" {
			text = deniedPlain
		}
	default:
		if said.Is(policy.NobodyConfirms) {
			return reason
		}
	}
	return fillIn(text, tool, id, reason)
}

// fileResults returns one result for each file of a list if the suffix limit or a deny rule refused
// all of them, in the form that the tool uses for a partial refusal. It returns "" for other calls.
func fileResults(j *judged) string {
	var in struct {
		Files []json.RawMessage `json:"filePath"`
	}
	refused := []umpire.ReasonCode{umpire.CodeSuffix, umpire.CodeBlocked}
	if !policy.EditsEach(j.call.Tool) || !slices.Contains(refused, j.decision.ReasonCode) ||
		json.Unmarshal(j.call.Input, &in) != nil || len(in.Files) != len(j.decision.Accesses) {
		return ""
	}
	type result struct {
		Path    string `json:"path"`
		Edited  bool   `json:"edited"`
		Message string `json:"message"`
	}
	results := make([]result, len(in.Files))
	for i, raw := range in.Files {
		var file struct {
			Path string `json:"path"`
		}
		if json.Unmarshal(raw, &file) != nil && json.Unmarshal(raw, &file.Path) != nil {
			return ""
		}
		results[i].Path = file.Path
	}
	for _, r := range slices.Backward(j.decision.Reasons) {
		if r.Access >= 0 && r.Access < len(results) {
			results[r.Access].Message = catalogue.English.Text(r.Text) // the first reason about an access settles it
		}
	}
	return string(data(map[string]any{"results": results}))
}

// statusOf returns the result status for a reason code.
func statusOf(code umpire.ReasonCode) umpire.ResultStatus {
	switch code {
	case umpire.CodeCancelled, umpire.CodeLeftToHost:
		return umpire.ResultCancelled
	case umpire.CodeTimeout:
		return umpire.ResultTimeout
	}
	return umpire.ResultDenied
}
