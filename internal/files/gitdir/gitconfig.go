package gitdir

import (
	"errors"
	"strings"
)

// A configParser parses a git configuration as git-config(1) describes it: sections, names,
// quotes, escapes, comments and continued lines. It is strict: anything it does not understand
// is an error, because git might obey a setting that the parser skipped.
type configParser struct {
	text    string
	at      int
	section string
}

var errConfig = errors.New("not a configuration of git")

// parseConfig calls set for every setting, in order. Section and name are in lower case; a
// subsection between them keeps its case.
func parseConfig(text string, set func(key, value string)) error {
	p := configParser{text: strings.TrimPrefix(text, "\ufeff")}
	p.text = strings.ReplaceAll(p.text, "\r\n", "\n")
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r':
			p.at++
		case c == '#' || c == ';':
			p.line()
		case c == '[':
			if err := p.header(); err != nil {
				return err
			}
		default:
			if err := p.setting(set); err != nil {
				return err
			}
		}
	}
	return nil
}

// line skips to the end of the line.
func (p *configParser) line() {
	if i := strings.IndexByte(p.text[p.at:], '\n'); i >= 0 {
		p.at += i
		return
	}
	p.at = len(p.text)
}

// header parses [section] or [section "part"].
func (p *configParser) header() error {
	p.at++
	name := p.name(".-")
	p.section = strings.ToLower(name)
	if name == "" || p.at >= len(p.text) {
		return errConfig
	}
	if p.text[p.at] == ']' {
		p.at++
		return nil
	}
	rest := strings.TrimLeft(p.text[p.at:], " \t")
	if rest == p.text[p.at:] || rest == "" || rest[0] != '"' {
		return errConfig
	}
	p.at = len(p.text) - len(rest) + 1
	var part strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == '\n':
			return errConfig
		case c == '\\' && p.at < len(p.text) && p.text[p.at] != '\n':
			part.WriteByte(p.text[p.at])
			p.at++
		case c == '"':
			p.section += "." + part.String()
			if p.at >= len(p.text) || p.text[p.at] != ']' {
				return errConfig
			}
			p.at++
			return nil
		default:
			part.WriteByte(c)
		}
	}
	return errConfig
}

// name reads letters, digits and the characters in others.
func (p *configParser) name(others string) string {
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte(others, c) < 0 {
			break
		}
		p.at++
	}
	return p.text[from:p.at]
}

// setting parses name = value, or a name alone, which means true.
func (p *configParser) setting(set func(key, value string)) error {
	name := p.name("-")
	if name == "" || p.section == "" {
		return errConfig
	}
	key := p.section + "." + strings.ToLower(name)
	p.at += len(p.text[p.at:]) - len(strings.TrimLeft(p.text[p.at:], " \t"))
	switch {
	case p.at == len(p.text) || p.text[p.at] == '\n':
		set(key, "true")
		return nil
	case p.text[p.at] == '#' || p.text[p.at] == ';':
		p.line()
		set(key, "true")
		return nil
	case p.text[p.at] != '=':
		return errConfig
	}
	p.at++
	value, err := p.value()
	if err == nil {
		set(key, value)
	}
	return err
}

// value reads to the end of the line, resolving quotes and escapes.
func (p *configParser) value() (string, error) {
	var out strings.Builder
	kept, quoted := 0, false // trailing blanks are kept if they were quoted
	p.at += len(p.text[p.at:]) - len(strings.TrimLeft(p.text[p.at:], " \t"))
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		switch {
		case c == '\n' && quoted:
			return "", errConfig
		case c == '\n':
			return out.String()[:kept], nil
		case c == '"':
			quoted = !quoted
			kept = out.Len()
		case (c == '#' || c == ';') && !quoted:
			p.line()
			return out.String()[:kept], nil
		case c == '\\':
			p.at++
			if err := p.escape(&out); err != nil {
				return "", err
			}
			kept = out.Len()
		default:
			out.WriteByte(c)
			if quoted || c != ' ' && c != '\t' {
				kept = out.Len()
			}
		}
	}
	if quoted {
		return "", errConfig
	}
	return out.String()[:kept], nil
}

// escape reads the character after a backslash. A backslash before a line end continues the line.
func (p *configParser) escape(out *strings.Builder) error {
	if p.at >= len(p.text) {
		return errConfig
	}
	switch c := p.text[p.at]; c {
	case '\n':
	case 'n':
		out.WriteByte('\n')
	case 't':
		out.WriteByte('\t')
	case 'b':
		out.WriteByte('\b')
	case '"', '\\':
		out.WriteByte(c)
	default:
		return errConfig
	}
	return nil
}
