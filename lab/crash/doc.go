// Package crash kills umpire at bad moments and checks its data afterwards. It holds
// only tests, which run the real program: gates and runners killed by SIGKILL at random
// moments, several gates over one database, a database that crashes, a full disk.
//
//	go -C lab test ./crash                 # a few hundred kills
//	make kills KILLS=20000 STORE=postgres  # as many as wanted
//	make team-bench                        # the figures of docs/team.md
//
// The effects of tools are counted from outside, in files that the gate does not know.
// UMPIRE_PROGRAM names a built umpire to test instead of this tree's.
package crash
