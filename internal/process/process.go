// Package process runs a program so that it can be ended together with what it
// started.
//
//	process.Own(cmd)
//	group, err := process.Start(cmd)
//	err = <-group.Done // or group.Stop(grace)
//
// On Unix the program leads a process group without a terminal; on Linux it also dies
// with the process that started it. Elsewhere it is the program alone.
package process
