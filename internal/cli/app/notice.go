package app

import (
	"path/filepath"

	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/console/notice"
)

// NoticeConfig returns how notices are sent; it names no gate.
func NoticeConfig(a *App, conf *config.Config) notice.Config {
	c := notice.Config{
		Notify:  conf.Notify,
		Secrets: filepath.Join(a.KeysDir(), "notify"),
		Report:  filepath.Join(a.StateDir(), "notices.json"),
		Home:    a.UserHome(),
		Text:    a.Text,
		Warn:    a.RemarkError,
	}
	if conf.Console.On() {
		c.Push = &notice.Push{
			Subject: conf.Console.Origin,
			KeyFile: filepath.Join(c.Secrets, "web-push.pem"),
			File:    filepath.Join(a.StateDir(), "push.json"),
		}
	}
	return c
}
