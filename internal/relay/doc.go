// Package relay hands an agent's question to the gate that runs, and brings the answer back. A
// program that is started for every call links it, so it imports little and does nothing when
// it is initialised.
package relay
