package config

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

// A Console is an address at which browsers on other machines reach the console. Only a
// person's own file may set it: it opens the console to other machines.
type Console struct {
	// Origin is https://HOST or https://HOST:PORT, as browsers show it; "" is nowhere.
	Origin string `key:"origin" json:"origin,omitempty"`
	// Listen is the HOST:PORT that the gate listens on.
	Listen string `key:"listen" json:"listen,omitempty"`
	// CertificateFile and KeyFile name files in keys/console. Without them a proxy on this machine
	// speaks TLS.
	CertificateFile string `key:"certificate_file" json:"certificate_file,omitempty"`
	KeyFile         string `key:"key_file" json:"key_file,omitempty"`
	// UserHeader is the header with which that proxy names the person, or "" if it names no person.
	// SecretFile names the file in keys/console that holds the proof that a request came through the proxy.
	UserHeader string `key:"user_header" json:"user_header,omitempty"`
	SecretFile string `key:"secret_file" json:"secret_file,omitempty"`
}

// On reports whether browsers on other machines reach the console.
func (c *Console) On() bool { return c.Origin != "" }

// String is the address.
func (c Console) String() string { return c.Origin }

// decodeConsole reads console, and rejects settings that would fail or be unsafe.
func decodeConsole(c *Config, v *docedit.Value) error {
	c.Console = Console{}
	if err := v.Decode(&c.Console); err != nil {
		return err
	}
	if field, err := c.Console.check(); err != nil {
		return fieldAt(v, field).Fault(umpire.Errorf("%s: %w", field, err))
	}
	return nil
}

var errConsoleFile = umpire.Errorf("want the name of a file in keys/console of umpire's folder")

// check returns the field with the first fault.
func (c *Console) check() (field string, err error) {
	host, port, err := net.SplitHostPort(c.Listen)
	switch {
	case !isOrigin(c.Origin):
		return "origin", umpire.Errorf("want https://HOST or https://HOST:PORT: a name, in lower case")
	case err != nil || !isPort(port):
		return "listen", umpire.Errorf("want HOST:PORT")
	case c.CertificateFile != "" && !isSecretName(c.CertificateFile):
		return "certificate_file", errConsoleFile
	case c.KeyFile != "" && !isSecretName(c.KeyFile):
		return "key_file", errConsoleFile
	case (c.CertificateFile == "") != (c.KeyFile == ""):
		return "certificate_file", umpire.Errorf("want certificate_file and key_file, or neither behind a proxy")
	case c.SecretFile != "" && !isSecretName(c.SecretFile):
		return "secret_file", errConsoleFile
	case c.UserHeader != "" && !isHeader(c.UserHeader):
		return "user_header", umpire.Errorf(
			"want the name of a header that browsers do not send, such as X-Forwarded-User")
	case (c.UserHeader == "") != (c.SecretFile == ""):
		return "user_header", umpire.Errorf("want user_header and secret_file, or neither")
	case c.UserHeader != "" && c.CertificateFile != "":
		return "user_header", umpire.Errorf("remove the certificate: a proxy on this machine names the person")
	case c.CertificateFile == "" && !isLoopback(host):
		return "listen", umpire.Errorf("want a loopback address such as 127.0.0.1:7577 without a certificate")
	}
	return "", nil
}

// isHeader reports whether text is a header name that browsers and umpire do not use. Headers of
// proxies begin with X- or Remote-, or contain "-user".
func isHeader(text string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	}
	lower := strings.ToLower(text)
	return !strings.ContainsFunc(text, other) && len(text) <= maxHeaderName &&
		(strings.HasPrefix(lower, "x-") || strings.HasPrefix(lower, "remote-") || strings.Contains(lower, "-user"))
}

// maxHeaderName is the longest name of a header.
const maxHeaderName = 64

// isOrigin reports whether a text is an https origin just as browsers write it. Passkeys need a
// name in it, not a number.
func isOrigin(text string) bool {
	at, err := url.Parse(text)
	if err != nil || text != "https://"+at.Host || at.Port() == "443" {
		return false
	}
	other := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' }
	host := at.Hostname()
	_, err = netip.ParseAddr(host)
	if err == nil || strings.ContainsFunc(host, other) || strings.Trim(host, "-.") != host || host == "" {
		return false
	}
	return at.Host == host || isPort(at.Port())
}

// isPort reports whether a text is the number of a port, as browsers write it.
func isPort(text string) bool {
	number, err := strconv.ParseUint(text, 10, 16)
	return err == nil && number > 0 && strconv.FormatUint(number, 10) == text
}
