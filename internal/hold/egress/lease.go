package egress

import (
	"net/url"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/lazyregexp"
)

// A Lease lets a command use a secret without seeing it. The command gets a placeholder, for which the proxy puts the
// secret into requests to one host, by some methods, for some paths. The zero value covers nothing.
type Lease struct {
	Name    string   // of the variable with the placeholder
	Host    string   // a name, which is reached by HTTPS on its usual port
	Methods []string // GET covers HEAD
	Paths   []string // patterns: * stands for the rest of a segment, and at the end for everything
	// Value returns the secret, or an error if the lease has ended. It is called for each request.
	Value func() (string, error)
}

// maxPatterns bounds the methods and the paths of a lease.
const maxPatterns = 50

var (
	variableName = lazyregexp.Regexp{Text: `^[A-Za-z_][A-Za-z0-9_]{0,63}$`}
	methodName   = lazyregexp.Regexp{Text: `^[A-Z]{1,20}$`}
	pathPattern  = lazyregexp.Regexp{Text: `^(/[A-Za-z0-9._~%!$&'()+,=:@-]*\*?[A-Za-z0-9._~%!$&'()+,=:@-]*)+$`}
)

// NewLease returns a lease without a value. An error says what to write instead.
func NewLease(name, written string, methods, paths []string) (Lease, error) {
	host, normal := normalHost(written)
	_, isAddress := Destination{Host: host}.address()
	reserved := slices.ContainsFunc(append(Variables("x"), unsafeVariables...), func(pair string) bool {
		taken, _, _ := strings.Cut(pair, "=")
		return strings.EqualFold(taken, name)
	})
	switch {
	case !variableName.Get().MatchString(name) || reserved:
		return Lease{}, umpire.Errorf("%q cannot hold a secret; name a variable like %s", name, "GITHUB_TOKEN")
	case !normal || isAddress || !strings.Contains(host, "."):
		return Lease{}, umpire.Errorf("%q is not a full host name; write one like %s, without a scheme or port",
			written, "api.github.com")
	case len(methods) == 0 || len(methods) > maxPatterns || len(paths) == 0 || len(paths) > maxPatterns:
		return Lease{}, umpire.Errorf("want 1 to %d methods and 1 to %d paths", maxPatterns, maxPatterns)
	}
	for _, method := range methods {
		if !methodName.Get().MatchString(method) || method == "CONNECT" || method == "TRACE" {
			return Lease{}, umpire.Errorf("%q is not a method that can be leased; write one like %s", method, "GET")
		}
	}
	for _, path := range paths {
		if raw, _ := readings(strings.ReplaceAll(path, "*", "x")); raw == "" || !pathPattern.Get().MatchString(path) {
			return Lease{}, umpire.Errorf("%q is not a path; write one like %s, with at most one * in a segment",
				path, "/repos/me/*")
		}
	}
	return Lease{Name: name, Host: host, Methods: methods, Paths: paths}, nil
}

// unsafeVariables change how programs start: a placeholder would only break them.
var unsafeVariables = []string{
	"PATH", "HOME", "SHELL", "TMPDIR", "LD_PRELOAD", "NODE_OPTIONS", "BASH_ENV", "ENV", "IFS",
}

// covers reports whether a request may carry the secret. A target that servers may read in different ways is not
// covered, and neither is one that may stand for another method.
func (s *Lease) covers(h *head, target string) bool {
	method := h.method
	if method == "HEAD" && !slices.Contains(s.Methods, method) {
		method = "GET"
	}
	path, query, _ := strings.Cut(target, "?")
	raw, decoded := readings(path)
	if raw == "" || !slices.Contains(s.Methods, method) || overrides(query) ||
		slices.ContainsFunc(h.fields, redirects) {
		return false
	}
	for _, reading := range []string{raw, decoded} {
		if !slices.ContainsFunc(s.Paths, func(pattern string) bool {
			literal, meant := readings(pattern)
			return matches(literal, reading) && reading == raw || matches(meant, reading) && reading == decoded
		}) {
			return false
		}
	}
	return true
}

var escape = lazyregexp.Regexp{Text: `%..`}

// readings returns a path as it was sent, with escapes in lower case, and decoded. Both are "" if a server may find a
// third meaning: by dots, empty segments, parameters, double escapes, or characters outside of ASCII.
func readings(path string) (raw, decoded string) {
	decoded, err := url.PathUnescape(path)
	if err != nil || !strings.HasPrefix(path, "/") || strings.ContainsAny(decoded, `%;\?#`) {
		return "", ""
	}
	for _, c := range []byte(decoded) {
		if c < ' ' || c > '~' {
			return "", ""
		}
	}
	for _, reading := range []string{path, decoded} {
		segments := strings.Split(reading[1:], "/")
		for i, segment := range segments {
			if strings.Trim(segment, ". ") == "" && (segment != "" || i < len(segments)-1) {
				return "", ""
			}
		}
	}
	return escape.Get().ReplaceAllStringFunc(path, strings.ToLower), decoded
}

// matches compares a path with a pattern.
func matches(pattern, path string) bool {
	before, after, star := strings.Cut(pattern, "*")
	rest, found := strings.CutPrefix(path, before)
	switch {
	case !found:
		return false
	case !star:
		return rest == ""
	case after == "":
		return true
	}
	for i := 0; ; i++ {
		if matches(after, rest[i:]) {
			return true
		}
		if i == len(rest) || rest[i] == '/' {
			return false
		}
	}
}

// methodOverrides are names of fields and parameters by which some servers take another method, and pathOverrides
// those by which they take another path or host.
var (
	methodOverrides = []string{"_method", "$method", "x-http-method-override", "x-http-method", "x-method-override"}
	pathOverrides   = []string{"x-original-url", "x-original-uri", "x-rewrite-url", "x-host", "forwarded"}
)

// overrides reports whether a query may name another method, or cannot be read.
func overrides(query string) bool {
	values, err := url.ParseQuery(query)
	for name := range values {
		if slices.Contains(methodOverrides, strings.ToLower(name)) {
			return true
		}
	}
	return err != nil
}

// redirects reports whether a field may name another method, path or host.
func redirects(f field) bool {
	name := strings.ReplaceAll(f.name, "_", "-") // servers that hand fields on as variables take both
	return slices.Contains(methodOverrides, name) || slices.Contains(pathOverrides, name) ||
		strings.HasPrefix(name, "x-forwarded-")
}
