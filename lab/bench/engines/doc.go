// Package engines compares umpire's rules with those of other engines, on rules and questions that all of
// them understand.
package engines
