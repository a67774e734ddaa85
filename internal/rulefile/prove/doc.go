// Package prove answers questions about rules: whether any call may write a path, whether a rule ever decides, whether
// two rules conflict, and what one policy allows that another does not.
//
//	w, err := prove.New(prove.Setting{Rules: rules, Options: options, Given: conditions})
//	answer := w.Can(prove.Question{Kind: umpire.KindWrite, Patterns: []string{"/home/u/.ssh/**"}})
//
// Rules can tell only finitely many classes of accesses apart. For paths, an automaton follows all patterns at once
// and finds a shortest path of every class; for command lines and hosts, the words of the rules give the classes. Each
// class is then decided by [policy.Decide] itself, on a query with the facts of a real call. So an answer of no holds
// for all accesses of the model, and an answer of yes comes with a call.
//
// Where the files on this machine matter, a class is decided twice: once as if they permitted the most, once as if they
// permitted the least. A no needs the first, a yes the second or a check by the caller. Answers that need more steps
// than the limits of this package are undecided, with the reason.
//
// The model leaves out the effects of code that umpire cannot read, calls on whole folders and wildcards that a shell
// expands, and paths with a colon or a backslash. [Gaps] says so in words.
package prove
