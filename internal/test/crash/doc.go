// Package crash ends umpire where it hurts and looks at what is left. It holds
// nothing but tests, which run the real program: gates and runners that die by
// SIGKILL at any moment, several gates over one database, a database that crashes, a
// disk that is full.
//
//	go test ./internal/test/crash                              # a few hundred kills
//	make kills KILLS=20000 STORE=postgres        # as many as wanted
//	make team-bench                              # the figures of docs/team.md
//
// What a tool has done is counted from outside, in files that the gate knows nothing
// of. UMPIRE_PROGRAM names a built umpire to test in place of this tree's.
package crash
