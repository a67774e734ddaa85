// Package overlap lets trials of one project run at the same time.
//
// A trial registers itself before its command starts. A keep, an undo or a recovery locks the folders that it
// changes, and announces every path to the trials that see it before it changes the first one. So a trial whose
// [Trial.Changed] is empty after its command has ended saw one state of the project all the time.
//
// Everything is released by the kernel when a process dies, so nothing has to be recovered.
package overlap
