// Package interop checks umpire against real agents. It holds nothing but
// tests, and those only with the build tag interop:
//
//	make interop
//
// They run a released Claude Code against a scripted model on this machine: no
// account, no key, and where the system allows it no network but the loopback
// interface. What is tested is what a user has: the real program, with hooks
// that `umpire init claude` wrote.
//
// Claude Code is installed with npm into the user's cache folder on the first
// run. UMPIRE_CLAUDE_VERSION names another release, such as latest; UMPIRE_CLAUDE another
// copy of its native program; UMPIRE_PROGRAM
// names a built umpire to test in place of this tree's.
//
// Run as root, the tests start everything as an ordinary user, since Claude Code refuses
// bypassPermissions to root. What it did is recorded in testdata: modes.txt holds each
// mode against each kind of call, and contract what it makes of a hook's answers. After a
// look at what a new release does otherwise, -update records it.
package interop
