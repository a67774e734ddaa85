package sensitive

import (
	"net/url"
	"strings"

	"github.com/umpirehq/umpire"
)

// An agent can hide a secret in a URL or a query. Texts that are longer or more opaque than
// ordinary addresses ask.
const (
	// maxPlainURL is the longest ordinary address in characters, and maxPlainWord the most letters
	// and digits in one piece of it.
	maxPlainURL  = 1024
	maxPlainWord = 100
	// maxOpaque is the most random-looking characters of a part, and maxOpaqueAll of the whole. An
	// identifier of 32 hexadecimal digits is common in addresses.
	maxOpaque    = 32
	maxOpaqueAll = 96
)

// decodings is how often a text may be percent-encoded without hiding its meaning.
const decodings = 3

// SecretInAddress returns the reason why an address or a query that is sent out may contain a secret, or "".
func SecretInAddress(text string) umpire.Phrase {
	if len(text) > maxPlainURL {
		return "it is longer than addresses are"
	}
	plain := text
	for range decodings {
		if HasToken(plain) {
			return "it holds what looks like a token"
		}
		decoded, err := url.PathUnescape(plain)
		if err != nil || decoded == plain {
			break
		}
		plain = decoded
	}
	if u, err := url.Parse(text); err == nil && secretQuery(u) {
		return "a parameter is named like one"
	}
	return opaquePart(plain)
}

// secretNames are names of query parameters that carry secrets.
var secretNames = []string{
	"token", "secret", "password", "passwd", "api_key", "apikey", "access_key", "private_key", "auth",
}

func secretQuery(u *url.URL) bool {
	for name := range u.Query() {
		lower := strings.ToLower(name)
		for _, secret := range secretNames {
			if strings.Contains(lower, secret) {
				return true
			}
		}
	}
	return false
}

// opaquePart returns the reason why a part of a text looks random or encoded, or "". Slashes and
// the separators of query parameters separate parts.
func opaquePart(text string) umpire.Phrase {
	all := 0
	for part := range strings.FieldsFuncSeq(
		text, func(r rune) bool { return strings.ContainsRune("/?&=#;, \t\n", r) },
	) {
		count := 0
		for word := range strings.FieldsFuncSeq(
			part, func(r rune) bool { return r > 127 || !isLetterOrDigit(byte(r)) },
		) {
			switch {
			case commitHash(word):
			case len(word) > maxPlainWord:
				return "it holds a long word without any break"
			case mixed(word), len(word) > maxOpaque && IsKeyLike(word):
				count += len(word)
			}
		}
		if count > maxOpaque {
			return "it holds a long word that looks made by dice"
		}
		all += count
	}
	if all > maxOpaqueAll {
		return "it holds many words that look made by dice"
	}
	return ""
}

// commitHash reports whether a word is the name of a git object, or a digest as registries show them.
func commitHash(word string) bool {
	return (len(word) == 40 || len(word) == 64) && strings.Trim(word, "0123456789abcdef") == ""
}

func isLetterOrDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
