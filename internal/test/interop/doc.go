// Package interop checks umpire against real agents. It holds nothing but
// tests, and those only with the build tag interop:
//
//	make interop
//
// They run released agents against a scripted model on this machine: no account, no key,
// and where the system allows it no network but the loopback interface. What is tested is
// what a user has: the real program, with umpire in front of it. [internal/conformance]
// says how each is started, and what is asked about it.
//
// The agents are installed with npm into the user's cache folder on the first run.
// UMPIRE_INTEROP_ONLY names those that are tested, such as claude,codex; all are without it. One
// that cannot be installed fails if there is a table of it.
// UMPIRE_CLAUDE_VERSION names another release, such as latest; UMPIRE_CLAUDE another copy of
// the program that every user can start; and so on for each agent. UMPIRE_PROGRAM names a
// built umpire to test in place of this tree's.
//
// Run as root, the tests start everything as an ordinary user, since Claude Code refuses
// bypassPermissions to root. What was seen is recorded in testdata: NAME/matrix.txt holds
// what became of each cell with an agent. Of Claude Code, modes.txt holds each mode against
// each kind of call, and contract what it makes of a hook's answers. After a look at what a
// new release does otherwise, -update records it.
package interop
