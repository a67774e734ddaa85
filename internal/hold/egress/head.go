package egress

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// The limits of the head of a request.
const (
	maxHeadBytes = 64 << 10
	maxHeadLines = 200
)

// A field is a line of a head, as it was sent, and its value without spaces around it.
type field struct{ name, line, value string }

// A head is the head of an HTTP request that has one meaning.
type head struct {
	method, target string
	minor          byte // of the version, 1.0 or 1.1
	fields         []field
	host           string
	length         int64 // of the body; 0 if it is chunked
	chunked        bool
	close          bool     // the client wants no further request
	awaits         bool     // the client waits for a word before it sends the body
	secrets        []string // the names of leased secrets in it
}

var errBadHead = errors.New("ambiguous-head")

// readHead reads the head of a request. It is stricter than net/http, which mends some requests: it would forget that
// a request had two lengths. An io.EOF means that there is no further request.
func readHead(in *bufio.Reader) (*head, error) {
	if _, err := in.Peek(1); err != nil {
		return nil, err
	}
	left := maxHeadBytes
	line, err := readLine(in, &left)
	if err != nil {
		return nil, err
	}
	h := &head{}
	method, rest, _ := strings.Cut(line, " ")
	target, version, _ := strings.Cut(rest, " ")
	if !isToken(method) || !isVisible(target) || version != "HTTP/1.1" && version != "HTTP/1.0" {
		return nil, errBadHead
	}
	h.method, h.target, h.minor = method, target, version[len(version)-1]-'0'
	for range maxHeadLines {
		line, err := readLine(in, &left)
		if err != nil {
			return nil, err
		}
		if line == "" {
			return h, h.understand()
		}
		name, value, colon := strings.Cut(line, ":")
		if !colon || !isToken(name) || !isText(value) {
			return nil, errBadHead
		}
		h.fields = append(h.fields, field{strings.ToLower(name), line, strings.Trim(value, " \t")})
	}
	return nil, errBadHead
}

// readLine reads a line that ends with CRLF, and takes its length from left.
func readLine(in *bufio.Reader, left *int) (string, error) {
	var line []byte
	for *left > 0 {
		c, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return "", err
		}
		*left--
		if c == '\n' {
			before, ended := strings.CutSuffix(string(line), "\r")
			if !ended || strings.Contains(before, "\r") {
				return "", errBadHead
			}
			return before, nil
		}
		line = append(line, c)
	}
	return "", errBadHead
}

// isToken reports whether a text is a token of HTTP.
func isToken(text string) bool {
	for _, c := range []byte(text) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return text != ""
}

// isVisible reports whether a text has neither spaces nor bytes outside of ASCII.
func isVisible(text string) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// isText reports whether a text has no control characters but tabs.
func isText(text string) bool {
	for _, c := range []byte(text) {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// understand works out the host and the framing.
func (h *head) understand() error {
	lengths, hosts := 0, 0
	for _, f := range h.fields {
		switch f.name {
		case "host":
			h.host = f.value
			hosts++
		case "content-length":
			length, err := strconv.ParseUint(f.value, 10, 63)
			if err != nil {
				return errBadHead
			}
			h.length = int64(length)
			lengths++
		case "transfer-encoding":
			if h.chunked || h.minor == 0 || !strings.EqualFold(f.value, "chunked") {
				return errBadHead
			}
			h.chunked = true
		case "expect":
			h.awaits = strings.EqualFold(f.value, "100-continue") && h.minor == 1
		}
	}
	options := h.options()
	h.close = options["close"] || h.minor == 0 && !options["keep-alive"]
	if lengths > 1 || hosts > 1 || hosts == 0 && h.minor == 1 || h.chunked && lengths > 0 {
		return errBadHead
	}
	return nil
}

// options returns the names in the Connection fields, which concern the client and the proxy only.
func (h *head) options() map[string]bool {
	options := map[string]bool{}
	for _, f := range h.fields {
		if f.name == "connection" || f.name == "proxy-connection" {
			for option := range strings.SplitSeq(f.value, ",") {
				options[strings.ToLower(strings.Trim(option, " \t"))] = true
			}
		}
	}
	return options
}

// absolute returns the destination and the rest of a target with "http://". The fragment and a user have no place
// there.
func (h *head) absolute() (d Destination, path string, good bool) {
	const scheme = "http://"
	if len(h.target) < len(scheme) || !strings.EqualFold(h.target[:len(scheme)], scheme) {
		return d, "", false
	}
	authority := h.target[len(scheme):]
	if at := strings.IndexAny(authority, "/?#"); at >= 0 {
		authority, path = authority[:at], authority[at:]
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	d, good = parseAuthority(authority, portHTTP)
	return d, path, good && !strings.Contains(path, "#")
}

// within returns the path of a request on a connection to a destination, or why it has no place there.
func (h *head) within(to Destination) (path string, reason Reason) {
	path = h.target
	if d, rest, absolute := h.absolute(); absolute {
		if d != to {
			return "", OtherHost
		}
		path = rest
	}
	if h.method == "CONNECT" || !strings.HasPrefix(path, "/") && (path != "*" || h.method != "OPTIONS") ||
		strings.Contains(path, "#") {
		return "", BadRequest
	}
	if h.host == "" && h.minor == 0 {
		return path, 0
	}
	standard := uint16(portHTTP)
	if to.Port == portHTTPS {
		standard = portHTTPS // after TLS
	}
	if d, good := parseAuthority(h.host, standard); !good || d != to {
		return "", OtherHost
	}
	return path, 0
}

// hops are the fields that concern the client and the proxy only. Without Upgrade a request stays HTTP: a server
// that changed to another protocol could not be followed.
var hops = map[string]bool{
	"connection": true, "proxy-connection": true, "keep-alive": true, "proxy-authenticate": true,
	"proxy-authorization": true, "proxy-authentication-info": true, "te": true, "trailer": true,
	"transfer-encoding": true, "upgrade": true, "http2-settings": true, "expect": true, "content-length": true,
	"host": true,
}

// rewritten returns the head as the destination gets it: with the host and the framing of the proxy.
func (h *head) rewritten(to Destination, path string) []byte {
	host := to.String()
	if to.web() {
		host = strings.TrimSuffix(host, ":"+strconv.Itoa(int(to.Port)))
	}
	var out strings.Builder
	out.WriteString(h.method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n")
	options := h.options()
	framed := h.chunked
	for _, f := range h.fields {
		if f.name == "content-length" {
			framed = true
		}
		if !hops[f.name] && !options[f.name] {
			out.WriteString(f.line + "\r\n")
		}
	}
	switch {
	case h.chunked:
		out.WriteString("Transfer-Encoding: chunked\r\n")
	case framed:
		out.WriteString("Content-Length: " + strconv.FormatInt(h.length, 10) + "\r\n")
	}
	out.WriteString("\r\n")
	return []byte(out.String())
}
