package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// silent are programs that print nothing unless they fail, and those that only start another
// program, which is judged elsewhere.
const silent = ": true false exec read mapfile readarray cd chdir test [ set unset shift trap wait sleep export " +
	"alias unalias umask return exit break continue mkdir rmdir touch rm cp mv ln chmod chown chgrp install truncate " +
	"sync env command builtin timeout gtimeout nice nohup time stdbuf setsid ionice chrt taskset"

// Programs that print only their input: the standard input if no file is named. The first word
// of the scripted ones is a program or a pattern, unless an option gives that.
const (
	passing  = "cat tac rev nl sort uniq head tail cut paste fold expand unexpand fmt column tee base64 base32 xxd od"
	scripted = "sed awk gawk mawk nawk grep egrep fgrep jq yq"
)

// printsSomething reports whether a program has something to print, judging by its words and its
// input. One of the words of echo and printf must be partly known, and more than a placeholder.
func (p *parsed) printsSomething(words []string) bool {
	switch name := p.program0(); {
	case scan.HasField(silent, name):
		return false
	case name == "echo", name == "printf":
		return slices.ContainsFunc(words[1:], func(word string) bool {
			text := strings.Trim(word, "\x00")
			return text != "" && !strings.ContainsAny(text[:1], "-%") && !strings.Contains(text, `\c`)
		})
	case name == "tr":
		return p.readsSomething(len(p.operands))
	case scan.HasField(passing, name):
		return p.readsSomething(0)
	case scan.HasField(scripted, name):
		if p.gave("-e", "--expression", "--regexp", "-f", "--file", "--from-file") {
			return p.readsSomething(0)
		}
		return p.readsSomething(1)
	}
	return true
}

// readsSomething reports whether a program gets input, or a file name after some other words.
func (p *parsed) readsSomething(after int) bool {
	if p.in.kind != flowNone {
		return p.in.kind != flowText || p.in.text != ""
	}
	files := p.operands[min(after, len(p.operands)):]
	return slices.ContainsFunc(files, func(file word) bool { return file.text != "-" }) ||
		p.gave("-r", "-R", "--recursive", "--dereference-recursive", "-n", "--null-input") && after > 0
}
