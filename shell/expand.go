package shell

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// Limits of expansion; a word beyond them is unknown.
const (
	maxBraceWords = 256
	maxWordBytes  = 64 << 10
	maxShape      = 1 << 10 // bytes; a longer script with numbers is unknown
)

// expandWords expands the words of a command.
func (w *walker) expandWords(s *state, args []*syntax.Word) []word {
	out := make([]word, 0, len(args))
	for _, arg := range args {
		out = appendFields(out, w, s, arg)
		if n := len(out); n > 0 {
			judgeDescriptor(w, out[n-1])
		}
		if w.full {
			return []word{{open: true, split: true}}
		}
	}
	return out
}

// expandFields expands one word like the shell: braces, tilde, parameters, substitutions,
// splitting. It keeps wildcards.
func (w *walker) expandFields(s *state, arg *syntax.Word) []word { return appendFields(nil, w, s, arg) }

// appendFields is like expandFields, but appends the words to out.
func appendFields(out []word, w *walker, s *state, arg *syntax.Word) []word {
	variants := []*syntax.Word{arg}
	if split := splitBraces(arg); split != nil {
		var ok bool
		if variants, ok = expandBraces(split.Parts); !ok {
			w.walkNested(s, arg)
			return append(out, word{open: true, split: true})
		}
	}
	e := expansion{w: w, s: s, done: out}
	for _, variant := range variants {
		for _, part := range e.expandTilde(variant.Parts) {
			e.expandPart(part, false)
		}
		e.endField()
	}
	if w.expanded += len(e.done) - len(out); w.expanded > maxExpanded {
		w.limit("expands to too many words")
		return append(out, word{open: true, split: true})
	}
	return e.done
}

// expandOne expands a word that the shell does not split, such as the value of an
// assignment or the target of a redirection.
func (w *walker) expandOne(s *state, arg *syntax.Word) word {
	if arg == nil {
		return word{}
	}
	e := expansion{w: w, s: s, whole: true}
	for _, part := range e.expandTilde(arg.Parts) {
		e.expandPart(part, false)
	}
	return e.current
}

// An expansion builds the fields of one word.
type expansion struct {
	w       *walker
	s       *state
	whole   bool // never split
	done    []word
	current word
}

// expandTilde replaces a leading ~ of a word with the home directory, and returns the other parts.
func (e *expansion) expandTilde(parts []syntax.WordPart) []syntax.WordPart {
	if len(parts) == 0 {
		return nil
	}
	first, ok := parts[0].(*syntax.Lit)
	if !ok || !strings.HasPrefix(first.Value, "~") {
		return parts
	}
	name, rest, _ := strings.Cut(first.Value[1:], "/")
	home := homeOf(e.s, name)
	if len(first.Value) > 1+len(name) {
		rest = "/" + rest
	}
	e.addText(home)
	return append([]syntax.WordPart{&syntax.Lit{Value: rest}}, parts[1:]...)
}

// joinsWords reports whether an expansion is "$*" or "${a[*]}", which is a single word. whole
// makes every list a single word.
func joinsWords(p *syntax.ParamExp, whole bool) bool {
	if p.Param == nil {
		return false
	}
	index, _ := p.Index.(*syntax.Word)
	return p.Param.Value == "*" || whole && p.Param.Value == "@" || index != nil && (index.Lit() == "*" || whole)
}

// joinWords joins several words into one. The text between them may have been changed.
func (e *expansion) joinWords(words []word) []word {
	if len(words) < 2 {
		return words
	}
	between := lit(" ")
	if _, changed := e.s.vars["IFS"]; changed {
		between = word{open: true}
	}
	joined := expansion{w: e.w, s: e.s, whole: true}
	for i, wd := range words {
		if i > 0 {
			joined.addText(between)
		}
		joined.addText(wd)
	}
	return []word{joined.current}
}

// homeOf returns the home directory of a user; "" is the current user.
func homeOf(s *state, user string) word {
	switch user {
	case "":
		if v, ok := s.vars["HOME"]; ok {
			return v.first()
		}
		return word{open: true, dashless: true}
	case "root":
		return lit("/root")
	case "+", "-":
		return word{open: true, dashless: true}
	}
	return lit("/home/" + user)
}

func (v value) first() word {
	if len(v.words) == 0 {
		return word{}
	}
	return v.words[0]
}

