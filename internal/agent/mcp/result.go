package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/umpirehq/umpire"
)

// errSaid means that the server marked its own answer as an error.
var errSaid = errors.New("the tool failed")

// resultText converts a server's answer to text. It only names content other than text.
func resultText(r *sdk.CallToolResult) (string, error) {
	if r.NeedsInput() {
		return "", errors.New(
			"the server wants to ask the user or the model a question first, which umpire refuses",
		)
	}
	var parts []string
	structured := r.StructuredContent
	for _, c := range r.Content {
		parts = append(parts, partText(c))
		if text, ok := c.(*sdk.TextContent); ok && structured != nil && meansValue(text.Text, structured) {
			structured = nil // most servers repeat it as text
		}
	}
	if structured != nil {
		text, err := json.Marshal(structured)
		if err != nil {
			return "", umpire.Errorf("structured content: %w", err)
		}
		parts = append(parts, string(text))
	}
	text := strings.Join(parts, "\n")
	if r.IsError {
		return text, errSaid
	}
	return text, nil
}

// meansValue reports whether a text is the JSON of a value.
func meansValue(text string, value any) bool {
	var said any
	return json.Unmarshal([]byte(text), &said) == nil && reflect.DeepEqual(said, value)
}

// partText returns one piece of an answer as text.
func partText(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return nameOmitted("image", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return nameOmitted("audio", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return fmt.Sprintf("[a resource that can be read at %s: %s]", stripInvisible(c.URI), stripInvisible(c.Name))
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return "[an empty resource]"
		}
		if len(c.Resource.Blob) > 0 {
			return nameOmitted("resource "+stripInvisible(c.Resource.URI), c.Resource.MIMEType, len(c.Resource.Blob))
		}
		return c.Resource.Text
	}
	return "[content of a kind that is not known]"
}

// nameOmitted describes omitted content.
func nameOmitted(what, mime string, size int) string {
	return fmt.Sprintf("[%s, %s, %d bytes: not shown]", what, stripInvisible(mime), size)
}

// stripInvisible removes characters that a terminal would obey or a person would not see: with
// them, a description could tell a model something else than a person.
func stripInvisible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == unicode.ReplacementChar, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}
