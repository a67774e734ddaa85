package egress

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the format of hashed names
	"encoding/base64"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/umpirehq/umpire/internal/files"
)

// A knownHost is a line of a known_hosts file, as sshd(8) describes it.
type knownHost struct {
	marker   string   // "", markAuthority or markRevoked
	patterns []string // of names, or one hashed name
	key      ssh.PublicKey
}

const (
	markAuthority = "cert-authority"
	markRevoked   = "revoked"
)

// maxKnownHosts bounds a known_hosts file in bytes. One that is longer has no keys.
const maxKnownHosts = 4 << 20

// readKnownHosts returns the lines of known_hosts files that can be read.
func readKnownHosts(names []string) (all []knownHost) {
	for _, name := range names {
		text, err := files.ReadSmall(name, maxKnownHosts)
		if err != nil {
			continue // ssh goes on without a file, too
		}
		for line := range bytes.Lines(text) {
			marker, patterns, key, _, _, err := ssh.ParseKnownHosts(line)
			if err == nil {
				all = append(all, knownHost{marker, patterns, key})
			}
		}
	}
	return all
}

// knownName returns the name of a destination in known_hosts files.
func (d Destination) knownName() string {
	if d.Port == portSSH {
		return d.Host
	}
	return "[" + d.Host + "]:" + strconv.Itoa(int(d.Port))
}

// covers reports whether the line is about a host.
func (h *knownHost) covers(name string) (found bool) {
	for _, pattern := range h.patterns {
		pattern, negated := strings.CutPrefix(pattern, "!")
		if !matchesName(pattern, name) {
			continue
		}
		if negated {
			return false
		}
		found = true
	}
	return found
}

// literal takes the meaning from characters that only path.Match knows.
var literal = strings.NewReplacer("[", `\[`, "]", `\]`, `\`, `\\`)

// matchesName compares a name with a pattern, or with the hash of a name.
func matchesName(pattern, name string) bool {
	hashed, is := strings.CutPrefix(pattern, "|1|")
	if !is {
		matched, err := path.Match(literal.Replace(strings.ToLower(pattern)), name)
		return matched && err == nil
	}
	first, second, _ := strings.Cut(hashed, "|")
	salt, saltErr := base64.StdEncoding.DecodeString(first)
	sum, sumErr := base64.StdEncoding.DecodeString(second)
	mac := hmac.New(sha1.New, salt)
	_, _ = mac.Write([]byte(name)) // it never fails
	return saltErr == nil && sumErr == nil && hmac.Equal(mac.Sum(nil), sum)
}

// A pinned host has keys in the person's known_hosts files. The zero value trusts no key.
type pinned struct {
	to    Destination
	lines []knownHost
}

// pin returns the lines about a destination. found is false if none pins a key.
func pin(known []knownHost, d Destination) (p pinned, found bool) {
	p.to = d
	for i := range known {
		if h := &known[i]; h.covers(d.knownName()) {
			p.lines = append(p.lines, *h)
			found = found || h.marker != markRevoked
		}
	}
	return p, found
}

// knownHosts is a known_hosts file with the lines about the destination.
func (p *pinned) knownHosts() (text []byte) {
	for i := range p.lines {
		if marker := p.lines[i].marker; marker != "" {
			text = append(text, "@"+marker+" "...)
		}
		text = append(text, p.to.knownName()+" "...)
		text = append(text, ssh.MarshalAuthorizedKey(p.lines[i].key)...)
	}
	return text
}

// trusts reports whether a key is the host's: pinned itself, or certified for the host by a pinned authority.
func (p *pinned) trusts(key ssh.PublicKey) bool {
	has := func(marker string, key ssh.PublicKey) bool {
		return slices.ContainsFunc(p.lines, func(h knownHost) bool {
			return h.marker == marker && bytes.Equal(h.key.Marshal(), key.Marshal())
		})
	}
	certificate, is := key.(*ssh.Certificate)
	if !is {
		return has("", key) && !has(markRevoked, key)
	}
	if has(markRevoked, certificate.Key) || has(markRevoked, certificate.SignatureKey) {
		return false
	}
	checker := ssh.CertChecker{IsHostAuthority: func(by ssh.PublicKey, _ string) bool { return has(markAuthority, by) }}
	return checker.CheckHostKey(p.to.String(), nil, certificate) == nil || has("", certificate.Key)
}