func (e *expansion) expandPart(part syntax.WordPart, quoted bool) {
	switch part := part.(type) {
	case *syntax.Lit:
		e.addLiteral(part.Value, quoted)
	case *syntax.SglQuoted:
		e.current.quoted = true
		e.addText(singleQuoted(part, e.s.shells))
	case *syntax.DblQuoted:
		e.current.quoted = true
		for _, inner := range part.Parts {
			e.expandPart(inner, true)
		}
	case *syntax.ParamExp:
		words := e.expandParam(part)
		words = e.keepForeign(part, words)
		if (quoted || e.whole) && joinsWords(part, e.whole) {
			words = e.joinWords(words)
		}
		e.insertWords(withSecret(words, e.s.secretOf(part)), quoted)
	case *syntax.CmdSubst:
		e.insertWords(e.expandSubstitution(part, quoted), quoted)
	case *syntax.ArithmExp:
		if n, known := e.s.evaluateNumber(part.X); known {
			e.addText(lit(strconv.Itoa(n)))
			return
		}
		walkArithmetic(e.w, e.s, part.X)
		e.addText(word{open: true, shape: &aShape})
	case *syntax.ProcSubst:
		out := e.w.walkSubshell(e.s, part.Stmts, flow{kind: flowForeign})
		if part.Op == syntax.CmdOut {
			e.addText(lit("/dev/stdout")) // the commands read text that is written there
			return
		}
		e.addText(word{text: "/dev/fd/63", prints: out.text})
	case *syntax.ExtGlob:
		e.w.doubt("", "a wildcard with brackets, which zsh may run as code")
		e.addText(word{text: "*", glob: true})
	default:
		e.addText(word{open: true, split: true})
	}
}

// addLiteral adds unquoted or double-quoted source text with its backslashes.
func (e *expansion) addLiteral(text string, quoted bool) {
	if strings.HasSuffix(e.current.text, "$") && expandsInZsh(text) {
		e.addText(word{open: true, split: true})
		return
	}
	if bracketOfZsh(e.current.text[max(0, len(e.current.text)-2):] + text) {
		e.w.doubt("", "zsh expands what follows $~ and the like")
	}
	if strings.IndexByte(text, '\\') < 0 {
		e.addText(word{text: text, glob: !quoted && !e.whole && hasWildcard(text)})
		return
	}
	var b strings.Builder
	glob := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			if quoted && !strings.ContainsRune("$`\"\\\n", rune(text[i])) {
				b.WriteByte('\\')
			}
			if text[i] != '\n' {
				b.WriteByte(text[i])
			}
		case !quoted && isWildcard(text[i:]):
			glob = true
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	e.addText(word{text: b.String(), glob: glob && !e.whole})
}

// isWildcard reports whether text begins with a wildcard.
func isWildcard(text string) bool {
	return text[0] == '*' || text[0] == '?' || text[0] == '[' && strings.IndexByte(text, ']') > 1
}

// hasWildcard reports whether text without backslashes has a wildcard.
func hasWildcard(text string) bool {
	for i := range len(text) {
		if isWildcard(text[i:]) {
			return true
		}
	}
	return false
}

// expandsInZsh reports whether zsh would expand a preceding dollar sign with this text, as in
// $=name; the parser sees two texts.
func expandsInZsh(text string) bool {
	return len(text) > 1 && strings.IndexByte("=~^", text[0]) >= 0 && scan.IsLetter(text[1])
}

// addText appends text that the shell does not split.
func (e *expansion) addText(wd word) {
	cur := &e.current
	if cur.open && strings.ContainsAny(wd.text, "$`") {
		e.w.evaluated.text = true // the word does not keep it
	}
	var shape *string
	if cur.open || wd.open {
		shape = joinedShape(cur, &wd)
	}
	switch {
	case cur.open:
		// Text after unknown text is unknown, but a path that stays below a folder still does
		// so without further "..".
		if !wd.known() || leavesFolder(wd.text) {
			cur.under = false
		}
		if wd.text != "" || wd.open {
			cur.listed = ""
		}
	case len(cur.text)+len(wd.text) > maxWordBytes:
		cur.open, cur.under = true, false
	default:
		if cur.text == "" {
			cur.dashless = wd.dashless
		}
		cur.text += wd.text
		cur.open = wd.open
		cur.under, cur.listed = wd.under && wd.open, wd.listed
	}
	cur.glob = cur.glob || wd.glob
	cur.shape = shape
	cur.split = cur.split || wd.split && !e.whole
	cur.quoted = cur.quoted || wd.quoted
	cur.foreign = cur.foreign || wd.foreign
	cur.secret = cmp.Or(cur.secret, wd.secret)
	cur.prints = cmp.Or(cur.prints, wd.prints)
}

// joinedShape returns the shape of two joined words.
func joinedShape(a, b *word) *string {
	before, ok := a.whole()
	behind, also := b.whole()
	if !ok || !also || a.glob || b.glob || len(before)+len(behind) > maxShape {
		return nil
	}
	joined := before + behind
	return &joined
}

