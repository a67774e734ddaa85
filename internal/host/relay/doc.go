// Package relay forwards an agent's question to the running gate, and returns the answer. A program
// that is started for every call links it, so it imports little and does nothing when it is
// initialised.
package relay
