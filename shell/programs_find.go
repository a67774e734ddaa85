package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// The words of find's command line. Any other word that begins with a dash is unknown, and
// asks.
const (
	findFlags = "-H -L -P -E -X -d -s -x"
	// findPlain stand alone.
	findPlain = "-a -and -o -or -not -empty -true -false -print -print0 -ls -prune -quit -depth -d -daystart -follow " +
		"-noleaf -mount -xdev -x -ignore_readdir_race -noignore_readdir_race -nouser -nogroup -readable -writable " +
		"-executable -warn -nowarn -help --help -version --version"
	// findValued take one word, which is not a path.
	findValued = "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime -mmin " +
		"-atime -amin -ctime -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -lname -ilname -inum " +
		"-fstype -used -printf -regextype -context -flags -Bmin -Btime -Bnewer"
	findReads  = "-newer -anewer -cnewer -samefile -files0-from"
	findWrites = "-fprint -fprint0 -fls"
	findRuns   = "-exec -execdir -ok -okdir"
)

// A findLine is the parsed command line of find.
type findLine struct {
	roots    []word
	printf   string
	names    []string // those that patterns spell out
	picked   string   // the filters' selection so far, as in a word
	listed   string   // the patterns of listed names, as in a word
	files    bool     // folders are not found
	doubtful bool
	speaks   bool // prints something other than paths
	runs     int  // commands that print their own output
}

// checkFind parses the command line of find and judges its actions.
func checkFind(u *use) {
	args := u.takeOperands()
	line, rest := findRoots(args)
	if line.doubtful {
		u.doubt = doubtAction
	}
	line.names = findNames(rest)
	judgeFindExpression(u, &line, rest)
	u.touchAll(umpire.KindRead, line.roots, accessOf{tree: true})
}

// findRoots splits the arguments into the folders and the expression.
func findRoots(args []word) (findLine, []word) {
	var line findLine
	i := 0
	for ; i < len(args); i++ {
		arg := args[i]
		if arg.open && arg.text == "" && !arg.under || arg.split {
			line.doubtful = true
		}
		switch {
		case scan.HasField(findFlags, arg.text) || strings.HasPrefix(arg.text, "-O") && len(line.roots) == 0:
			continue
		case arg.text == "-D" && len(line.roots) == 0, arg.text == "-f" && i+1 < len(args):
			i++
			if arg.text == "-f" {
				line.roots = append(line.roots, args[i])
			}
			continue
		case arg.text == "--":
			continue
		}
		if strings.HasPrefix(arg.text, "-") || scan.HasField("( ) ! ,", arg.text) && !arg.open {
			break
		}
		line.roots = append(line.roots, arg)
	}
	if len(line.roots) == 0 {
		line.roots = []word{lit(".")}
	}
	rest := args[min(i, len(args)):] // `find -D` lacks its value
	line.listed = listedNames(rest)
	return line, rest
}

// judgeFindExpression judges the words of an expression.
func judgeFindExpression(u *use, line *findLine, rest []word) {
	joined := !slices.ContainsFunc(rest, func(wd word) bool {
		return !wd.known() && !wd.glob || scan.HasField("-o -or ! -not , ( )", wd.text)
	})
	for len(rest) > 0 {
		n := judgeFindWord(u, line, rest)
		if joined {
			line.noteFilter(rest[:n])
		}
		rest = rest[n:]
	}
}

// judgeFindWord judges the first word of an expression and returns the number of words it took.
func judgeFindWord(u *use, line *findLine, rest []word) int {
	name := rest[0]
	switch {
	case name.open:
		u.doubt = doubtAction
		return 1
	case scan.HasField("( ) ! ,", name.text) || scan.HasField(findPlain, name.text):
		line.speaks = line.speaks || name.text == "-ls"
		return 1
	case name.text == "-delete":
		u.spoke = name.text
		u.raise(umpire.High, "deletes the files that it finds")
		for _, root := range line.pickedRoots() {
			noteDeleteBelow(u, root)
		}
		return 1
	case scan.HasField(findRuns, name.text):
		line.runs++
		return walkFindExec(u, line, rest)
	}
	return judgeFindValue(u, line, rest)
}

// noteDeleteBelow records the deletions of -delete below a root; it deletes only empty folders.
func noteDeleteBelow(u *use, root word) {
	if root.picked == pickedSome {
		root.picked = pickedFiles
	}
	u.touch(umpire.KindDelete, root, accessOf{tree: root.picked == "" || root.picked == pickedFiles,
		why: "find deletes below it"})
}

