// Package client speaks to a gate over the wire, in the gate's own terms: a Client has the gate's
// methods, takes and returns the root package's types, and returns the same errors.
//
//	c, err := client.Dial("unix:"+path, token)
//	defer c.Close()
//	batch, err := c.Submit(ctx, submission)
//	if errors.Is(err, umpire.ErrFenced) { ... }
//
// It speaks Connect's JSON and server-sent events over HTTP/1.1, using only the standard library to
// start quickly in a program that makes one call and ends.
package client
