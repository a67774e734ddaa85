package drive

import (
	"encoding/json"
	"net/http"
)

// geminiWire is Gemini's generateContent.
type geminiWire struct{}

func (geminiWire) read(body []byte) (Request, error) {
	var q struct {
		Contents []struct {
			Role  string `json:"role"`
			Parts []struct {
				Text     string `json:"text"`
				Response *struct {
					ID       string          `json:"id"`
					Response json.RawMessage `json:"response"`
				} `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
		Tools []struct {
			Declarations []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return Request{}, err
	}
	r := Request{Results: map[string]Result{}}
	for _, tool := range q.Tools {
		for _, declared := range tool.Declarations {
			r.Tools = append(r.Tools, declared.Name)
		}
	}
	for _, content := range q.Contents {
		for _, part := range content.Parts {
			switch {
			case part.Response != nil:
				var said struct {
					Output string `json:"output"`
					Error  string `json:"error"`
				}
				_ = json.Unmarshal(part.Response.Response, &said) // another form is shown unchanged
				result := Result{Text: said.Output + said.Error, IsError: said.Error != ""}
				if result.Text == "" {
					result.Text = string(part.Response.Response)
				}
				r.Results[part.Response.ID] = result
			case content.Role == "user":
				r.First += part.Text
			}
		}
	}
	return r, nil
}

func (geminiWire) write(w http.ResponseWriter, _ string, stream bool, text string, calls Turn) {
	parts := []any{fields{"text": text}}
	for _, c := range calls {
		parts = append(parts, fields{"functionCall": fields{"id": c.ID, "name": c.Tool, "args": c.Input}})
	}
	content := fields{"role": "model", "parts": parts}
	response := fields{
		"candidates":    []any{fields{"index": 0, "content": content, "finishReason": "STOP"}},
		"modelVersion":  modelName,
		"usageMetadata": fields{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	if !stream {
		writeJSON(w, response)
		return
	}
	newEventStream(w).send("", response)
}