// insertWords adds the result of an expansion: quoted it stays one word, unquoted the
// shell splits it at blanks.
func (e *expansion) insertWords(words []word, quoted bool) {
	if quoted || e.whole {
		e.insertQuoted(words)
		return
	}
	for i, wd := range words {
		if i > 0 {
			e.endField()
		}
		e.insertSplit(wd)
	}
}

func (e *expansion) insertQuoted(words []word) {
	for i, wd := range words {
		if i > 0 && !e.whole {
			e.endField()
		}
		if !wd.under || e.current.text != "" {
			wd.under = wd.under && e.current.text == ""
		}
		wd.split = wd.split && len(words) > 1
		e.addText(wd)
	}
}

func (e *expansion) insertSplit(wd word) {
	if _, changed := e.s.vars["IFS"]; changed || wd.open && !wd.under {
		wd.split = wd.open || changed
		wd.open = wd.open || changed
		if changed {
			wd.text, wd.shape = "", nil
		}
		e.addText(wd)
		return
	}
	pieces := strings.Fields(wd.text)
	if len(pieces) == 0 && wd.open {
		e.addText(wd)
	}
	if len(pieces) == 0 {
		return
	}
	if strings.TrimLeft(wd.text, " \t\n") != wd.text && e.current.text != "" {
		e.endField()
	}
	for i, piece := range pieces {
		if i > 0 {
			e.endField()
		}
		last := i == len(pieces)-1
		e.addText(word{
			text: piece, open: wd.open && last, under: wd.under && last, dashless: wd.dashless,
			glob: strings.ContainsAny(piece, "*?["), listed: wd.listed,
		})
	}
}

// leavesFolder reports whether text after an unknown path could lead out of its folder: "/.."
// does, and "..HEAD" is the end of a name.
func leavesFolder(text string) bool {
	first, rest, _ := strings.Cut(text, "/")
	return first == "." || first == ".." || strings.HasPrefix(rest, "..") || strings.Contains(rest, "/..")
}

// endField ends the current field.
func (e *expansion) endField() {
	if e.current.text != "" || e.current.open || e.current.quoted {
		e.done = append(e.done, e.current)
	}
	e.current = word{}
}

// expandParam expands a parameter to its possible words.
func (e *expansion) expandParam(p *syntax.ParamExp) []word {
	e.w.walkNested(e.s, p)
	e.judgeEvaluated(p)
	anything := []word{{open: true, split: true}}
	if got, known := e.computeParam(p); known {
		return []word{got}
	}
	if p.Param == nil || p.Excl || p.Flags != nil || p.Slice != nil || p.Repl != nil {
		return anything
	}
	name := p.Param.Value
	if p.Length || p.Width || name == "?" || name == "#" || name == "$" || name == "!" {
		return []word{numberWord()}
	}
	words, found := e.lookUpParam(name, p)
	if name == "@" {
		anything = append(anything, anything...) // any number of words, quoted or not
	}
	if p.Exp == nil {
		if !found {
			return anything
		}
		return words
	}
	return e.applyParamOperator(p, words, found)
}

// computeParam returns the length, a part or a trimmed form of a known variable.
func (e *expansion) computeParam(p *syntax.ParamExp) (word, bool) {
	if p.Param == nil || !syntax.ValidName(p.Param.Value) || p.Excl || p.Flags != nil || p.Width || p.Index != nil ||
		p.Repl != nil {
		return word{}, false
	}
	words, found := e.lookUpParam(p.Param.Value, p)
	if !found || len(words) != 1 || words[0].open || len(words[0].text) > maxTrimmed {
		return word{}, false
	}
	wd := words[0]
	ok := false
	switch {
	case p.Exp != nil && p.Exp.Word != nil && p.Slice == nil && !p.Length && isTrim(p.Exp.Op):
		var literals []string
		if literals, ok = readPattern(p.Exp.Word); !ok {
			return word{}, false
		}
		if wd.glob {
			return trimGlob(p.Exp.Op, wd, literals)
		}
		wd.text = trimText(p.Exp.Op, wd.text, literals)
	case wd.glob || p.Exp != nil:
	case p.Length && p.Slice == nil:
		return lit(strconv.Itoa(len(wd.text))), isASCII(wd.text)
	case p.Slice != nil && p.Slice.Offset != nil && !p.Length:
		wd.text, ok = e.s.sliceText(wd.text, p.Slice)
	}
	return word{text: wd.text}, ok
}

