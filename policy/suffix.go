package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// The two tools that the suffix limit of a profile applies to.
const (
	suffixEdit       = "filesystem-edit"
	suffixEditSearch = "filesystem-edit_search"
)

// EditsEach reports whether the tool edits the files that the suffix limit and deny rules
// permit, and skips the others. Every other tool does all of a call or nothing.
func EditsEach(tool string) bool { return tool == suffixEdit || tool == suffixEditSearch }

// limits reports whether the profile's suffixes apply to an access of a tool.
func (p *Profile) limits(tool string, a *umpire.Access) bool {
	if !a.Paths() || a.Target == "" {
		return false
	}
	return EditsEach(tool) || p.AllWrites && a.Kind != umpire.KindRead && a.Place != umpire.PlaceHarmless
}

// suffixesOf returns the file names whose suffixes decide about an access: the requested name
// and the one it resolves to. For a tool that changes only certain kinds of files in a tree, it
// returns those kinds.
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

// NormalizeSuffixes normalizes configured suffixes for comparison: trimmed, lower case, with a
// leading dot, without duplicates, in the given order. "*.rs" means ".rs". It drops empty items
// and single dots; an empty result restricts nothing.
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

// SplitSuffixes splits suffixes that a person typed, separated by ASCII or Chinese commas, and
// normalises them.
func SplitSuffixes(text string) []string {
	return NormalizeSuffixes(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '，' }))
}

// FitsNoFile reports whether no file can have a normalised suffix, because a file's suffix
// begins at its last dot and is not a pattern.
func FitsNoFile(suffix string) bool {
	return strings.LastIndexByte(suffix, '.') > 0 || strings.ContainsAny(suffix, `*?[]/\`)
}

// SuffixRefusal reports whether the profile's suffixes refuse editing the file, and returns the
// message. An empty list refuses nothing.
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
	return umpire.Say("你没有权限编辑 %s 类型文件的权限,请注意你的任务权限范围", cmp.Or(suffix, name)), true
}

// treeRefusal refuses a change of everything below a folder, regardless of its name, unless the
// suffixes restrict nothing.
func treeRefusal(path string, allowed []string) (said umpire.Phrase, refused bool) {
	if len(NormalizeSuffixes(allowed)) == 0 {
		return "", false
	}
	return umpire.Say("你没有权限编辑 %s 类型文件的权限,请注意你的任务权限范围", path[strings.LastIndexAny(path, `/\`)+1:]), true
}

// suffixOf returns a file name's suffix from its last dot; a trailing dot is not a suffix.
func suffixOf(name string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || dot == len(name)-1 {
		return ""
	}
	return name[dot:]
}
