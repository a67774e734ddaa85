// Package lease lets trials run at the same time. They share the folders of a project, and its build caches.
//
// A trial registers before its command starts. A keep, an undo or a recovery locks the folders that it
// changes, and announces all paths to the affected trials before its first change. A trial whose
// [Trial.Changed] is empty after its command has ended therefore saw one consistent state of the project.
//
// The kernel releases all locks when a process dies, so no recovery is needed.
//
// # Build caches
//
// The writes of tried commands to build caches are kept for later tried commands of the same project.
//
//	cache, err := lease.OpenCache(layers, project) // a folder that no other command uses
//	...                                            // a command runs with its cache layers in cache.Dir
//	err = cache.Close()                            // the next command finds them
//
// Guarantees:
//
//   - A folder serves one command at a time and only commands of one project. A concurrent command gets another
//     folder. Commands with network access have their own folders and never run code that a command without it
//     has planted.
//   - Nothing is ever copied from here to the user's caches. A build cache maps inputs to outputs, and a tried
//     command can write any output.
//   - A command never sees a folder whose last command was interrupted by a crash, or one from before a reboot,
//     because its files may be incomplete.
//   - A project has only a few folders with a limited total size. The least recently used are removed first.
//
// The folders are next to the layers of trials, in umpire's state, which the sandbox hides and guards.
package lease
