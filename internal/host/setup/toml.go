package setup

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/umpirehq/umpire"
)

// A block is a run of lines in a TOML file that umpire wrote, between two marks. The rest of the
// file belongs to the user and is never rewritten.
type block struct{ host string }

func (b block) begin() string { return fmt.Sprintf("# >>> umpire init %s", b.host) }
func (b block) end() string   { return fmt.Sprintf("# <<< umpire init %s", b.host) }

// find returns the offset of the line that begins the block, or -1.
func (b block) find(text []byte) int { return findLine(text, b.begin()) }

// findLine returns the offset of a line, or -1.
func findLine(text []byte, line string) int {
	for from := 0; from < len(text); {
		to := from + bytes.IndexByte(text[from:], '\n') + 1
		if to == from {
			to = len(text)
		}
		if strings.TrimRight(string(text[from:to]), "\r\n") == line {
			return from
		}
		from = to
	}
	return -1
}

// span returns the block's range, both marks included; from is -1 if the block is missing.
func (b block) span(text []byte) (from, to int, err error) {
	if from = b.find(text); from < 0 {
		return -1, -1, nil
	}
	end := findLine(text[from:], b.end())
	if end < 0 {
		return 0, 0, umpire.Errorf("line %d: the mark %q is missing below", 1+bytes.Count(text[:from], []byte("\n")),
			b.end())
	}
	to = from + end + len(b.end())
	if rest := text[to:]; len(rest) > 0 {
		to += bytes.IndexByte(rest, '\n') + 1
	}
	if next := firstMeaning(text[to:]); next != "" && next[0] != '[' {
		return 0, 0, umpire.Errorf("line %d: a key below umpire's lines belongs to their table: move it up",
			1+bytes.Count(text[:to], []byte("\n")))
	}
	return from, to, nil
}

// firstMeaning returns the first line that is not blank and not a comment.
func firstMeaning(text []byte) string {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line
		}
	}
	return ""
}

// put returns the text with the block: in its old position if present, else at the end.
func (b block) put(text []byte, body string) ([]byte, error) {
	if err := checkTOML(text); err != nil {
		return nil, err
	}
	from, to, err := b.span(text)
	if err != nil {
		return nil, err
	}
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	written := strings.ReplaceAll(b.begin()+"\n"+body+b.end()+"\n", "\n", newline)
	var out []byte
	if from >= 0 {
		out = append(append(append(out, text[:from]...), written...), text[to:]...)
	} else {
		out = append(out, text...)
		if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, newline...)
		}
		if len(out) > 0 {
			out = append(out, newline...)
		}
		out = append(out, written...)
	}
	if err := checkTOML(out); err != nil {
		return nil, umpire.Errorf("with umpire's lines: %w", err)
	}
	return out, nil
}

// remove returns the text without the block and the blank line before it.
func (b block) remove(text []byte) ([]byte, error) {
	if err := checkTOML(text); err != nil {
		return nil, err
	}
	from, to, err := b.span(text)
	if err != nil || from < 0 {
		return text, err
	}
	before := text[:from]
	for _, blank := range []string{"\r\n", "\n"} {
		if trimmed, ok := bytes.CutSuffix(before, []byte(blank)); ok {
			if len(trimmed) == 0 || bytes.HasSuffix(trimmed, []byte("\n")) {
				before = trimmed
			}
			break
		}
	}
	return append(bytes.Clone(before), text[to:]...), nil
}

// checkTOML rejects a text that is not TOML. Duplicate keys are errors there.
func checkTOML(text []byte) error {
	if len(text) > maxSettings {
		return umpire.Errorf("file of %d bytes is larger than %d", len(text), maxSettings)
	}
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > maxBrackets {
		return umpire.Errorf("file has more than %d brackets", maxBrackets)
	}
	var file map[string]any
	return tomlError(toml.Unmarshal(text, &file))
}

// tomlError adds line and column to an error of the parser.
func tomlError(err error) error {
	if syntax, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := syntax.Position()
		return umpire.Errorf("%s: %w", position{line, column}, errors.New(strings.TrimPrefix(err.Error(), "toml: ")))
	}
	return err
}

// tomlText returns a basic string.
func tomlText(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// A CodexHash is Codex's record of one hook: its key, and the hash of the current entry.
type CodexHash struct{ Key, Hash string }

// TrustCodex returns Codex's config.toml with the hashes of umpire's hooks, as Codex itself writes
// them when a person trusts a hook. It replaces umpire's earlier hashes.
func TrustCodex(config []byte, hashes []CodexHash) ([]byte, error) {
	var body strings.Builder
	for _, h := range hashes {
		fmt.Fprintf(&body, "[hooks.state.%s]\ntrusted_hash = %s\n", tomlText(h.Key), tomlText(h.Hash))
	}
	out, err := block{Codex.Host}.put(config, body.String())
	if err != nil {
		return nil, umpire.Errorf("trust the hooks of codex: %w", err)
	}
	return out, nil
}

// TrustedCodex returns the hashes of hooks that a config.toml of Codex trusts, by key.
func TrustedCodex(config []byte) (map[string]string, error) {
	var file struct {
		Hooks struct {
			State map[string]struct {
				Hash string `toml:"trusted_hash"`
			} `toml:"state"`
		} `toml:"hooks"`
	}
	if err := toml.Unmarshal(config, &file); err != nil {
		return nil, tomlError(err)
	}
	trusted := map[string]string{}
	for key, state := range file.Hooks.State {
		trusted[key] = state.Hash
	}
	return trusted, nil
}
