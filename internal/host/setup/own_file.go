package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// An ownFile is a file that belongs only to umpire: a plugin or a program that the host starts. One
// of its lines contains, from mark on, the command as a JSON list.
type ownFile struct {
	event string
	mark  string
	// text is the file, with {{words}} for the command as a JSON list, and {{line}} for the command
	// as a shell line.
	text string
}

func toJSON(v any) string { return string(bytes.TrimSuffix(strictjson.EncodeLine(v), []byte("\n"))) }

// words returns the command and its arguments.
func (h Hook) words() []string { return slices.Concat([]string{h.Command}, h.Args) }

func (f ownFile) install(text []byte, host string, h Hook) ([]byte, error) {
	if len(bytes.TrimSpace(text)) > 0 && f.command(text, host) == nil {
		return nil, errNotOurs
	}
	return []byte(strings.NewReplacer("{{words}}", toJSON(h.words()), "{{line}}", h.commandLine()).Replace(f.text)), nil
}

var errNotOurs = errors.New("the file is not umpire's: move it, or have it call umpire's hook itself")

func (f ownFile) uninstall(text []byte, host string) ([]byte, error) {
	if f.command(text, host) == nil {
		return text, nil
	}
	return nil, nil
}

func (f ownFile) registered(text []byte, host string) ([]Registration, error) {
	words := f.command(text, host)
	if words == nil {
		return nil, nil
	}
	return []Registration{{Event: f.event, Line: 1 + strings.Count(string(text[:f.at(text)]), "\n"),
		Command: words[0], Args: words[1:]}}, nil
}

func (f ownFile) at(text []byte) int { return bytes.Index(text, []byte(f.mark)) }

// command returns the command that the file starts, or nil if the file is not umpire's.
func (f ownFile) command(text []byte, host string) []string {
	at := f.at(text)
	if at < 0 {
		return nil
	}
	line, _, _ := bytes.Cut(text[at+len(f.mark):], []byte("\n"))
	var words []string
	if json.Unmarshal(line, &words) != nil || len(words) == 0 || !isOwnCommand(words[0], words[1:], host) {
		return nil
	}
	return words
}

// commandMark begins the line of a plugin that names the command.
const commandMark = "const command = "
