package hosts

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/internal/host/setup"
)

// A registered is one of our handlers and the file that names it.
type registered struct {
	setup.Registration
	file claudeFile
}

// where is the handler's place for people.
func (r registered) where() string { return fmt.Sprintf("%s:%d", r.file.Path, r.Line) }

// claude checks Claude Code: its registered hooks, settings that could switch them off,
// and whether they answer.
func (d *doctor) claude(ctx context.Context) {
	h := host.Find(setup.Claude.Host)
	found := findProgram(ctx, d.App, h)
	handlers := d.settings()
	d.version(found, handlers)
	deciding := map[string][]registered{}
	for _, r := range handlers {
		deciding[r.Event] = append(deciding[r.Event], r)
	}
	before := deciding[host.BeforeTool.String()]
	if len(before) == 0 {
		d.fail("hook", "umpire setup claude", "Claude Code does not ask umpire: no PreToolUse hook is registered")
		return
	}
	if len(deciding[host.BeforeDialog.String()]) == 0 {
		d.warn("hook", "umpire setup claude",
			"no PermissionRequest hook is registered: dialogs that umpire would deny stay open")
	}
	d.limits(h)
	d.trials(ctx, h)
	checkSandboxProxy(ctx, d)
	for _, r := range before {
		if d.handler(h, r) {
			d.canary(ctx, h, r)
		}
	}
}

// trials says whether an agent's commands run as trials before a person is asked.
func (d *doctor) trials(ctx context.Context, h *host.Host) {
	if err := neverRewrites(ctx, d.App, h, d.Dir); err != nil {
		d.ok("trials", "commands of %s run unchanged, and none is tried first: %v", h.Title, err)
	} else {
		d.ok("trials", "commands of %s are tried first where autonomy says so", h.Title)
	}
}

// settings audits every settings file and returns the handlers found.
func (d *doctor) settings() []registered {
	var handlers []registered
	for _, file := range claudeFiles(d.App) {
		text, info, err := readSettings(file.Path)
		if err != nil {
			d.warn("settings", "", "%v", err)
		}
		if info == nil || err != nil {
			continue
		}
		list, err := setup.Claude.Registered(text)
		for i := range list {
			handlers = append(handlers, registered{list[i], file})
		}
		d.audit(file, text, err == nil && len(list) == 0)
	}
	return handlers
}

// audit names the settings in one file that keep the hooks from running. A file without
// our hooks is fine: they may be in another file.
func (d *doctor) audit(file claudeFile, text []byte, without bool) {
	clean := true
	for _, f := range setup.AuditClaude(text) {
		if f.Code == setup.FindingMissing && without {
			continue
		}
		clean = false
		where := fmt.Sprintf("%s:%d: %s", file.Path, f.Line, f.Key)
		switch f.Code {
		case setup.FindingEnvironment, setup.FindingBroadAllow, setup.FindingMissing:
			d.warn("settings", f.Remedy, "%s: %s", where, f.Problem)
		case setup.FindingSyntax, setup.FindingMalformed, setup.FindingDisabled, setup.FindingManagedOnly,
			setup.FindingTimeout, setup.FindingWeakened:
			// Only the administrator's file can demand that, which does no harm if our hooks
			// are in it.
			if f.Code == setup.FindingManagedOnly && (file.Scope != "managed" || !without) {
				continue
			}
			d.fail("settings", f.Remedy, "%s: %s", where, f.Problem)
		}
	}
	if clean {
		d.ok("settings", "%s (%s) switches nothing off", file.Path, file.Scope)
	}
}

// version checks whether a hook that cannot start stops the call.
func (d *doctor) version(found hostProgram, handlers []registered) {
	if found.Version == "" {
		d.warn("claude", "put claude on PATH and run umpire doctor again", "Claude Code: %s", found)
		return
	}
	if !setup.ClaudeVersionBlocks(found.Version) {
		d.warn("claude", "update Claude Code, then umpire setup claude",
			"Claude Code %s runs the call when a hook cannot start", found)
		return
	}
	for _, r := range handlers {
		if r.Event == host.BeforeTool.String() && !r.OnFailureBlock {
			d.warn("claude", "umpire setup claude",
				"%s: onFailure is not block, so the call runs when the hook cannot start", r.where())
			return
		}
	}
	d.ok("claude", "Claude Code %s blocks when a hook fails", found)
}

