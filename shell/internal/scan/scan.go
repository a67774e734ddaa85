package scan

import "strings"

// HasField reports whether a space-separated list contains a word.
func HasField(list, name string) bool {
	if !strings.Contains(list, name) {
		return false // the usual case, and checked several characters at a time
	}
	for list != "" {
		field := list
		for i := range len(list) {
			if list[i] == ' ' {
				field = list[:i]
				break
			}
		}
		if field == name {
			return true
		}
		list = list[min(len(field)+1, len(list)):]
	}
	return false
}

// BracketList returns the length of a bracket list after its opening, including its end. It
// returns -1 if the list does not end on its line or contains more than names of classes.
func BracketList(text string) int {
	i := 0
	if strings.HasPrefix(text, "^") {
		i++
	}
	if strings.HasPrefix(text[i:], "]") {
		i++
	}
	for i < len(text) && text[i] != '\n' {
		switch {
		case text[i] == ']':
			return i + 1
		case text[i] == '[' && i+1 < len(text) && strings.IndexByte(":.=", text[i+1]) >= 0:
			name, _, ended := strings.Cut(text[i+2:], ":]")
			if text[i+1] != ':' || !ended || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
				return -1
			}
			i += len("[:") + len(name) + len(":]")
		default:
			i++
		}
	}
	return -1
}

// IsLetter reports whether a byte may begin a variable's name.
func IsLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
