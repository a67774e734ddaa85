package hosts

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files"
)

// A service has the gate started at login, by systemd or launchd.
type service struct {
	file        string // the unit
	text        string
	start, stop [][]string // commands; those of stop may fail if the service is not running
}

// serviceName is the gate's name as a service.
const serviceName = "umpire"

// findService returns the service manager of this system, or nil.
func findService(ctx context.Context, a *app.App, binary string) *service {
	switch runtime.GOOS {
	case "linux":
		if systemctl := lookPath(a.Getenv, "systemctl"); systemctl != "" {
			return systemdService(ctx, a, systemctl, binary)
		}
	case "darwin":
		if launchctl := lookPath(a.Getenv, "launchctl"); launchctl != "" {
			return launchdService(a, launchctl, binary)
		}
	}
	return nil
}

// systemdService returns a unit of the user's systemd, or nil if the user has no running systemd.
func systemdService(ctx context.Context, a *app.App, systemctl, binary string) *service {
	if runQuietly(ctx, systemctl, "--user", "show-environment") != nil {
		return nil
	}
	dir := a.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.UserHome(), ".config")
	}
	unit := serviceName + ".service"
	return &service{
		file: filepath.Join(dir, "systemd", "user", unit),
		text: fmt.Sprintf(`# Written by umpire setup; umpire setup --undo takes it away.
[Unit]
Description=The gate of umpire, which coding agents ask before each call

[Service]
Environment=%s
ExecStart=%s serve
Restart=on-failure

[Install]
WantedBy=default.target
`, unitText("UMPIRE_HOME="+a.Home()), unitText(binary)),
		start: [][]string{{systemctl, "--user", "daemon-reload"}, {systemctl, "--user", "enable", "--now", unit}},
		stop:  [][]string{{systemctl, "--user", "disable", "--now", unit}},
	}
}

// unitText quotes a word of a unit, to prevent expansions.
func unitText(word string) string {
	return strconv.Quote(strings.NewReplacer("%", "%%", "$", "$$").Replace(word))
}

// launchdService is an agent of the user's launchd.
func launchdService(a *app.App, launchctl, binary string) *service {
	label := "dev." + serviceName + ".serve"
	file := filepath.Join(a.UserHome(), "Library", "LaunchAgents", label+".plist")
	domain := fmt.Sprintf("gui/%d", os.Getuid())
	return &service{
		file: file,
		text: fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by umpire setup; umpire setup --undo takes it away. -->
<plist version="1.0"><dict>
  <key>Label</key><string>%s</string>
  <key>ProgramArguments</key><array><string>%s</string><string>serve</string></array>
  <key>EnvironmentVariables</key><dict><key>UMPIRE_HOME</key><string>%s</string></dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
</dict></plist>
`, label, html.EscapeString(binary), html.EscapeString(a.Home())),
		start: [][]string{{launchctl, "bootstrap", domain, file}},
		stop:  [][]string{{launchctl, "bootout", domain + "/" + label}},
	}
}

// install writes the unit and starts the gate. It waits until the gate answers.
func (s *service) install(ctx context.Context, a *app.App) error {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o755); err != nil {
		return err
	}
	if err := files.Replace(s.file, []byte(s.text), 0o644); err != nil {
		return err
	}
	for _, command := range s.start {
		if err := runQuietly(ctx, command...); err != nil {
			return err
		}
	}
	for range 50 {
		if gateRuns(ctx, a) {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the gate started but does not answer: run umpire serve to see why")
}

// remove stops the gate and takes the unit away.
func (s *service) remove(ctx context.Context, a *app.App) error {
	for _, command := range s.stop {
		if err := runQuietly(ctx, command...); err != nil {
			a.RemarkError(err)
		}
	}
	if err := os.Remove(s.file); err != nil && !os.IsNotExist(err) {
		return err
	}
	if len(s.start) > 1 { // systemd caches unit files
		return runQuietly(ctx, s.start[0]...)
	}
	return nil
}

// gateRuns reports whether a gate answers at the configured address.
func gateRuns(ctx context.Context, a *app.App) bool {
	conf, err := a.ReadUserConfig()
	if err != nil {
		return false
	}
	gate, err := a.DialGate(ctx, conf.Listen, app.PersonCredential)
	if err != nil || gate == nil {
		return false
	}
	app.GateCloser(gate)()
	return true
}

// commandTime bounds a command of the system's.
const commandTime = 20 * time.Second

// runQuietly runs a program of the system. Its error includes the program's output.
func runQuietly(ctx context.Context, command ...string) error {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
	if err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return umpire.Errorf("%s: %v: %s", filepath.Base(command[0]), err, said)
	}
	return nil
}
