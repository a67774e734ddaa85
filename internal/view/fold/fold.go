// Package fold shortens lines that a person must see but that hold no choice, and reads unified diffs for a page: by
// file, with line numbers, changed words and folds.
package fold

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/umpirehq/umpire/internal/files/lazyregexp"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A person must see every line before approving it, but cannot read the 12,000 lines of a lock file. So two sorts of
// lines fold into one line with their count and digest: runs of equal lines, and lines of a lock file that have
// one of the forms listed below. Both the name of the file and the form of the line must match, so a script
// that a command runs is shown in full, even if it is called go.sum.

// A Line is a line that is shown, alone or in place of several.
type Line struct {
	Text  string
	Lines []string // the folded lines; nil for an unfolded one
}

// How many lines are folded at least.
const (
	minEqual = 8
	minKnown = 4
)

// Equal folds runs of equal lines: it keeps the first, and the next line gives the number of repeats.
func Equal(lines []string, text *catalogue.Language) []Line {
	folds := make([]Line, 0, len(lines))
	for i := 0; i < len(lines); {
		end := i + 1
		for end < len(lines) && lines[end] == lines[i] {
			end++
		}
		folds = append(folds, Line{Text: lines[i]})
		switch same := lines[i+1 : end]; {
		case len(same)+1 >= minEqual:
			folds = append(folds, Line{
				Text:  fmt.Sprintf(text.Of("  … the same line %d more times, sha256 %s"), len(same), digestLines(same)),
				Lines: same,
			})
		default:
			for _, line := range same {
				folds = append(folds, Line{Text: line})
			}
		}
		i = end
	}
	return folds
}

// digestLines names lines by the beginning of their SHA-256.
func digestLines(lines []string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n") + "\n"))
	return hex.EncodeToString(sum[:8])
}

// Diff folds the lines of a unified diff that is safe to show.
func Diff(lines []string, text *catalogue.Language) []Line {
	var folds []Line
	var run, plain []string
	file := ""
	flush := func() {
		if len(run) >= minKnown {
			folds = append(append(folds, Equal(plain, text)...), foldKnown(file, run, text))
			plain = nil
		} else {
			plain = append(plain, run...)
		}
		run = nil
	}
	d := diffReader{}
	for _, line := range lines {
		if d.known(line) {
			if len(run) == 0 {
				file = d.file
			}
			run = append(run, line)
			continue
		}
		flush()
		plain = append(plain, line)
	}
	flush()
	return append(folds, Equal(plain, text)...)
}

