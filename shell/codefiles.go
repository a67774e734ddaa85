package shell

import (
	"slices"
	"strings"
)

// maxCodeFiles bounds the files of one program. A line that names more is asked about
// for what these say.
const maxCodeFiles = 64

// runsFile notes a file whose code or settings say what the program does. It need not
// exist.
func (u *use) runsFile(file word) {
	if file.known() && file.text != "" {
		u.files = append(u.files, u.s.absolutePaths(file)...)
	}
}

// namesFiles notes every word that looks like a file, of a program whose effects cannot
// be taken back: tables do not tell which of `tsx x.ts`, `psql -f x.sql` and
// `kubectl apply --filename=x.yaml` it carries out.
func (u *use) namesFiles(args []word) {
	for _, arg := range args {
		if _, value, found := arg.after("="); found && strings.HasPrefix(arg.text, "-") {
			arg = value
		}
		if strings.HasPrefix(arg.text, "@") {
			arg = arg.cut(1) // as of curl --data
		}
		folder := strings.Trim(arg.text, "./") == "" || strings.HasSuffix(arg.text, "/") ||
			strings.HasSuffix(arg.text, "/...")
		if !folder && strings.ContainsAny(arg.text, "./") && !strings.HasPrefix(arg.text, "-") &&
			!strings.Contains(arg.text, "://") {
			u.runsFile(arg)
		}
	}
}

// codeFiles are the files of the program's own access, each once.
func (u *use) codeFiles() []string {
	var files []string
	for _, file := range u.files {
		if !slices.Contains(files, file) && len(files) < maxCodeFiles {
			files = append(files, file)
		}
	}
	return files
}
