package app

import (
	"path/filepath"

	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/notice"
)

// NoticeConfig returns how notices are sent; it names no gate.
func NoticeConfig(a *App, conf *config.Config) notice.Config {
	return notice.Config{
		Notify:  conf.Notify,
		Secrets: filepath.Join(a.KeysDir(), "notify"),
		Report:  filepath.Join(a.StateDir(), "notices.json"),
		Text:    a.Text,
		Warn:    a.RemarkError,
	}
}
