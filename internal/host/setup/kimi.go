package setup

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/umpirehq/umpire/internal/config/docedit"
)

// kimiHooks are the tables of a TOML file. Kimi Code rejects a table of hooks with any other key than
// these four, and waits for 600 seconds at most.
type kimiHooks struct{}

func (kimiHooks) install(text []byte, hostName string, h Hook) ([]byte, error) {
	var lines strings.Builder
	for _, e := range (&hookList{}).eventsOf(hostName) {
		fmt.Fprintf(&lines, "[[hooks]]\nevent = %s\ncommand = %s\ntimeout = %d\n", tomlText(e.name),
			tomlText(h.shellLine(e)), min(seconds(h.timeoutOf(e)), 600))
	}
	return putBlock(text, hostName, lines.String())
}

func (kimiHooks) uninstall(text []byte, host string) ([]byte, error) { return cutBlock(text, host) }

func (kimiHooks) registered(text []byte, host string) ([]Registration, error) {
	d, err := openSettings(docedit.TOML, text)
	if err != nil {
		return nil, err
	}
	var list []Registration
	for _, hook := range d.Root.At("hooks").Items {
		if r := readRegistration(hook, time.Second); isOwnCommand(r.Command, r.Args, host) {
			r.Event, r.Line = hook.At("event").Text, hook.Line
			list = append(list, r)
		}
	}
	if len(list) > 0 && !ownBlock(host).In(d) {
		return nil, errors.New("umpire's hook is outside its marked lines: remove it by hand")
	}
	return list, nil
}
