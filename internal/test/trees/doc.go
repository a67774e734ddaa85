// Package trees counts how many of two hundred commands trials settle without a question, over
// ten trees from the registries of Go and npm. testdata/commands.txt lists them. It also tries
// lines that do harm, in a jail, and wants nothing of them kept unasked.
package trees
