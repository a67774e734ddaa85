package scan

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire/internal/files/lazyregexp"
)

// Umpire parses a line like bash. This file lists the constructs that other shells read in a
// way that can start, write or delete something else. Such a construct is in doubt unless the
// shell that will run it is known and reads it like bash. Constructs that other shells only
// reject are not listed: these shells then run nothing, or the commands before it.

// A difference is a construct, and the shells that may run something else for it than bash.
type difference struct {
	construct string
	shells    Shells
	differs   func(r *Reader, n syntax.Node) bool
}

// differences has one row for each construct.
var differences = []difference{
	// dash and old versions of ksh read `x &>f y` as `x & >f y`.
	{"&>", Dash | Ksh, (*Reader).wordsAfterRedirect},
	// ksh and mksh start a coprocess whose output the next command does not get.
	{"|&", Ksh | Mksh, pipesErrors},
	// To dash and busybox this is a program, and operators within end it.
	{"[[", Dash | Busybox, operatorsInTest},
	// dash reads a program named `function`, then the body as commands.
	{"function", Dash, bodyOnItsOwn},
	// ksh calls x.get where $x is used.
	{"f.x()", Ksh, dottedFunction},
	// Without it, `$'a\'` ends at the second quote.
	{`$'\''`, Dash, escapedQuote},
	{`$"…"`, Dash | Zsh | Busybox, localized},
	{"<<$'…'", AnyShell &^ Bash, oddDelimiter},
	// dash and busybox read a subshell within a subshell.
	{"((", Dash | Busybox, commandLikeArithmetic},
	{"$[", AnyShell &^ (Bash | Zsh), oldArithmetic},
	{">!", Zsh, clobbers},
	// zsh joins a pipe and redirected files into one input.
	{"| x <", Zsh, joinsInputs},
	{"<1-2>", Zsh, numericWildcard},
	{"<#", AnyShell, seeks},
	// zsh ends the enclosing block at the brace.
	{"}", Zsh, braceAsWord},
	{"=x", Zsh, pathOfCommand},
	{"~x", Zsh, namedFolder},
	{"$x:h", Zsh, modifiesValue},
	{"${x:h}", Zsh, modifiesSlice},
	{"$x[", Zsh, indexesValue},
	// zsh reserves these words, and runs the words after them as commands.
	{"repeat", Zsh, reservedInZsh},
	// zsh, ksh and mksh replace the first text in the name of the folder.
	{"cd x y", Zsh | Ksh | Mksh, replacesFolder},
	// These shells have no arrays. `a[1]=./x` is a program, and `x+=y` assigns nothing.
	{"a[1]=x", Dash | Busybox, assignsElement},
	{"x+=y", Dash | Busybox, appendsValue},
	{"a=(typeset …)", Ksh, compoundValue},
	// A shell without the command leaves the variable unchanged.
	{"local", Ksh, declaresLocal},
	{"declare", Dash | Ksh | Mksh | Busybox, declaresDeclare},
	{"typeset", Dash | Busybox, declaresTypeset},
	// dash splits the value at blanks, and assigns each part.
	{"export x=$y", Dash, splitDeclaration},
	{"{x,y}", Dash | Busybox, bracesReach},
	// zsh does not split the value.
	{"$x", Zsh, joinedOptions},
	{"`…`", Dash | Busybox | Ksh | Mksh | Zsh, quotedBackquotes},
	{"time", Dash | Busybox, timesFunction},
	// A number with more than one digit is a word.
	{"10>", Dash | Mksh | Ksh, longDescriptor},
}

// A Reader looks for differences in code. Its zero value is ready, and may be used again.
type Reader struct {
	text     string
	shells   Shells
	gathered bool     // functions and values are complete
	found    [64]bool // the differences, which are fewer
	// functions are those that the code defines, and values the variables it sets.
	functions []string
	values    map[string]*syntax.Word
}

// Find yields each construct of the code that some of the shells may read differently from
// bash, with those shells. text is the source of file.
func (r *Reader) Find(text string, file *syntax.File, shells Shells, yield func(construct string, differing Shells)) {
	*r = Reader{text: text, shells: shells}
	visit := r.visit
	syntax.Walk(file, visit)
	r.gathered = true
	syntax.Walk(file, visit)
	for i := range differences {
		if d := &differences[i]; r.found[i] {
			yield(d.construct, d.shells&shells)
		}
	}
}

