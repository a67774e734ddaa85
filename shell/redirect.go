package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// walkRedirects walks the redirections of a statement. It returns the command's standard input,
// and whether its standard output goes to a file.
func (w *walker) walkRedirects(s *state, redirs []*syntax.Redirect, in flow) (flow, bool) {
	out := false
	for _, r := range redirs {
		if r.Hdoc != nil {
			in = readHeredoc(w, s, r)
			continue
		}
		if sub := processSubstitution(r); sub != nil {
			in = w.walkSubshell(s, sub.Stmts, flow{kind: flowForeign})
			continue
		}
		target := w.expandOne(s, r.Word)
		switch r.Op {
		case syntax.WordHdoc:
			in = flow{kind: flowForeign, from: "a here-string", secret: target.secret}
			if target.known() {
				in = flow{kind: flowText, text: target.text + "\n", secret: target.secret}
			}
		case syntax.RdrIn:
			emitRedirected(w, s, umpire.KindRead, r.Word, target)
			in = flow{kind: flowForeign, from: target.display()}
		case syntax.DplIn, syntax.DplOut:
			out = walkDuplicate(w, s, r, target) || out
		case syntax.RdrInOut, syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob,
			syntax.RdrAll, syntax.RdrAllClob, syntax.AppAll, syntax.AppAllClob:
			emitRedirected(w, s, umpire.KindWrite, r.Word, target)
			out = out || r.N == nil || r.N.Value == "1"
		default:
			w.doubt("", "a redirection that is not known")
		}
	}
	return in, out
}

// emitRedirected emits the file of a redirection, and guesses the default of an unset variable
// in it.
func emitRedirected(w *walker, s *state, kind umpire.AccessKind, written *syntax.Word, target word) {
	w.path(s, kind, target, accessOf{redirect: true})
	if !takesDefault([]*syntax.Word{written}) {
		return
	}
	before := s.clone()
	walkApart(w, func(apart *walker) {
		apart.defaults = true
		file := apart.expandOne(before, written)
		apart.accesses = nil
		apart.path(before, kind, file, accessOf{redirect: true})
	})
}

// processSubstitution returns the process substitution of `< <(…)`, or nil: its output is read
// as through a pipe.
func processSubstitution(r *syntax.Redirect) *syntax.ProcSubst {
	if r.Op != syntax.RdrIn || r.N != nil && r.N.Value != "0" || len(r.Word.Parts) != 1 {
		return nil
	}
	sub, _ := r.Word.Parts[0].(*syntax.ProcSubst)
	if sub == nil || sub.Op != syntax.CmdIn {
		return nil
	}
	return sub
}

// readHeredoc returns the body of a here-document as standard input. A quoted delimiter makes
// it data; otherwise the shell expands it and runs its substitutions.
func readHeredoc(w *walker, s *state, r *syntax.Redirect) flow {
	if quotedDelimiter(r.Word) {
		return flow{kind: flowText, text: scan.LiteralText(r.Hdoc)}
	}
	e := expansion{w: w, s: s, whole: true}
	for _, part := range r.Hdoc.Parts {
		e.expandPart(part, true)
	}
	if e.current.open {
		return flow{kind: flowForeign, from: "a here-document", secret: e.current.secret}
	}
	return flow{kind: flowText, text: e.current.text}
}

// walkDuplicate walks 2>&1 and similar redirections; >&file is a write. It reports whether the
// output goes to a file.
func walkDuplicate(w *walker, s *state, r *syntax.Redirect, target word) bool {
	if target.known() && strings.Trim(target.text, "0123456789") == "" || target.text == "-" {
		return false
	}
	kind := umpire.KindWrite
	if r.Op == syntax.DplIn {
		kind = umpire.KindRead
	}
	w.path(s, kind, target, accessOf{redirect: true})
	return kind == umpire.KindWrite
}

