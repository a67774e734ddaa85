// Package scan reads languages inside command lines, and knows how shells differ.
//
// [ReadAwk] and [ReadSed] parse programs of awk and sed, and report their effects besides printing
// and editing text. [SQLDialect] recognizes statements that only look. It lists the accepted syntax:
// a statement must begin in a known way, every function must be a known one, and it must not contain
// syntax that databases read differently (comments, backslashes, dollar quotes). It rejects anything
// else. A view or a custom operator of the database may have hidden effects; the person is
// responsible for those.
//
// [Shells] are sets of shells, and a [Reader] finds the constructs that they read differently.
// [CheckedAgainst] names the manuals that the tables of programs were checked against.
//
// # Code
//
// [FindActs] finds the obvious effects of a piece of code: the shell commands that it
// starts and the paths that it deletes or writes, if they are literals. It reads Python,
// JavaScript, Ruby, Perl, PHP, Lua and similar languages as one language of names, strings and
// calls.
//
// Its findings may be wrong in either direction: code can build any text at run time, and a
// function may be a different one with the same name. So use the result to refuse commands that
// would destroy a system, but never as a proof that code is harmless.
//
// [ReadPython] is such a proof: it returns false unless a short program provably only computes, prints,
// and reads files with literal paths. It accepts only the listed ones: any other construct, module,
// function or attribute makes a program unknown. So does a path that is unknown before the program
// runs. The proof assumes that the interpreter loads its own library; the caller checks that no file
// of the project replaces a module.
package scan
