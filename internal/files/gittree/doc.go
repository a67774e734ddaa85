// Package gittree determines which paths a git command changes, and which folders a list of
// changes turns into repositories.
//
//	changes, known := gittree.Between(ctx, dir, []string{"git", "switch", "topic"})
//	armed := gittree.NewView(changed).Armed(changed)
//
// It runs git only to read objects and refs, and without the person's settings. It reports
// changes that it cannot foresee as unknown.
package gittree
