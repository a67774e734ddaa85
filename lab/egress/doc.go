// Package egress runs real package managers, small projects and an attacker inside trials, in a network namespace of
// its own where every address of the internet leads to servers of the test. It counts all that leaves.
package egress