// accessOf describes an access apart from its path.
type accessOf struct {
	redirect bool
	tree     bool
	kinds    string // the only file extensions that a write changes
	names    bool
	follows  bool // links found below are followed
	inside   bool // its contents are read, even by a program that only peeks at operands
	table    string
	why      umpire.Phrase
	risk     umpire.Risk // of writes and deletes; the zero value selects the kind's default
	moved    bool        // a deleted path only moves elsewhere, or is in git
}

// path emits the access of a path for each folder that it may start from.
func (w *walker) path(s *state, kind umpire.AccessKind, target word, of accessOf) {
	if rest, ok := strings.CutPrefix(target.text, "/dev/tcp/"); ok {
		w.network(rest, "opens a connection")
		return
	}
	if rest, ok := strings.CutPrefix(target.text, "/dev/udp/"); ok {
		w.network(rest, "opens a connection")
		return
	}
	a := umpire.Access{
		Kind: kind, Risk: of.pathRisk(kind), Reason: of.pathReason(kind),
		Redirect: of.redirect, Tree: of.tree || target.under, Names: of.names && kind == umpire.KindRead,
		Follows: of.follows || target.under && kind != umpire.KindDelete, Glob: target.glob, Table: of.table,
		Kinds: strings.Fields(of.kinds),
	}
	below := target.pick(&a, of.tree)
	if kind == umpire.KindRead && !of.names && target.under && target.listed != "" &&
		!scan.HasField(keepsContents, firstWord(of.table)) {
		a.Handed = strings.Split(target.listed, "/")
	}
	if of.moved {
		a.Consequence = umpire.Reversible
	}
	paths := s.absolutePaths(target)
	if len(paths) == 0 || target.unplaced() {
		a.Target = target.display()
		a.Doubt = doubtPath
		if target.known() {
			a.Doubt = UnknownFolder
		}
		w.emit(a)
		return
	}
	for _, p := range paths {
		a.Target = strings.TrimRight(p, "/") + below
		if below == "" {
			a.Target = p
		}
		w.emit(a)
	}
}

// pick narrows a write or delete below a folder to a filter's selection there, and returns the
// suffix for the folder. A command that takes a folder with everything below it may take the
// folder where the search began.
func (wd *word) pick(a *umpire.Access, whole bool) string {
	switch {
	case wd.picked == "" || wd.picked == pickedSome && whole || a.Kind == umpire.KindRead:
		return ""
	case wd.picked[0] == '/' || strings.ContainsAny(wd.text, `*?[{\`):
		a.Picked = true
		return ""
	}
	a.Picked, a.Glob, a.Tree = true, true, whole
	return "/**/" + wd.picked
}

// keepsContents are programs that print only matching parts of their files, as if they searched
// the folder, or no content at all.
const keepsContents = "grep egrep fgrep ggrep zgrep zegrep zfgrep bzgrep xzgrep zstdgrep rg ripgrep ag ack ack-grep " +
	"wc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5 test file stat ls du"

func (of accessOf) pathRisk(kind umpire.AccessKind) umpire.Risk {
	switch {
	case of.risk != umpire.Critical:
		return of.risk
	case kind == umpire.KindRead:
		return umpire.Safe
	case kind == umpire.KindDelete:
		return umpire.High
	}
	return umpire.Medium
}

// RedirectWrites is the reason of a file that a redirection writes.
const RedirectWrites umpire.Phrase = "a redirection writes it"

func (of accessOf) pathReason(kind umpire.AccessKind) umpire.Phrase {
	switch {
	case of.why != "":
		return of.why
	case of.redirect && kind == umpire.KindRead:
		return "a redirection reads it"
	case of.redirect:
		return RedirectWrites
	}
	return umpire.Phrase(kind.String() + "s it")
}

// network emits the access of a host or URL.
func (w *walker) network(target string, why umpire.Phrase) {
	w.emit(umpire.Access{Kind: umpire.KindNetwork, Target: target, Risk: umpire.High, Reason: why})
}
