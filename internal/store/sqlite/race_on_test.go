//go:build race

package sqlite

// stride is the distance between the operations at which a disk fails.
const stride = 50