// visit gathers the functions and variables of the code, and once these are complete finds the differences.
func (r *Reader) visit(n syntax.Node) bool {
	if r.gathered {
		for i := range differences {
			d := &differences[i]
			r.found[i] = r.found[i] || d.shells&r.shells != 0 && d.differs(r, n)
		}
		return true
	}
	switch n := n.(type) {
	case *syntax.FuncDecl:
		if n.Name != nil {
			r.functions = append(r.functions, n.Name.Value)
		}
	case *syntax.Assign:
		if n.Name != nil && n.Value != nil {
			if r.values == nil {
				r.values = map[string]*syntax.Word{}
			}
			r.values[n.Name.Value] = n.Value
		}
	}
	return true
}

// RunsAside reports whether some shell may run a statement in a subshell, where a change of
// folder or variables is lost: `cd x &>f` in dash, and `time cd x`.
func RunsAside(d Shells, st *syntax.Stmt) bool {
	_, timed := st.Cmd.(*syntax.TimeClause)
	return d&(Dash|Busybox) != 0 && timed ||
		d&(Dash|Ksh) != 0 && slices.ContainsFunc(st.Redirs, redirectsAll)
}

func redirectsAll(r *syntax.Redirect) bool { return r.Op == syntax.RdrAll || r.Op == syntax.AppAll }

func (r *Reader) wordsAfterRedirect(n syntax.Node) bool {
	st, ok := n.(*syntax.Stmt)
	if !ok || st.Cmd == nil {
		return false
	}
	end := offset(st.Cmd.End())
	return slices.ContainsFunc(st.Redirs, func(rd *syntax.Redirect) bool {
		return redirectsAll(rd) && offset(rd.Pos()) < end
	})
}

func pipesErrors(_ *Reader, n syntax.Node) bool {
	b, ok := n.(*syntax.BinaryCmd)
	return ok && b.Op == syntax.PipeAll
}

func operatorsInTest(_ *Reader, n syntax.Node) bool {
	test, ok := n.(*syntax.TestClause)
	if !ok {
		return false
	}
	ends := test.Left.Line() != test.Right.Line()
	syntax.Walk(test, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.AndTest, syntax.OrTest, syntax.TsBefore, syntax.TsAfter:
				ends = true
			}
		case *syntax.Lit:
			ends = ends || strings.ContainsAny(withoutEscapes(n.Value), "|&;<>\n")
		case *syntax.SglQuoted, *syntax.DblQuoted, *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		}
		return !ends
	})
	return ends
}

// withoutEscapes drops each backslash and the character after it.
func withoutEscapes(text string) string {
	return escapedCharacter.Get().ReplaceAllString(text, "")
}

var escapedCharacter = lazyregexp.Regexp{Text: `\\.`}

func bodyOnItsOwn(_ *Reader, n syntax.Node) bool {
	f, ok := n.(*syntax.FuncDecl)
	if !ok || !f.RsrvWord || f.Parens {
		return false
	}
	_, block := f.Body.Cmd.(*syntax.Block)
	return !block || f.Pos().Line() != f.End().Line()
}

func dottedFunction(_ *Reader, n syntax.Node) bool {
	f, ok := n.(*syntax.FuncDecl)
	return ok && f.Name != nil && strings.Contains(f.Name.Value, ".")
}

func escapedQuote(_ *Reader, n syntax.Node) bool {
	q, ok := n.(*syntax.SglQuoted)
	return ok && q.Dollar && strings.Contains(q.Value, `\'`)
}

func localized(_ *Reader, n syntax.Node) bool {
	q, ok := n.(*syntax.DblQuoted)
	return ok && q.Dollar
}

func oddDelimiter(_ *Reader, n syntax.Node) bool {
	r, ok := n.(*syntax.Redirect)
	return ok && r.Hdoc != nil && slices.ContainsFunc(r.Word.Parts, func(part syntax.WordPart) bool {
		switch part := part.(type) {
		case *syntax.Lit:
			return strings.ContainsAny(part.Value, "$`")
		case *syntax.SglQuoted:
			return part.Dollar
		case *syntax.DblQuoted:
			_, plain := PlainText(&syntax.Word{Parts: part.Parts})
			return part.Dollar || !plain
		}
		return true
	})
}

