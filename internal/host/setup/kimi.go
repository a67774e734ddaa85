package setup

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// kimi is the settings file of kimi Code. It rejects a table of hooks with any other key than these
// four, and waits for 600 seconds at most.
var kimi = Settings{
	Host:   "kimi",
	Place:  placeOf("kimi"),
	format: kimiHooks{},
}

// kimiHooks are the tables of a TOML file.
type kimiHooks struct{}

func (kimiHooks) install(text []byte, hostName string, h Hook) ([]byte, error) {
	var body strings.Builder
	for _, e := range (&hookList{}).eventsOf(hostName) {
		fmt.Fprintf(&body, "[[hooks]]\nevent = %s\ncommand = %s\ntimeout = %d\n", tomlText(e.name),
			tomlText(h.shellLine(e)), min(seconds(h.timeoutOf(e)), 600))
	}
	return block{hostName}.put(text, body.String())
}

func (kimiHooks) uninstall(text []byte, host string) ([]byte, error) { return block{host}.remove(text) }

func (kimiHooks) registered(text []byte, host string) ([]Registration, error) {
	var file struct {
		Hooks []struct {
			Event, Command string
			Timeout        int64
		}
	}
	if err := toml.Unmarshal(text, &file); err != nil {
		return nil, tomlError(err)
	}
	at := block{host}.find(text)
	var list []Registration
	for _, hook := range file.Hooks {
		words := splitCommand(hook.Command)
		if len(words) == 0 || !isOwnCommand(words[0], words[1:], host) {
			continue
		}
		list = append(list, Registration{
			Event: hook.Event, Line: 1 + strings.Count(string(text[:max(at, 0)]), "\n"),
			Command: words[0], Args: words[1:], Shell: hook.Command, Timeout: time.Duration(hook.Timeout) * time.Second,
		})
	}
	if len(list) > 0 && at < 0 {
		return nil, errors.New("umpire's hook stands outside its marked lines: take it out by hand")
	}
	return list, nil
}
