// Package gittree knows which paths a git command puts in place, and which folders a list of
// changes makes into repositories.
//
//	changes, known := gittree.Between(ctx, dir, []string{"git", "switch", "topic"})
//	armed := gittree.NewView(changed).Armed(changed)
//
// It runs git only to read objects and refs, and without the settings of the person. Changes
// that it cannot tell in advance are not known.
package gittree
