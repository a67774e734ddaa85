// Package languages holds the texts of umpire in all languages but English, and finds the language of a person.
//
//	text := languages.Find("zh_CN.UTF-8")
//	text.Of("nothing waits")
//
// Each language is one gettext catalogue, such as zh_CN.po, which translators' tools open; adding a file adds a
// language. The key of a message is its English text in the program, with the verbs of package fmt, and %[2]s where
// the language wants another order. A word of a closed set, which may need several translations, has the name of the
// set as its context, such as "state".
//
// A catalogue is read when its language is first used. English needs none.
package languages

import (
	"embed"
	"slices"
	"strings"
	"sync"

	"github.com/chai2010/gettext-go/po"

	"github.com/umpirehq/umpire/internal/view/catalogue"
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
func Find(locale string) *catalogue.Language {
	tag, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(locale), "_", "-"), ".")
	first, _, _ := strings.Cut(tag, "-")
	tags := Tags()
	at := slices.IndexFunc(tags, func(known string) bool { return strings.ToLower(known) == tag })
	if at < 0 {
		at = slices.IndexFunc(tags, func(known string) bool { return strings.HasPrefix(known+"-", first+"-") })
	}
	if at <= 0 {
		return catalogue.English
	}
	return catalogue.New(sync.OnceValue(func() map[string]string { return readTexts(tags[at]) }))
}

// readTexts returns the texts of a language by the English ones.
func readTexts(tag string) map[string]string {
	texts := make(map[string]string)
	for _, message := range readMessages(tag) {
		key := message.MsgId
		if message.MsgContext != "" {
			key = message.MsgContext + " " + key
		}
		texts[key] = message.MsgStr
	}
	return texts
}

// readMessages returns the messages of a language's file. A test reads every file to its end.
func readMessages(tag string) []po.Message {
	data, _ := catalogues.ReadFile(strings.ReplaceAll(tag, "-", "_") + ".po") // it is part of the program
	file, err := po.Load(data)
	if err != nil {
		return nil
	}
	return file.Messages
}
