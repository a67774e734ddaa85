package shell

import (
	"slices"

	"github.com/umpirehq/umpire"
)

// RunsCodeOf is the reason of a program that runs the code of a file, which is its argument.
const RunsCodeOf = "runs the code of %s"

// UnknownFolder is the doubt about a path that starts from a folder known only at run time.
const UnknownFolder umpire.Phrase = "the folder that the path starts from is not known"

// Other doubts about a word that is known only at run time.
const (
	doubtPath   umpire.Phrase = "the path is not known before it runs"
	doubtScript umpire.Phrase = "the script is not known before it runs"
	doubtAction umpire.Phrase = "a word that is not known before it runs may be an action"
	doubtOption umpire.Phrase = "a word that is not known before it runs may be an option"
)

// IsUnknownWord reports whether a doubt is about a word that is known only at run time: a path, an action, an option
// or a script.
func IsUnknownWord(doubt umpire.Phrase) bool {
	return slices.Contains([]umpire.Phrase{UnknownFolder, doubtPath, doubtScript, doubtAction, doubtOption}, doubt)
}
