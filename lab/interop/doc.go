// Package interop plays every question about a host's behaviour with the real agent behind umpire, and without it. The
// outcomes make the table of docs/hosts.md. The tests with agents need the build tag interop:
//
//	make interop
//
// They run released agents against a scripted model on this machine, without an account
// or a key, and if the system allows it without any network but the loopback interface.
// The tests use the setup of a user: the real program with umpire in front of it.
//
// The package extends [drive], with which users try an agent. A [driver] adds what the lab knows about an agent: where
// npm installs it, the options of its modes, and its other tools. A [cell] is one question about it, such as
// the outcome of a call when the hook is killed.
//
// The first run installs the agents with npm into the user's cache folder. UMPIRE_INTEROP_ONLY
// names the agents to test, such as claude,codex; the default is all. An agent that cannot be
// installed fails if it has a table.
// UMPIRE_CLAUDE_VERSION selects another release, such as latest, and UMPIRE_CLAUDE another
// copy of the program that every user can start; likewise for the other agents.
// UMPIRE_PROGRAM names a built umpire to test instead of this tree's.
//
// Run as root, the tests start everything as an ordinary user, because Claude Code refuses
// bypassPermissions for root. The results are recorded in testdata: NAME/matrix.txt has the
// outcome of each cell with an agent. For Claude Code, modes.txt has each mode against each
// kind of call, and contract has its reactions to a hook's answers. After you have checked
// the changes of a new release, record them with -update.
package interop
