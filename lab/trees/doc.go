// Package trees counts how many of two hundred commands trials settle without a question, in
// ten trees from the registries of Go and npm. testdata/commands.txt lists them. It also tries
// harmful lines in a jail, and checks that their effects are not kept unasked.
package trees
