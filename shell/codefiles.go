package shell

import (
	"slices"
	"strings"
)

// maxCodeFiles is the maximum number of code files of one program. A line that names more asks.
const maxCodeFiles = 64

// runsFile records a file whose code or settings determine the program's effects. It need not
// exist.
func (u *use) runsFile(file word) {
	if file.known() && file.text != "" {
		u.files = append(u.files, u.s.absolutePaths(file)...)
	}
}

// namesFiles records every word that looks like a file, for a program with irreversible
// effects: tables do not tell which of the files in `tsx x.ts`, `psql -f x.sql` and `kubectl
// apply --filename=x.yaml` it executes.
func (u *use) namesFiles(args []word) {
	for _, arg := range args {
		if _, value, found := arg.after("="); found && strings.HasPrefix(arg.text, "-") {
			arg = value
		}
		if strings.HasPrefix(arg.text, "@") {
			arg = arg.cut(1) // as in curl --data
		}
		folder := strings.Trim(arg.text, "./") == "" || strings.HasSuffix(arg.text, "/") ||
			strings.HasSuffix(arg.text, "/...")
		if !folder && strings.ContainsAny(arg.text, "./") && !strings.HasPrefix(arg.text, "-") &&
			!strings.Contains(arg.text, "://") {
			u.runsFile(arg)
		}
	}
}

// codeFiles returns the files of the program's own access, without duplicates.
func (c *conclusion) codeFiles() []string {
	var files []string
	for _, file := range c.files {
		if !slices.Contains(files, file) && len(files) < maxCodeFiles {
			files = append(files, file)
		}
	}
	return files
}
