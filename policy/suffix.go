package policy

import (
	"slices"
	"strings"
)

// The two tools that the suffix limit of a profile is about.
const (
	suffixEdit       = "filesystem-edit"
	suffixEditSearch = "filesystem-edit_search"
)

// suffixText is the refusal, in front of and behind what was refused. It is
// the same in every language.
const (
	suffixTextStart = "你没有权限编辑 "
	suffixTextEnd   = " 类型文件的权限,请注意你的任务权限范围"
)

// suffixLimited reports whether the suffix limit is about the tool.
func suffixLimited(tool string) bool { return tool == suffixEdit || tool == suffixEditSearch }

// NormalizeSuffixes brings configured suffixes to the form they are compared
// in: trimmed, lower case, with a dot in front, without doubles, in the given
// order. Empty items and single dots are dropped; when nothing is left nothing
// is restricted.
func NormalizeSuffixes(items []string) []string {
	normal := []string{}
	for _, item := range items {
		item = strings.ToLower(strings.TrimSpace(item))
		if item != "" && !strings.HasPrefix(item, ".") {
			item = "." + item
		}
		if item == "" || item == "." || slices.Contains(normal, item) {
			continue
		}
		normal = append(normal, item)
	}
	return normal
}

// SplitSuffixes reads suffixes that a person typed, separated by ASCII or
// Chinese commas, and normalises them.
func SplitSuffixes(text string) []string {
	return NormalizeSuffixes(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '，' }))
}

// SuffixRefusal reports whether the profile's suffixes refuse editing the file,
// and the text that says so. No suffixes refuse nothing.
func SuffixRefusal(path string, allowed []string) (text string, refused bool) {
	allowed = NormalizeSuffixes(allowed)
	if len(allowed) == 0 {
		return "", false
	}
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	suffix := suffixOf(name)
	if suffix != "" && slices.Contains(allowed, strings.ToLower(suffix)) {
		return "", false
	}
	shown := suffix
	if shown == "" {
		shown = name
	}
	return suffixTextStart + shown + suffixTextEnd, true
}

// suffixOf returns a file name's suffix from its last dot; a dot at the end
// makes none.
func suffixOf(name string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || dot == len(name)-1 {
		return ""
	}
	return name[dot:]
}