// handler checks one registration and reports whether it can be started.
func (d *doctor) handler(h *host.Host, r registered) bool {
	again := "umpire setup " + h.Name
	if r.Shell != "" && h.Name == setup.Claude.Host { // which can do without; the others cannot
		d.warn("hook", again, "%s: started through a shell, so its start-up files decide what runs",
			r.where())
		return true
	}
	info, err := os.Stat(r.Command)
	switch {
	case err != nil:
		d.fail("hook", again, "%s: %v", r.where(), err)
		return false
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		d.fail("hook", again, "%s: %s is not a program", r.where(), r.Command)
		return false
	case info.Mode()&0o002 != 0:
		d.fail("hook", "chmod o-w "+r.Command, "%s: any user can change %s", r.where(), r.Command)
		return true
	}
	if why := explainFleeting(d.App, r.Command); why != "" {
		d.warn("hook", "install umpire elsewhere, then umpire setup again", "%s %s", r.Command, why)
	}
	if loadsLibraries(r.Command) {
		d.warn("hook", "build umpire with CGO_ENABLED=0",
			"%s loads shared libraries: a project's settings can name one in LD_PRELOAD", r.Command)
	}
	d.timing(h, r)
	return true
}

// loadsLibraries reports whether a program of this system starts by the dynamic linker: whether a header of an
// ELF file of 64 bits names one.
func loadsLibraries(path string) bool {
	const nameOfLinker = 3 // PT_INTERP
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4096) // linkers of Go and C write their headers first
	n, _ := io.ReadFull(f, head)
	if head = head[:n]; n < 64 || string(head[:6]) != "\x7fELF\x02\x01" {
		return false // another system's form, or a script
	}
	at := binary.LittleEndian.Uint64(head[32:])
	size, count := binary.LittleEndian.Uint16(head[54:]), binary.LittleEndian.Uint16(head[56:])
	for ; count > 0 && size >= 4 && at < uint64(n)-4; count-- {
		if binary.LittleEndian.Uint32(head[at:]) == nameOfLinker {
			return true
		}
		at += uint64(size)
	}
	return false
}

// timing checks that umpire gives up before Claude Code does. Otherwise the call would
// run.
func (d *doctor) timing(h *host.Host, r registered) {
	again := "umpire setup " + h.Name
	otherwise := relay.Deadline(h.DefaultTimeout)
	o, err := relay.ParseOptions(r.Args[min(2, len(r.Args)):], otherwise)
	deadline, limit := o.Deadline, r.Timeout
	switch {
	case err != nil:
		d.fail("hook", again, "%s: %v", r.where(), err)
	case limit == 0 && (h.Settings.Format == host.FormatPlugin || h.Name == setup.Windsurf.Host):
		d.ok("hook", "%s: %s, deadline %s", r.where(), filepath.Base(r.Command), seconds(deadline))
	case limit == 0:
		d.fail("hook", again, "%s: no timeout is written", r.where())
	case limit <= deadline:
		d.fail("hook", again, "%s: the timeout of %s ends before umpire's deadline of %s", r.where(),
			limit, deadline)
	case o.Home == "":
		d.warn("hook", again,
			"%s: registered by an older umpire, without --home: a project's settings can name another folder",
			r.where())
	case o.Home != d.Home():
		d.warn("hook", again, "%s: its folder is %s, and here it is %s", r.where(), o.Home, d.Home())
	default:
		d.ok("hook", "%s: %s, timeout %s, deadline %s", r.where(), filepath.Base(r.Command), seconds(limit),
			seconds(deadline))
	}
}

// roundMilli is how canary times are shown.
func roundMilli(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