func foldKnown(file string, run []string, text *catalogue.Language) Line {
	added, removed := 0, 0
	for _, line := range run {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return Line{
		Text: fmt.Sprintf(text.Of("  … %d lines of %s that only name packages and checksums: +%d −%d, sha256 %s"),
			len(run), view.Visible(file), added, removed, digestLines(run)),
		Lines: run,
	}
}

// A diffReader follows a diff line by line. It counts the lines of each hunk, so no line of a file's
// content can pass for the name of another file.
type diffReader struct {
	old, new  int    // lines that the hunk still has
	file      string // the base name after the change
	form      func(body string, pack *string) bool
	was, then string // the package to which lines belong, before the change and after
}

var hunkHead = lazyregexp.Regexp{Text: `^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`}

// known reports whether a line of a lock file has a form that may be folded.
func (d *diffReader) known(line string) bool {
	if d.old <= 0 && d.new <= 0 {
		d.readHead(line)
		return false
	}
	if line == "" || !strings.ContainsRune(" +-\\", rune(line[0])) { // the diff is cut here
		d.old, d.new = 0, 0
		d.readHead(line)
		return false
	}
	body, isOld, isNew := line[1:], line[0] == ' ' || line[0] == '-', line[0] == ' ' || line[0] == '+'
	if isOld {
		d.old--
	}
	if isNew {
		d.new--
	}
	if d.form == nil || line[0] == '\\' {
		return false
	}
	known := true
	if isOld {
		known = d.form(body, &d.was)
	}
	if isNew {
		known = d.form(body, &d.then) && known
	}
	return known
}

// readHead handles a line between hunks.
func (d *diffReader) readHead(line string) {
	switch {
	case strings.HasPrefix(line, "+++ "):
		d.file = path.Base(strings.TrimPrefix(line, "+++ "))
		d.form, d.was, d.then = lockFiles[d.file], "", ""
	case strings.HasPrefix(line, "--- "):
		d.file, d.form = "", nil
	default:
		if m := hunkHead.Get().FindStringSubmatch(line); m != nil {
			d.old, d.new, d.was, d.then = hunkCount(m[1]), hunkCount(m[2]), "", ""
		}
	}
}

// hunkCount is how many lines a side of a hunk has.
func hunkCount(text string) int {
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// lockFiles are the files whose lines may be folded, with the forms of these lines. Lines
// that can have an effect are always shown: a source outside the public registry or of another package, programs,
// scripts that run on installation, links, and everything that is not recognised.
var lockFiles = map[string]func(line string, pack *string) bool{
	"go.sum":              isGoSum,
	"package-lock.json":   isNpmLock,
	"npm-shrinkwrap.json": isNpmLock,
	"yarn.lock":           isYarnLock,
	"Cargo.lock":          isCargoLock,
}

var goSum = lazyregexp.Regexp{Text: `^[\w.~!+/-]+ v[\w.+-]+(/go\.mod)? h1:[A-Za-z0-9+/]{43}=$`}

func isGoSum(line string, _ *string) bool { return goSum.Get().MatchString(line) }

var (
	npmName   = lazyregexp.Regexp{Text: `^ *"(?:[\w./@-]*/)?node_modules/((?:@[\w.-]+/)?[\w.-]+)": \{$`}
	npmSource = lazyregexp.Regexp{Text: `^ *"resolved": ` +
		`"https://registry\.npmjs\.org/((?:@[\w.-]+/)?[\w.-]+)/-/[\w.+-]+\.tgz",?$`}
	npmPlain = lazyregexp.Regexp{Text: `^ *(?:[\]})],?|` +
		`"(?:(?:dev|peer|optional)?[dD]ependencies|peerDependenciesMeta|engines|funding)": \{|` +
		`"(?:cpu|os|libc)": \[|"!?[a-z0-9_]{1,16}",?|` +
		`"(?:dev|peer|optional|devOptional)": true,?|` +
		`"version": "\d[\w.+-]*",?|"integrity": "sha(?:1|256|384|512)-[A-Za-z0-9+/=]+",?|` +
		`"license": "[\w .()+-]+",?|"url": "https://[\w./@#~+-]+",?|"type": "[\w-]+",?|` +
		`"(?:@[\w.-]+/)?[\w.-]+": "[\^~<>=* ]*\d[\w.^~<>=|* +-]*",?|"(?:@[\w.-]+/)?[\w.-]+": "\*",?)$`}
)

func isNpmLock(line string, pack *string) bool {
	return isPart(line, pack, &npmName, &npmSource, &npmPlain)
}

var (
	yarnName   = lazyregexp.Regexp{Text: `^"?((?:@[\w.-]+/)?[\w.-]+)@[\^~<>=*]*\d[\w.^~<>=|* +-]*"?(?:, [^:]+)?:$`}
	yarnSource = lazyregexp.Regexp{Text: `^  resolved "https://registry\.(?:yarnpkg\.com|npmjs\.org)/` +
		`((?:@[\w.-]+/)?[\w.-]+)/-/[\w.+-]+\.tgz(?:#[0-9a-f]{40})?"$`}
	yarnPlain = lazyregexp.Regexp{Text: `^(?:|  version "\d[\w.+-]*"|` +
		`  integrity sha(?:1|256|384|512)-[A-Za-z0-9+/=]+|` +
		`  (?:d|optionalD)ependencies:|    "?(?:@[\w.-]+/)?[\w.-]+"? "[\^~<>=*]*\d[\w.^~<>=|* +-]*")$`}
)

func isYarnLock(line string, pack *string) bool {
	return isPart(line, pack, &yarnName, &yarnSource, &yarnPlain)
}

var cargoLock = lazyregexp.Regexp{Text: `^(?:|\[\[package\]\]|name = "[\w-]+"|version = "\d[\w.+-]*"|` +
	`dependencies = \[|\]|` +
	` "[\w-]+(?: \d[\w.+-]*)?",|source = "registry\+https://github\.com/rust-lang/crates\.io-index"|` +
	`checksum = "[0-9a-f]{64}")$`}

func isCargoLock(line string, _ *string) bool { return cargoLock.Get().MatchString(line) }

// isPart reports whether a line has one of the forms of a lock file. A source counts only below the name of its
// package. Nothing inside an unknown block counts: each open block of that kind puts a mark before the package.
func isPart(line string, pack *string, name, source, plain *lazyregexp.Regexp) bool {
	opens := strings.HasSuffix(line, "{") || strings.HasSuffix(line, "[")
	if outer, inside := strings.CutPrefix(*pack, unknownBlock); inside {
		if opens {
			*pack = unknownBlock + *pack
		} else if end := strings.TrimSpace(line); strings.HasPrefix(end, "}") || strings.HasPrefix(end, "]") {
			*pack = outer
		}
		return false
	}
	if m := name.Get().FindStringSubmatch(line); m != nil {
		*pack = m[1]
		return true
	}
	if m := source.Get().FindStringSubmatch(line); m != nil {
		return m[1] == *pack
	}
	known := plain.Get().MatchString(line)
	if !known && opens {
		*pack = unknownBlock + *pack
	}
	return known
}

// unknownBlock marks an open block in place of a package, whose name cannot contain it.
const unknownBlock = "{"
