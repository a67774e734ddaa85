// Package files reads untrusted files safely: only regular files of a limited size,
// without blocking on a pipe. It resolves links like the system, tells whether one path
// is below another, and replaces files atomically.
package files
