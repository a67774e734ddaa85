package view

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
)

// FirstMessage returns the first message of a conversation's user, or "". It is not safe to show.
func FirstMessage(messages []umpire.Message) (text string) {
	for i := range messages {
		if m := &messages[i]; m.Role == "user" && json.Unmarshal(m.Content, &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// maxFirstWords is how many characters the first words of a text have.
const maxFirstWords = 60

// FirstWords returns the first words of a text, as a title for it. It is safe to show.
func FirstWords(text string) string {
	title := ""
	for word := range strings.FieldsSeq(text) {
		switch room := maxFirstWords - utf8.RuneCountInString(title); {
		case title == "" && utf8.RuneCountInString(word) > room:
			return Visible(string([]rune(word)[:room]) + "…")
		case title == "":
			title = word
		case utf8.RuneCountInString(word)+1 > room:
			return Visible(title + " …")
		default:
			title += " " + word
		}
	}
	return Visible(title)
}
