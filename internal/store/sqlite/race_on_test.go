//go:build race

package sqlite

// stride is how far apart the operations are at which a disk fails.
const stride = 50