// countsUp is arithmetic that, read as a command, only names a program that does not exist.
var countsUp = lazyregexp.Regexp{Text: `^\(\(\s*[A-Za-z_]\w*(\+\+|--|\s*[-+*]?=\s*\w+)\s*\)\)$`}

func commandLikeArithmetic(r *Reader, n syntax.Node) bool {
	a, ok := n.(*syntax.ArithmCmd)
	return ok && !countsUp.Get().MatchString(r.text[offset(a.Pos()):offset(a.End())])
}

func oldArithmetic(_ *Reader, n syntax.Node) bool {
	a, ok := n.(*syntax.ArithmExp)
	return ok && a.Bracket
}

// beginning returns the unquoted text at the beginning of a word.
func beginning(wd *syntax.Word) string {
	if wd == nil || len(wd.Parts) == 0 {
		return ""
	}
	if l, ok := wd.Parts[0].(*syntax.Lit); ok {
		return l.Value
	}
	return ""
}

func clobbers(_ *Reader, n syntax.Node) bool {
	r, ok := n.(*syntax.Redirect)
	return ok && r.Hdoc == nil && strings.HasPrefix(beginning(r.Word), "!")
}

// readsInput reports whether a redirection changes the standard input.
func readsInput(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrInOut:
		return r.N == nil || r.N.Value == "0"
	}
	return false
}

func joinsInputs(_ *Reader, n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.BinaryCmd:
		return (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && slices.ContainsFunc(n.Y.Redirs, readsInput)
	case *syntax.Stmt:
		first := slices.IndexFunc(n.Redirs, readsInput)
		return first >= 0 && slices.ContainsFunc(n.Redirs[first+1:], readsInput)
	}
	return false
}

func numericWildcard(_ *Reader, n syntax.Node) bool {
	r, ok := n.(*syntax.Redirect)
	return ok && (r.Op == syntax.RdrIn || r.Op == syntax.DplIn) && strings.Contains(beginning(r.Word), "-") &&
		strings.Trim(beginning(r.Word), "0123456789") == "-" && (r.Op == syntax.RdrIn || len(beginning(r.Word)) > 1)
}

func seeks(_ *Reader, n syntax.Node) bool {
	r, ok := n.(*syntax.Redirect)
	return ok && r.Hdoc == nil && strings.HasPrefix(beginning(r.Word), "#")
}

func braceAsWord(_ *Reader, n syntax.Node) bool {
	c, ok := n.(*syntax.CallExpr)
	return ok && slices.ContainsFunc(c.Args, func(wd *syntax.Word) bool { return wd.Lit() == "}" })
}

// wordsOf returns the words that a shell expands: those of a command, a loop, or an assignment.
func wordsOf(n syntax.Node) []*syntax.Word {
	switch n := n.(type) {
	case *syntax.CallExpr:
		return n.Args
	case *syntax.WordIter:
		return n.Items
	case *syntax.Assign:
		return []*syntax.Word{n.Value}
	case *syntax.Redirect:
		if n.Hdoc == nil {
			return []*syntax.Word{n.Word}
		}
	}
	return nil
}

var equalsCommand = lazyregexp.Regexp{Text: `^=[\w./-]`}

// userName matches names of users that are not environment variables.
var userName = lazyregexp.Regexp{Text: `^[a-z][a-z0-9-]*$`}

func pathOfCommand(_ *Reader, n syntax.Node) bool {
	return slices.ContainsFunc(wordsOf(n), func(wd *syntax.Word) bool {
		return equalsCommand.Get().MatchString(beginning(wd))
	})
}

// namedFolder reports whether a node contains ~x where x may be a variable that holds a folder.
func namedFolder(r *Reader, n syntax.Node) bool {
	return slices.ContainsFunc(wordsOf(n), func(wd *syntax.Word) bool {
		name, tilde := strings.CutPrefix(beginning(wd), "~")
		name, _, _ = strings.Cut(name, "/")
		return tilde && name != "" && (r.values[name] != nil || !userName.Get().MatchString(name))
	})
}

