// Package cache keeps the writes of tried commands to build caches for later tried commands of the same project.
//
//	lease, err := cache.Open(layers, project) // a folder that no other command uses
//	...                                          // a command runs with its cache layers in lease.Dir
//	err = lease.Close()                          // the next command finds them
//
// What the package keeps true:
//
//   - A folder serves one command at a time, and commands of one project. A command that runs beside another one
//     gets another folder. Commands with the network have their own folders and never run code that a command without
//     it has planted.
//   - Nothing is ever copied from here to the person's caches. A build cache maps inputs to outputs, and a tried
//     command can write any output.
//   - A command never sees a folder whose last command was interrupted by a crash, nor one from before a reboot:
//     its files may be incomplete.
//   - A project has at most a few folders, of a limited size together. The least recently used go first.
//
// The folders lie beside the layers of trials, in umpire's state. The sandbox hides and guards that.
package cache
