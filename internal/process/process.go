// Package process runs a program so that it can be ended together with what it
// started.
//
//	process.Own(cmd)
//	group, err := process.Start(cmd)
//	err = <-group.Done // or group.Stop(grace)
//
// On Unix the program leads a process group without a terminal; on Linux it also dies
// with the process that started it. Elsewhere it is the program alone.
//
// It also names processes, so that a later one of the same number is not taken for an
// earlier one. Only Linux tells when a process began; elsewhere no process has a name.
//
//	name := process.NameOf(os.Getpid())    // "host:4711:8823410"
//	alive, known := process.Alive(name)
package process
