package hosts

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/view"
)

// maxDiff limits the shown part of a change, in bytes.
const maxDiff = 64 << 10

// diff shows the change as `diff -u` does.
func (c settingsChange) diff() string {
	from, to := c.path, c.path
	if !c.existed {
		from = "/dev/null"
	}
	if c.remove {
		to = "/dev/null"
	}
	return app.VisibleDiff(tool.UnifiedDiff(view.Visible(from), view.Visible(to), c.before, c.after, maxDiff))
}

// summary describes the change in a few lines: the file, the events and the program that
// they start.
func (j *initJob) summary(c settingsChange) string {
	var b strings.Builder
	name := view.Visible(c.path)
	switch {
	case c.remove:
		name += " (" + j.Text.Of("the file is removed") + ")"
	case !c.existed:
		name += " (" + j.Text.Of("a new file") + ")"
	}
	fmt.Fprintln(&b, name)
	before, after := registeredHooks(c.file, c.before), registeredHooks(c.file, c.after)
	for _, change := range []struct {
		sign string
		list []setup.Registration
	}{{"-", without(before, after)}, {"+", without(after, before)}} {
		if len(change.list) == 0 {
			continue
		}
		var events []string
		for i := range change.list {
			events = append(events, change.list[i].Event)
		}
		fmt.Fprintf(&b, "  %s "+j.Text.Of("hook for %s, which runs:")+"\n", change.sign,
			view.Visible(strings.Join(events, " ")))
		fmt.Fprintf(&b, "    %s\n",
			view.Visible(view.CommandLine(append([]string{change.list[0].Command}, change.list[0].Args...))))
	}
	_, had := setup.ClaudeSandbox(c.before)
	_, has := setup.ClaudeSandbox(c.after)
	for _, p := range has {
		if c.file.Host == setup.Claude.Host && len(had) == 0 {
			fmt.Fprintf(&b, "  + %s: %s\n", p.Key, view.Visible(p.Port))
		}
	}
	if c.existed && !c.remove {
		fmt.Fprintf(&b, "  %s\n", j.Text.Of("nothing else in it changes; --diff shows every line"))
	} else {
		fmt.Fprintf(&b, "  %s\n", j.Text.Of("--diff shows every line"))
	}
	return b.String()
}

// registeredHooks returns umpire's handlers in a settings file, or nil if it cannot be read.
func registeredHooks(file setup.Settings, settings []byte) []setup.Registration {
	list, err := file.Registered(settings)
	if err != nil {
		return nil
	}
	for i := range list {
		list[i].Line = 0 // it changes with the lines above
	}
	return list
}

// without are the handlers of a list that are not in another.
func without(list, other []setup.Registration) []setup.Registration {
	return slices.DeleteFunc(slices.Clone(list), func(r setup.Registration) bool {
		return slices.ContainsFunc(other, func(o setup.Registration) bool { return reflect.DeepEqual(r, o) })
	})
}
