// Package language reads languages that stand in command lines, and knows how shells differ.
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
package language
