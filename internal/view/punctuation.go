package view

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wide are the marks of Chinese, by the English ones with the blanks around them.
var wide = map[string]string{": ": "：", ":": "：", ", ": "，", "; ": "；"}

// Joined puts a mark (": ", ", ", "; " or ":") between two texts, in the style of their
// language.
func Joined(before, mark, after string) string {
	if full, is := wide[mark]; is && (endsChinese(before) || beginsChinese(after)) {
		mark = full
	}
	return before + mark + after
}

// Capitalized begins a text with a capital letter.
func Capitalized(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// List joins texts, each with the mark that its neighbours ask for.
func List(texts []string, mark string) string {
	var list string
	for i, text := range texts {
		if i == 0 {
			list = text
			continue
		}
		list = Joined(list, mark, text)
	}
	return list
}

// Bracketed puts a text in brackets behind another.
func Bracketed(before, text string) string {
	if endsChinese(before) || beginsChinese(text) || endsChinese(text) {
		return before + "（" + text + "）"
	}
	return before + " (" + text + ")"
}

func beginsChinese(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return chinese(r)
}

func endsChinese(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return chinese(r)
}

// chinese reports whether a character is a Chinese one, or a mark of Chinese.
func chinese(r rune) bool {
	return unicode.Is(unicode.Han, r) || strings.ContainsRune("，：；。？！、（）“”「」", r)
}
