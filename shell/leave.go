package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// break, continue and return leave a loop or a function early, and an error of the shell itself
// - a division by zero, an assignment to a readonly variable - drops the rest of the line: the
// text after them may not have run. So the state at each such point is merged into the state at
// the end.

// An exitState is the merged state of the points where a body may have been left. The zero
// value means that it was not left.
type exitState struct{ s *state }

// maxJoined is the maximum number of variables to compare where bodies are left.
const maxJoined = 100_000

// noteState records that the body may be left in state s.
func (l *exitState) noteState(w *walker, s *state) {
	if w.joined += len(s.vars); w.joined > maxJoined {
		w.limit("too many ways through the line")
		return
	}
	if l.s == nil {
		l.s = s.clone()
		l.s.forgetOutcome()
		return
	}
	l.s.merge(s)
}

// joinTo merges the recorded states into the state at the end.
func (l *exitState) joinTo(s *state) {
	if l.s != nil {
		s.forgetOutcome()
		s.merge(l.s)
	}
}

// beginBody begins a body that can be left; calling its result ends it.
func beginBody(w *walker) func(*state) {
	l := &exitState{}
	w.exits = append(w.exits, l)
	return func(s *state) {
		w.exits = w.exits[:len(w.exits)-1]
		l.joinTo(s)
	}
}

// checkLeave judges break, continue and return. A number may select the enclosing bodies that
// they end, so all of them count as left.
func checkLeave(u *use) {
	for _, operand := range u.operands {
		judgeIndexedName(u, operand)
		noteArithmetic(u, operand)
	}
	if scan.HasField("break continue return", u.program0()) {
		for _, l := range u.w.exits {
			l.noteState(u.w, u.s)
		}
	}
}

// walkLines walks the statements of a text. Statements on one line belong together: if the
// shell fails in one of them, it drops the others.
func walkLines(w *walker, s *state, stmts []*syntax.Stmt, in flow) flow {
	out := flow{}
	for len(stmts) > 0 {
		n := 1
		for n < len(stmts) && stmts[n].Pos().Line() <= stmts[n-1].End().Line() {
			n++
		}
		dropped := w.dropped
		w.dropped = &exitState{}
		out = concatFlows(out, w.walkList(s, stmts[:n], in))
		w.dropped.joinTo(s)
		if dropped != nil && w.dropped.s != nil {
			dropped.noteState(w, w.dropped.s)
		}
		w.dropped = dropped
		stmts = stmts[n:]
	}
	return out
}

// beginSubshell begins a subshell, which exits separately; calling its result ends it.
func beginSubshell(w *walker) func() {
	exits, dropped := w.exits, w.dropped
	w.exits, w.dropped = nil, nil
	return func() { w.exits, w.dropped = exits, dropped }
}

// beginShell begins a separate shell, in which no function is being walked; calling its result
// ends it.
func beginShell(w *walker) func() {
	locals, apart := w.locals, beginSubshell(w)
	w.locals = nil
	return func() {
		w.locals = locals
		apart()
	}
}

// mayFail records that the shell may fail here, and drop the rest of the line.
func mayFail(w *walker, s *state) {
	if w.dropped != nil {
		w.dropped.noteState(w, s)
	}
}
