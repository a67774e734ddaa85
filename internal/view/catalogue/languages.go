package catalogue

import (
	"embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed *.po
var catalogues embed.FS

// Tags returns the tags of all languages, such as en and zh-CN.
func Tags() []string {
	tags := []string{"en"}
	files, _ := catalogues.ReadDir(".") // it is part of the program
	for _, file := range files {
		tags = append(tags, strings.ReplaceAll(strings.TrimSuffix(file.Name(), ".po"), "_", "-"))
	}
	return tags
}

// Find returns the language of a tag or locale, such as zh-CN or zh_CN.UTF-8: the same one, or else the first one with
// the same first part. Without either it is English.
func Find(locale string) *Language {
	tag, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(locale), "_", "-"), ".")
	first, _, _ := strings.Cut(tag, "-")
	tags := Tags()
	at := slices.IndexFunc(tags, func(known string) bool { return strings.ToLower(known) == tag })
	if at < 0 {
		at = slices.IndexFunc(tags, func(known string) bool { return strings.HasPrefix(known+"-", first+"-") })
	}
	if at <= 0 {
		return English
	}
	return &Language{sync.OnceValue(func() map[string]string { return readTexts(tags[at]) })}
}

// readTexts returns the texts of a language by the English ones.
func readTexts(tag string) map[string]string {
	texts := make(map[string]string)
	for _, m := range readMessages(tag) {
		switch {
		case m.id == "": // the header
		case m.context != "":
			texts[m.context+" "+m.id] = m.text
		default:
			texts[m.id] = m.text
		}
	}
	return texts
}

// A message is an entry of a gettext catalogue.
type message struct{ context, id, text string }

// readMessages returns the messages of a language's file, with its header, up to a line that is malformed. A test reads
// every file to its end.
func readMessages(tag string) (all []message) {
	data, _ := catalogues.ReadFile(strings.ReplaceAll(tag, "-", "_") + ".po") // it is part of the program
	var keyword string
	var into *string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if word, _, found := strings.Cut(line, " "); found && line[0] != '"' {
			if keyword == "" || keyword == "msgstr" {
				all = append(all, message{})
			}
			keyword, line = word, strings.TrimPrefix(line, word+" ")
			m := &all[len(all)-1]
			into = map[string]*string{"msgctxt": &m.context, "msgid": &m.id, "msgstr": &m.text}[word]
		}
		text, err := strconv.Unquote(line)
		if into == nil || err != nil {
			return all
		}
		*into += text // a text may have several lines
	}
	return all
}
