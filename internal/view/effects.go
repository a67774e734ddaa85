package view

import (
	"fmt"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// effectTexts are the texts for changes of files, of one and of several, the worst first.
var effectTexts = []struct {
	kind      umpire.EffectKind
	one, more string
}{
	{umpire.EffectDeleted, "deleted %d file", "deleted %d files"},
	{umpire.EffectChanged, "changed %d file", "changed %d files"},
	{umpire.EffectCreated, "created %d file", "created %d files"},
	{umpire.EffectMoved, "moved %d file", "moved %d files"},
	{umpire.EffectAttributes, "changed the attributes of %d file", "changed the attributes of %d files"},
}

// CountEffects says how many files were deleted, changed and so on.
func CountEffects(counts map[umpire.EffectKind]int, text *catalogue.Language) (parts []string) {
	for _, of := range effectTexts {
		switch n := counts[of.kind]; n {
		case 0:
		case 1:
			parts = append(parts, fmt.Sprintf(text.Of(of.one), n))
		default:
			parts = append(parts, fmt.Sprintf(text.Of(of.more), n))
		}
	}
	return parts
}
