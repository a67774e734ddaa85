package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A FolderSplit is a command line in three parts: the commands that change the folder of the
// shell itself, before and after the rest. A shell that keeps only its folder ends up in the
// same one if a separate shell runs Line between Before and After.
type FolderSplit struct {
	// Before is `cd FOLDER &&`, as on the line, including the following blank. After begins
	// with an operator. Both may be empty.
	Before, Line, After string
	// Dirs are the folders of Before, as the shell reads them.
	Dirs []string
}

// SplitFolder splits off the commands that change the folder of the shell: each leading `cd
// FOLDER`, a trailing one, and in a list joined only by && also one in the middle, which is
// repeated at the end. FOLDER must be a literal. It reports false if the line cannot be split:
// it cannot be parsed, changes the folder in another way, leaves a background job, or has no
// other commands.
func SplitFolder(line string) (FolderSplit, bool) {
	if guardText(line) != "" {
		return FolderSplit{}, false
	}
	code, err := readCode(line)
	if err != nil || code.odd != "" || code.text != line || len(code.file.Stmts) == 0 {
		return FolderSplit{}, false
	}
	if leavesJob(code.file) {
		return FolderSplit{}, false
	}
	begin, end, repeated := 0, len(line), ""
	var dirs []string
	links := linksOf(code.file.Stmts)
	for len(links) > 1 && links[0].folder != "" {
		dirs = append(dirs, links[0].folder)
		links = links[1:]
		begin = int(links[0].stmt.Pos().Offset())
	}
	if last := links[len(links)-1]; len(links) > 1 && last.folder != "" {
		links = links[:len(links)-1]
		end = endOf(links[len(links)-1].stmt)
		if hasHereDocument(code.file) {
			return FolderSplit{}, false // the text after a command need not run after it
		}
	}
	for i, link := range links {
		switch {
		case link.folder != "" && i > 0 && onlyAnd(links[:len(links)-1]):
			repeated += " && cd " + Quote(link.folder)
		case mayChangeFolder(link.stmt):
			return FolderSplit{}, false
		}
	}
	return FolderSplit{Before: line[:begin], Line: line[begin:end], After: repeated + line[end:], Dirs: dirs}, true
}

// A link is a command of a list.
type link struct {
	stmt   *syntax.Stmt
	folder string // of a plain cd
	and    bool   // && follows
}

// linksOf returns the commands of a list, splitting those joined by &&.
func linksOf(stmts []*syntax.Stmt) []link {
	var links []link
	for _, stmt := range stmts {
		list, is := stmt.Cmd.(*syntax.BinaryCmd)
		if !is || list.Op != syntax.AndStmt || stmt.Negated || len(stmt.Redirs) > 0 {
			links = append(links, link{stmt: stmt, folder: plainFolder(stmt)})
			continue
		}
		links = append(links, linksOf([]*syntax.Stmt{list.X})...)
		links[len(links)-1].and = true
		links = append(links, linksOf([]*syntax.Stmt{list.Y})...)
	}
	return links
}

func onlyAnd(links []link) bool {
	for _, l := range links {
		if !l.and {
			return false
		}
	}
	return true
}

// plainFolder returns the folder of a plain `cd FOLDER`, or "" for any other command.
func plainFolder(stmt *syntax.Stmt) string {
	call, is := stmt.Cmd.(*syntax.CallExpr)
	if !is || stmt.Negated || len(stmt.Redirs)+len(call.Assigns) > 0 || len(call.Args) != 2 ||
		call.Args[0].Lit() != "cd" {
		return ""
	}
	folder, literal := literalOf(call.Args[1])
	if !literal || strings.HasPrefix(folder, "-") || strings.HasPrefix(folder, "+") {
		return ""
	}
	return folder
}

// literalOf returns the text of a word that every shell reads literally.
func literalOf(w *syntax.Word) (string, bool) {
	var text strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "~*?[]{}\\=^#!") {
				return "", false
			}
			text.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			text.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, is := inner.(*syntax.Lit)
				if !is || p.Dollar || strings.ContainsAny(lit.Value, "\\!") {
					return "", false
				}
				text.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return text.String(), text.Len() > 0
}

// mayChangeFolder reports whether a command may change the folder of the shell that runs it.
func mayChangeFolder(stmt *syntax.Stmt) bool {
	changes := false
	syntax.Walk(stmt, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.CallExpr:
			for _, arg := range n.Args {
				changes = changes || scan.HasField("cd pushd popd chdir", arg.Lit())
			}
		}
		return true
	})
	return changes
}

// endOf returns the end of a command, without the semicolon.
func endOf(stmt *syntax.Stmt) int {
	if stmt.Semicolon.IsValid() {
		return int(stmt.Semicolon.Offset())
	}
	return int(stmt.End().Offset())
}

// LeavesJob reports whether a job may still run after the line has ended, as far as the line
// shows. It returns true for a line that cannot be parsed.
func LeavesJob(line string) bool {
	if !strings.Contains(line, "&") && !strings.Contains(line, "coproc") {
		return false
	}
	if guardText(line) != "" {
		return true
	}
	code, err := readCode(line)
	return err != nil || code.file == nil || leavesJob(code.file)
}

// leavesJob reports whether a job may still run after the line has ended.
func leavesJob(file *syntax.File) bool {
	leaves := false
	syntax.Walk(file, func(node syntax.Node) bool {
		if stmt, is := node.(*syntax.Stmt); is && (stmt.Background || stmt.Coprocess) {
			leaves = true
		}
		return true
	})
	return leaves
}

// hasHereDocument reports whether a command has a here-document below its line.
func hasHereDocument(file *syntax.File) bool {
	has := false
	syntax.Walk(file, func(node syntax.Node) bool {
		if r, is := node.(*syntax.Redirect); is && r.Hdoc != nil {
			has = true
		}
		return true
	})
	return has
}
