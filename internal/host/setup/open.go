package setup

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

// maxSettings bounds the files that are edited or audited.
const maxSettings = 1 << 20

// openJSON opens a settings file. An empty one is an empty object.
func openJSON(text []byte) (*docedit.Doc, error) {
	if len(text) <= maxSettings && strings.TrimSpace(string(text)) == "" {
		text = []byte("{}\n")
	}
	return openSettings(docedit.JSON, text)
}

func openSettings(format docedit.Format, text []byte) (*docedit.Doc, error) {
	if len(text) > maxSettings {
		return nil, umpire.Errorf("file of %d bytes is larger than %d", len(text), maxSettings)
	}
	return docedit.Open(format, text)
}

// ownBlock are the lines of a TOML file that umpire wrote.
func ownBlock(host string) docedit.Block {
	return docedit.Block{Begin: "# >>> umpire init " + host, End: "# <<< umpire init " + host}
}

// putBlock returns a TOML file with umpire's lines, and the error if they break it.
func putBlock(text []byte, host, lines string) ([]byte, error) {
	d, err := openSettings(docedit.TOML, text)
	if err != nil {
		return nil, err
	}
	if d, err = d.PutBlock(ownBlock(host), lines); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

// cutBlock returns a TOML file without umpire's lines.
func cutBlock(text []byte, host string) ([]byte, error) {
	d, err := openSettings(docedit.TOML, text)
	if err != nil {
		return nil, err
	}
	if d, err = d.CutBlock(ownBlock(host)); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

// tomlText returns a basic string, which is written like one of JSON.
func tomlText(text string) string {
	return strings.ReplaceAll(toJSON(text), "\x7f", `\u007f`)
}
