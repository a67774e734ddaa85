// Package client speaks to a gate over the wire, in the words of the gate itself:
// a Client has the gate's methods, takes and returns the root package's types, and
// gives back the same errors.
//
//	c, err := client.Dial("unix:"+path, token)
//	defer c.Close()
//	batch, err := c.Submit(ctx, submission)
//	if errors.Is(err, umpire.ErrFenced) { ... }
//
// It speaks Connect's JSON and server-sent events over HTTP/1.1, with the standard
// library alone, so that a program which makes one call and ends starts quickly.
package client