// judgeEvaluated judges the parts of ${…} that the shell evaluates as arithmetic, and the name
// in a variable.
func (e *expansion) judgeEvaluated(p *syntax.ParamExp) {
	if p.Index != nil {
		walkIndex(e.w, e.s, p.Index)
	}
	if p.Slice != nil && p.Slice.Offset != nil {
		walkIndex(e.w, e.s, p.Slice.Offset)
	}
	if p.Slice != nil && p.Slice.Length != nil {
		walkIndex(e.w, e.s, p.Slice.Length)
	}
	if p.Excl && p.Param != nil && mayEvaluate(e.w, e.s, p.Param.Value) {
		e.w.doubt("", "${!…} can run what a variable holds")
	}
}

// applyParamOperator applies operators such as ${name:-word}.
func (e *expansion) applyParamOperator(p *syntax.ParamExp, words []word, found bool) []word {
	anything := []word{{open: true, split: true}}
	if e.w.defaults && p.Exp.Word != nil && operatorHasDefault(p.Exp.Op) &&
		!(found && len(words) == 1 && words[0].known()) {
		return e.w.expandFields(e.s, p.Exp.Word)
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		if found && len(words) == 1 && words[0].known() && words[0].text != "" {
			return words
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		judgeSetVariable(e.w, p.Param.Value, word{open: true})
		if p.Exp.Word != nil && scan.HasField(integers, p.Param.Value) {
			doubtNumber(e.w, e.s, p.Param.Value, e.w.expandFields(e.s, p.Exp.Word))
		}
		e.s.vars[p.Param.Value] = unknownValue()
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if found {
			return words
		}
	case syntax.OtherParamOps:
		e.w.doubt("", "${…@…} can run what a variable holds")
	}
	return anything
}

// lookUpParam returns the words of a parameter.
func (e *expansion) lookUpParam(name string, p *syntax.ParamExp) ([]word, bool) {
	switch name {
	case "@", "*":
		return e.s.args, e.s.args != nil
	case "PWD":
		if _, set := e.s.vars["PWD"]; !set && len(e.s.dirs) == 1 {
			return []word{lit(e.s.dirs[0])}, true
		}
	}
	if n, err := strconv.Atoi(name); err == nil {
		words, found := positionalWords(e.s.args, n)
		if secret := secretAmong(e.s.args); !found && secret != "" {
			return []word{{open: true, split: true, secret: secret}}, true
		}
		return words, found
	}
	v, ok := e.s.vars[name]
	if !ok || scan.HasField(shellOwned, name) {
		return nil, false
	}
	return e.s.element(v, p.Index)
}

// element returns the value of ${name[index]}. bash and zsh disagree about the element of a
// number and about a name without an index, which is the first element or all of them.
func (s *state) element(v value, index syntax.ArithmExpr) ([]word, bool) {
	every := false
	if wd, ok := index.(*syntax.Word); ok {
		every = wd.Lit() == "@" || wd.Lit() == "*"
	}
	switch n, known := s.evaluateNumber(index); {
	case !v.array && (index == nil || every):
		return []word{v.first()}, true
	case every, v.array && len(v.words) == 1 && (index == nil || known && n == 0):
		return v.words, true
	case v.array && known && n == 0 && len(v.words) > 0 && v.words[0].text != "":
		return v.words[:1], true
	}
	return nil, false
}

// secretAmong returns a secret in one of the words, or "".
func secretAmong(words []word) string {
	for _, wd := range words {
		if wd.secret != "" {
			return wd.secret
		}
	}
	return ""
}

// expandSubstitution walks the commands of $(…) and returns their output.
func (e *expansion) expandSubstitution(sub *syntax.CmdSubst, quoted bool) []word {
	out := e.w.walkSubshell(e.s, sub.Stmts, flow{})
	switch out.kind {
	case flowText:
		return []word{{text: strings.TrimRight(out.text, "\n"), quoted: quoted}}
	case flowPaths:
		words := make([]word, 0, len(out.dirs))
		for _, dir := range out.dirs {
			if dir.glob {
				words = append(words, word{text: dir.text, glob: true, dashless: true})
				continue
			}
			words = append(words, word{text: dir.text, open: true, under: true,
				dashless: dir.dashless || dir.text != "", listed: dir.listed})
		}
		if quoted && len(words) != 1 {
			return []word{{open: true}}
		}
		return words
	case flowNone, flowForeign, flowRemote:
	}
	if out.numbers {
		counts := numberWord()
		counts.split = !quoted
		return []word{counts}
	}
	foreign := out.kind == flowRemote || copiesText(out.from) || copiesText(lastProgram(sub)) ||
		e.s.printsCode(sub, new(maxReferences))
	return []word{{open: true, split: !quoted, foreign: foreign}}
}

// copiesText reports whether a program prints its input verbatim. Other programs select or
// count, which rarely preserves text that runs when evaluated.
func copiesText(program string) bool {
	return scan.HasField("cat tac head tail less more bat zcat base64 xxd printf echo sed strings rev read", program)
}

// countsOnly reports whether a program's output is a number or a date.
func countsOnly(program string) bool {
	return scan.HasField("wc date nproc expr seq stat id", program)
}

// splitBraces returns a word with its {a,b} and {1..3} as parts, or nil if there are no such braces.
func splitBraces(arg *syntax.Word) *syntax.Word {
	if !strings.Contains(scan.LiteralText(arg), "{") {
		return nil
	}
	// Splitting changes the word, and other readers of the line do not know the result.
	split := &syntax.Word{Parts: slices.Clone(arg.Parts)}
	if !syntax.SplitBraces(split) {
		return nil
	}
	return split
}

// expandBraces expands {a,b} and {1..3}. It reports false if there would be too many words.
func expandBraces(parts []syntax.WordPart) ([]*syntax.Word, bool) {
	words := []*syntax.Word{{}}
	for _, part := range parts {
		alternatives := [][]syntax.WordPart{{part}}
		if brace, ok := part.(*syntax.BraceExp); ok {
			if alternatives, ok = braceAlternatives(brace); !ok {
				return nil, false
			}
		}
		if len(words)*len(alternatives) > maxBraceWords {
			return nil, false
		}
		var next []*syntax.Word
		for _, wd := range words {
			for _, alternative := range alternatives {
				joined := append(append([]syntax.WordPart{}, wd.Parts...), alternative...)
				next = append(next, &syntax.Word{Parts: joined})
			}
		}
		words = next
	}
	return words, true
}

func braceAlternatives(brace *syntax.BraceExp) ([][]syntax.WordPart, bool) {
	if brace.Sequence {
		return braceSequence(brace)
	}
	var out [][]syntax.WordPart
	for _, elem := range brace.Elems {
		words, ok := expandBraces(elem.Parts)
		if !ok || len(out)+len(words) > maxBraceWords {
			return nil, false
		}
		for _, wd := range words {
			out = append(out, wd.Parts)
		}
	}
	return out, true
}

func braceSequence(brace *syntax.BraceExp) ([][]syntax.WordPart, bool) {
	from, err1 := strconv.Atoi(brace.Elems[0].Lit())
	to, err2 := strconv.Atoi(brace.Elems[1].Lit())
	if err1 != nil || err2 != nil || len(brace.Elems) > 2 {
		return nil, false // letters and steps are rare, so unknown
	}
	step := 1
	if to < from {
		step = -1
	}
	var out [][]syntax.WordPart
	for n := from; ; n += step {
		if len(out) >= maxBraceWords {
			return nil, false
		}
		out = append(out, []syntax.WordPart{&syntax.Lit{Value: strconv.Itoa(n)}})
		if n == to {
			return out, true
		}
	}
}

// singleQuoted returns the text of '…', or of $'…' with its escapes decoded. Escapes that Go
// does not share make the word unknown.
func singleQuoted(part *syntax.SglQuoted, shells scan.Shells) word {
	if !part.Dollar || !strings.Contains(part.Value, `\`) {
		return lit(part.Value)
	}
	if shells&scan.Dash != 0 {
		return word{open: true, dashless: true} // there it begins with a dollar sign
	}
	source := ansiEscapes.Replace(part.Value)
	text, err := strconv.Unquote(`"` + source + `"`)
	if err != nil {
		return word{open: true}
	}
	return lit(text)
}

var ansiEscapes = strings.NewReplacer(`\\`, `\\`, `"`, `\"`, `\'`, `'`, `\"`, `\"`, `\e`, `\x1b`, `\E`, `\x1b`, "\n",
	`\n`)

// absolutePaths returns the possible absolute paths of a word.
func (s *state) absolutePaths(wd word) []string {
	if path.IsAbs(wd.text) {
		return []string{wd.text}
	}
	if wd.text == "" && wd.open && !wd.under {
		return nil
	}
	var out []string
	for _, dir := range s.dirs {
		out = append(out, joinPath(dir, wd.text))
	}
	return out
}

// takesDefault reports whether words contain a default for an unset variable.
func takesDefault(words []*syntax.Word) bool {
	return slices.ContainsFunc(words, func(wd *syntax.Word) bool {
		return slices.ContainsFunc(wd.Parts, partHasDefault)
	})
}

func operatorHasDefault(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
		syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return true
	default:
		return false
	}
}
