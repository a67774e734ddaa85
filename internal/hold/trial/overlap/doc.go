// Package overlap lets trials of one project run at the same time.
//
// A trial registers before its command starts. A keep, an undo or a recovery locks the folders that it
// changes, and announces all paths to the affected trials before its first change. A trial whose
// [Trial.Changed] is empty after its command has ended therefore saw one consistent state of the project.
//
// The kernel releases all locks when a process dies, so no recovery is needed.
package overlap