// followedBy reports whether text that fits follows an expansion such as $x.
func followedBy(n syntax.Node, fits func(text string) bool) bool {
	var parts []syntax.WordPart
	switch n := n.(type) {
	case *syntax.Word:
		parts = n.Parts
	case *syntax.DblQuoted:
		parts = n.Parts
	}
	for i, part := range parts[:max(0, len(parts)-1)] {
		p, ok := part.(*syntax.ParamExp)
		next, text := parts[i+1].(*syntax.Lit)
		if ok && text && p.Short && fits(next.Value) {
			return true
		}
	}
	return false
}

func modifiesValue(_ *Reader, n syntax.Node) bool {
	return followedBy(n, modifier.Get().MatchString)
}

// modifier matches zsh's modifiers of values: `:s` replaces text, `:h` and similar ones keep a
// part, and the others change letters, quotes and links.
var modifier = lazyregexp.Regexp{Text: `^:(s[^\w\s]|g?&|[aAcehlPpqQrtuwWxfF](\W|$))`}

func modifiesSlice(_ *Reader, n syntax.Node) bool {
	p, ok := n.(*syntax.ParamExp)
	if !ok || p.Slice == nil || p.Slice.Offset == nil {
		return false
	}
	wd, ok := p.Slice.Offset.(*syntax.Word)
	return ok && len(beginning(wd)) > 0 && (IsLetter(beginning(wd)[0]) || beginning(wd)[0] == '#')
}

func indexesValue(_ *Reader, n syntax.Node) bool {
	return followedBy(n, func(text string) bool { return text[0] == '[' })
}

func reservedInZsh(r *Reader, n syntax.Node) bool {
	c, ok := n.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && HasField("repeat foreach noglob nocorrect always end -", c.Args[0].Lit()) &&
		!slices.Contains(r.functions, c.Args[0].Lit())
}

func replacesFolder(_ *Reader, n syntax.Node) bool {
	c, ok := n.(*syntax.CallExpr)
	option := func(wd *syntax.Word) bool { return strings.HasPrefix(beginning(wd), "-") }
	return ok && len(c.Args) > 2 && c.Args[0].Lit() == "cd" &&
		len(slices.DeleteFunc(slices.Clone(c.Args[1:]), option)) > 1
}

func assignsElement(_ *Reader, n syntax.Node) bool {
	a, ok := n.(*syntax.Assign)
	return ok && a.Index != nil && !a.Naked
}

func appendsValue(_ *Reader, n syntax.Node) bool {
	a, ok := n.(*syntax.Assign)
	return ok && a.Append && a.Array == nil
}

func compoundValue(_ *Reader, n syntax.Node) bool {
	a, ok := n.(*syntax.ArrayExpr)
	if !ok || len(a.Elems) == 0 || a.Elems[0].Value == nil {
		return false
	}
	first := beginning(a.Elems[0].Value)
	return strings.Contains(first, "=") ||
		HasField("typeset declare local float integer nameref export readonly function compound enum bool", first)
}

func declaresLocal(_ *Reader, n syntax.Node) bool   { return declares(n, "local") }
func declaresDeclare(_ *Reader, n syntax.Node) bool { return declares(n, "declare") }
func declaresTypeset(_ *Reader, n syntax.Node) bool { return declares(n, "typeset") }

func declares(n syntax.Node, name string) bool {
	d, ok := n.(*syntax.DeclClause)
	return ok && d.Variant.Value == name &&
		slices.ContainsFunc(d.Args, func(a *syntax.Assign) bool { return a.Name != nil && !a.Naked })
}

func splitDeclaration(r *Reader, n syntax.Node) bool {
	d, ok := n.(*syntax.DeclClause)
	return ok && slices.ContainsFunc(d.Args, func(a *syntax.Assign) bool {
		return a.Name != nil && a.Value != nil && slices.ContainsFunc(a.Value.Parts, func(part syntax.WordPart) bool {
			switch part := part.(type) {
			case *syntax.CmdSubst:
				return true
			case *syntax.ParamExp:
				return part.Param == nil || !syntax.ValidName(part.Param.Value) || maySplit(r.values[part.Param.Value])
			}
			return false
		})
	})
}