// judgeFindValue judges a word of an expression that takes a value.
func judgeFindValue(u *use, line *findLine, rest []word) int {
	name := rest[0].text
	value := word{}
	if len(rest) > 1 {
		value = rest[1]
	}
	if value.split {
		u.doubt = doubtAction
	}
	switch {
	case name == "-printf":
		line.printf = value.text
		line.speaks = line.speaks || value.open || !scan.HasField(`%p\n %P\n %f\n %h\n %p\0 %P\0 %H/%P\n`, value.text)
	case scan.HasField(findValued, name):
	case scan.HasField(findReads, name):
		u.touch(umpire.KindRead, value, accessOf{})
		if name == "-files0-from" {
			u.doubt = "where it looks is not known before it runs"
		}
	case strings.HasPrefix(name, "-newer") && len(name) == len("-newerXY"):
		if name[len(name)-1] != 't' {
			u.touch(umpire.KindRead, value, accessOf{})
		}
	case scan.HasField(findWrites, name):
		u.writesFile(value, "writes its list to a file")
	case name == "-fprintf":
		u.writesFile(value, "writes its list to a file")
		return min(3, len(rest))
	default:
		u.spoke = name
		u.raise(umpire.Medium, umpire.Say("the word %s of find is not known", rest[0].display()))
		return 1
	}
	return min(2, len(rest))
}

// walkFindExec walks the command of -exec and similar actions.
func walkFindExec(u *use, line *findLine, rest []word) int {
	end := 1
	for end < len(rest) && rest[end].text != ";" && !(rest[end].text == "+" && rest[end-1].text == "{}") {
		if rest[end].split {
			u.doubt = doubtAction
		}
		end++
	}
	if end == len(rest) {
		u.doubt = umpire.Say("the command of %s is not ended", rest[0].text)
	}
	u.why = "looks for files and runs a command on them"
	if len(rest) > 1 && !looksAtNames(u.w, rest[1]) {
		noteNamedReads(u, line)
		revealTails(u, rest[1:end], "{}", line.roots)
	}
	walkOnFiles(u, rest[1:end], line.pickedRoots(), strings.HasSuffix(rest[0].text, "dir"))
	return min(end+1, len(rest))
}

// noteNamedReads records reads of files with the name find looks for, in case the name is that
// of a secret.
func noteNamedReads(u *use, line *findLine) {
	for _, name := range line.names {
		revealBelow(u, line.roots, name)
	}
	for _, root := range line.roots {
		if root.glob && spelledName(root.text, false) != "" {
			u.then(func() { u.w.path(u.s, umpire.KindRead, root, accessOf{table: u.table}) })
		}
	}
}

// looksAtNames reports whether a program looks at the names of files, and not into them.
func looksAtNames(w *walker, name word) bool {
	p := w.knownProgram(name.text)
	return name.known() && p != nil && (p.peeks || scan.HasField("echo printf test rm mv", p.name()))
}

// walkOnFiles walks a command with the files below the roots in place of {}. A command that
// starts in the folder of each file has an unknown folder.
func walkOnFiles(u *use, command, roots []word, inFolder bool) {
	if len(command) == 0 {
		return
	}
	s := u.outsideState()
	items := s.wordsBelow(roots)
	if inFolder {
		s.dirs = nil
	}
	words := fillIn(command, items)
	u.then(func() {
		defer u.w.openPart()()
		out := u.w.runWords(s, words, flow{kind: flowForeign, from: u.program0()})
		if !inFolder { // the names that it prints would belong to another folder
			u.ran, u.printed = u.ran+1, out
		}
	})
}

// wordsBelow returns words for the files below the roots, absolute if possible.
func (s *state) wordsBelow(roots []word) []word {
	var items []word
	for _, root := range roots {
		if root.unplaced() {
			return []word{{open: true, dashless: true}}
		}
		root = folderBeforeGlob(root)
		if paths := s.absolutePaths(root); len(paths) == 1 {
			root.text = paths[0]
		}
		items = append(items, word{text: root.text, open: true, under: true, dashless: true, picked: root.picked,
			listed: root.listed})
	}
	return items
}

// fillIn substitutes files for {}: all of them if it is a whole word.
func fillIn(command, items []word) []word {
	item := word{open: true}
	if len(items) == 1 {
		item = items[0]
	}
	var out []word
	for _, wd := range command {
		if wd.text == "{}" && !wd.open {
			out = append(out, items...)
			continue
		}
		out = append(out, substituteWord([]word{wd}, "{}", item)...)
	}
	return out
}

// finds returns the output of find: paths below its roots, unless an action prints.
func finds(u *use, _ flow) flow {
	line, rest := findRoots(u.words[1:])
	probe := &use{w: u.w, s: u.s.clone(), parsed: parsed{program: u.program, words: u.words}}
	judgeFindExpression(probe, &line, rest)
	if line.speaks || line.doubtful || probe.doubt != "" {
		return foreignFlow(u.program0())
	}
	if line.runs > 0 {
		if line.runs > 1 || line.printf != "" {
			return foreignFlow(u.program0())
		}
		return runPrints(u, flow{})
	}
	roots := line.roots
	if strings.HasPrefix(line.printf, "%P") || strings.HasPrefix(line.printf, "%f") {
		roots = append([]word{lit(".")}, roots...)
	}
	found := line
	found.roots = roots
	return spelledPaths(pathsBelow(found.pickedRoots(), u.program0()), line.roots, findNames(rest))
}
