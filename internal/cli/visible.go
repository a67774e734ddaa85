package cli

import (
	"github.com/umpirehq/umpire/internal/view"
)

// visible makes text of any origin safe to show: what a terminal would obey, and
// what nobody would see, is written as an escape.
func visible(s string) string { return view.Visible(s) }