// maySplit reports whether a value may contain blanks from the line.
func maySplit(value *syntax.Word) bool {
	if value == nil {
		return false
	}
	text, plain := PlainText(value)
	splits := plain && strings.ContainsAny(text, " \t\n")
	syntax.Walk(value, func(n syntax.Node) bool {
		_, substituted := n.(*syntax.CmdSubst)
		splits = splits || substituted
		return !splits
	})
	return splits
}

func bracesReach(_ *Reader, n syntax.Node) bool {
	c, ok := n.(*syntax.CallExpr)
	if !ok {
		return false
	}
	for i, arg := range c.Args {
		if !strings.Contains(LiteralText(arg), "{") {
			continue
		}
		split := &syntax.Word{Parts: slices.Clone(arg.Parts)}
		if !syntax.SplitBraces(split) {
			continue
		}
		braces, above := climbs(split.Parts)
		if braces && (i == 0 || above || strings.HasPrefix(beginning(arg), "-")) {
			return true
		}
	}
	return false
}

// climbs reports whether there are braces among parts, and whether a part leads to a parent folder.
func climbs(parts []syntax.WordPart) (braces, above bool) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			above = above || strings.Contains(part.Value, "..")
		case *syntax.BraceExp:
			braces = true
			for _, elem := range part.Elems {
				_, inside := climbs(elem.Parts)
				above = above || inside
			}
		}
	}
	return braces, above
}

func joinedOptions(r *Reader, n syntax.Node) bool {
	return slices.ContainsFunc(wordsOf(n), func(wd *syntax.Word) bool {
		return wd != nil && slices.ContainsFunc(wd.Parts, func(part syntax.WordPart) bool {
			p, ok := part.(*syntax.ParamExp)
			if !ok || p.Param == nil || r.values[p.Param.Value] == nil {
				return false
			}
			text, plain := PlainText(r.values[p.Param.Value])
			return plain && len(text) > 1 && strings.ContainsAny(text, " \t\n") &&
				(text[0] == '-' || strings.Contains(text, ".."))
		})
	})
}

func quotedBackquotes(r *Reader, n syntax.Node) bool {
	q, ok := n.(*syntax.DblQuoted)
	return ok && slices.ContainsFunc(q.Parts, func(part syntax.WordPart) bool {
		c, ok := part.(*syntax.CmdSubst)
		return ok && c.Backquotes && strings.ContainsAny(r.text[offset(c.Pos()):offset(c.End())], `\"`)
	})
}

func timesFunction(r *Reader, n syntax.Node) bool {
	t, ok := n.(*syntax.TimeClause)
	if !ok || t.Stmt == nil {
		return false
	}
	c, ok := t.Stmt.Cmd.(*syntax.CallExpr)
	return ok && (len(c.Args) == 0 || slices.Contains(r.functions, c.Args[0].Lit()))
}

func longDescriptor(_ *Reader, n syntax.Node) bool {
	r, ok := n.(*syntax.Redirect)
	return ok && r.N != nil && len(r.N.Value) > 1 && strings.Trim(r.N.Value, "0123456789") == ""
}

func offset(p syntax.Pos) int { return int(p.Offset()) }

// PlainText returns the text of a word, and whether the word has no substitutions. A missing word is empty.
func PlainText(wd *syntax.Word) (text string, plain bool) {
	if wd == nil {
		return "", true
	}
	var b strings.Builder
	plain = true
	syntax.Walk(wd, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.Word, *syntax.DblQuoted:
		case *syntax.Lit:
			b.WriteString(n.Value)
		case *syntax.SglQuoted:
			b.WriteString(n.Value)
		default:
			plain = false
		}
		return plain
	})
	return b.String(), plain
}

// LiteralText returns the text of a word outside quotes and expansions.
func LiteralText(arg *syntax.Word) string {
	if text := arg.Lit(); text != "" {
		return text
	}
	var b strings.Builder
	for _, part := range arg.Parts {
		if l, ok := part.(*syntax.Lit); ok {
			b.WriteString(l.Value)
		}
	}
	return b.String()
}
