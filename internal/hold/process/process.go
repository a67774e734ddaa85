// Package process runs a program in a way that allows ending it together with its child
// processes.
//
//	process.Own(cmd)
//	group, err := process.Start(cmd)
//	err = <-group.Done // or group.Stop(grace)
//
// On Unix the program leads a process group without a terminal; on Linux it also dies
// with the process that started it. On other systems only the program itself is ended.
//
// It also names processes, to distinguish a later process with the same id. Only Linux
// reports start times; on other systems processes have no names.
//
//	name := process.NameOf(os.Getpid())    // "host:4711:8823410"
//	alive, known := process.Alive(name)
//
// A [Profile] tells how long each phase of this process took.
package process
