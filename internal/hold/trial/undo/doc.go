// Package undo holds the parts of undo that need no trial: the digest that names a file's content, merging a change
// back under later ones, and the choice of the records that are removed to stay within the limits of space and age.
//
// An agent chooses how much it writes, so space alone must not decide. A young record with old content stays
// even beyond the limits: a keep that needs its space asks a person first. Each project and each session has
// a share and cannot push out the records of others. Old build outputs, which git ignores and a build can
// make again, have a separate share and go first, so they take no space from other records.
package undo
