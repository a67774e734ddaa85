package policy

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// The two tools that the suffix limit of a profile is about.
const (
	suffixEdit       = "filesystem-edit"
	suffixEditSearch = "filesystem-edit_search"
)

// EditsEach reports whether the tool edits the files that the suffix limit and deny rules
// leave, and skips the others. Every other tool does all of a call or nothing.
func EditsEach(tool string) bool { return tool == suffixEdit || tool == suffixEditSearch }

// limits reports whether the profile's suffixes apply to an access of a tool.
func (p *Profile) limits(tool string, a *umpire.Access) bool {
	if !a.Paths() || a.Target == "" {
		return false
	}
	return EditsEach(tool) || p.AllWrites && a.Kind != umpire.KindRead && a.Place != umpire.PlaceHarmless
}

// suffixesOf are the file names by whose suffixes an access is judged: the one that was
// asked for and the one it resolves to. Of a tree only a tool that changes nothing but
// certain kinds of files is known by those.
func suffixesOf(a *umpire.Access) []string {
	if len(a.Kinds) > 0 {
		names := make([]string, len(a.Kinds))
		for i, kind := range a.Kinds {
			names[i] = "x." + strings.TrimPrefix(kind, ".")
		}
		return names
	}
	names := []string{a.Target}
	if a.Resolved != "" {
		names = append(names, a.Resolved)
	}
	return names
}

// NormalizeSuffixes brings configured suffixes to the form they are compared
// in: trimmed, lower case, with a dot in front, without doubles, in the given
// order. "*.rs" is what people write for ".rs", and is taken for it. Empty items and single dots
// are dropped; when nothing is left nothing is restricted.
func NormalizeSuffixes(items []string) []string {
	normal := []string{}
	for _, item := range items {
		item = strings.ToLower(strings.TrimSpace(item))
		if rest, isGlob := strings.CutPrefix(item, "*."); isGlob && rest != "" {
			item = "." + rest
		}
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

// FitsNoFile reports whether a normalised suffix is one that no file has: a file's suffix
// begins at its last dot, and is not a pattern.
func FitsNoFile(suffix string) bool {
	return strings.LastIndexByte(suffix, '.') > 0 || strings.ContainsAny(suffix, `*?[]/\`)
}

// SuffixRefusal reports whether the profile's suffixes refuse editing the file,
// and what says so. No suffixes refuse nothing.
func SuffixRefusal(path string, allowed []string) (said umpire.Phrase, refused bool) {
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
	return umpire.Say("你没有权限编辑 %s 类型文件的权限,请注意你的任务权限范围", shown), true
}

// treeRefusal refuses a change of everything below a folder, whatever its name, unless
// the suffixes restrict nothing.
func treeRefusal(path string, allowed []string) (said umpire.Phrase, refused bool) {
	if len(NormalizeSuffixes(allowed)) == 0 {
		return "", false
	}
	return umpire.Say("你没有权限编辑 %s 类型文件的权限,请注意你的任务权限范围", path[strings.LastIndexAny(path, `/\`)+1:]), true
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
