// Package files reads files that others wrote without being harmed by them: only regular
// files of a bounded size, without blocking on a pipe. It follows links as the system does,
// says whether one path is below another, and replaces a file in one step.
package files
