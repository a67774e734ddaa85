package scan

import (
	"strings"
)

// Functions of Emacs Lisp, Scheme, Common Lisp and Clojure, whose name follows the bracket.
const (
	lispCommands = "shell-command shell-command-to-string async-shell-command call-process-shell-command " +
		"start-process-shell-command process-lines system system* run-shell-command uiop:run-program " +
		"sb-ext:run-program run-program call-process start-process sh shell os/shell os/execute"
	lispDeletes = "delete-directory delete-directory-internal delete-directory/files delete-file " +
		"delete-file-internal rename-file uiop:delete-directory-tree os/rm os/rmdir io/delete-file"
)

// findLisp finds the forms of Lisp: a function, and the strings after it.
func findLisp(code string) []Act {
	tokens := tokenize("node", strings.ReplaceAll(code, "'", " ")) // a quote does not begin a text
	var acts []Act
	for i := 0; i+1 < len(tokens) && len(acts) < maxActs; i++ {
		if tokens[i].text != "(" || tokens[i].kind != punct {
			continue
		}
		function, at := lispName(tokens, i+1)
		var texts []string
		for ; at < len(tokens) && tokens[at].text != ")" && tokens[at].text != "("; at++ {
			if tokens[at].kind == str {
				texts = append(texts, tokens[at].text)
			}
		}
		switch {
		case len(texts) == 0:
		case HasField(lispDeletes, function):
			acts = append(acts, Act{Kind: ActDelete, Text: texts[0], Tree: strings.Contains(function, "directory")})
		case HasField(lispCommands, function):
			for _, text := range texts {
				acts = append(acts, Act{Kind: ActCommand, Text: text})
			}
			if len(texts) > 1 {
				acts = append(acts, Act{Kind: ActCommand, Text: quoteWords(texts)})
			}
		}
	}
	return acts[:min(len(acts), maxActs)]
}

// lispName returns the name that begins at a token, with the marks that a name of Lisp may
// contain, and the start of the next one.
func lispName(tokens []token, at int) (string, int) {
	var text strings.Builder
	for ; at < len(tokens); at++ {
		t := tokens[at]
		if t.kind != name && !(t.kind == punct && strings.Contains("-*/:", t.text)) {
			break
		}
		text.WriteString(t.text)
	}
	return strings.ToLower(text.String()), at
}
