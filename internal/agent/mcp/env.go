package mcp

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/files/lazyregexp"
)

// harmless are the variables that every server gets: those that a program needs to find itself, its
// files and its language. An unlisted variable may hold a key.
var harmless = []string{
	"HOME", "PATH", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LANGUAGE",
	"LC_ALL", "LC_CTYPE", "LC_MESSAGES", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
	"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE",
	"PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
}

// serverEnv returns the environment of a server: the harmless part of umpire's, the variables from
// the configuration, and the mark of processes started by an agent.
func serverEnv(env []string, added map[string]string) []string {
	var kept []string
	for _, pair := range env {
		name, _, _ := strings.Cut(pair, "=")
		if slices.Contains(harmless, strings.ToUpper(name)) {
			kept = append(kept, pair)
		}
	}
	for name, value := range added {
		kept = append(kept, name+"="+value)
	}
	return append(kept, tool.AgentMark+"=1")
}

// ReadHeader reads header fields written as "NAME: VALUE", in which ${NAME} stands for a variable
// of the environment.
func ReadHeader(fields []string, lookup func(string) (string, bool)) (http.Header, error) {
	header := http.Header{}
	for _, field := range fields {
		name, value, found := strings.Cut(field, ":")
		if !found || !httpguts.ValidHeaderFieldName(name) {
			return nil, umpire.Errorf("want \"NAME: VALUE\", got %q", name)
		}
		filled, err := filledIn(map[string]string{name: strings.TrimSpace(value)}, lookup)
		if err != nil {
			return nil, err
		}
		if !httpguts.ValidHeaderFieldValue(filled[name]) {
			return nil, umpire.Errorf("%s: not the value of a header field", name)
		}
		header.Add(name, filled[name])
	}
	return header, nil
}

// lookupIn looks variables up in an environment.
func lookupIn(env []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, pair := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

// variable is a reference to umpire's own environment.
var variable = lazyregexp.Regexp{Text: `\$\{([A-Za-z_][A-Za-z0-9_]*)\}`}

// filledIn replaces variables by their values from the environment. A missing variable is an error:
// an empty key would be refused far away, without a visible reason.
func filledIn(values map[string]string, lookup func(string) (string, bool)) (map[string]string, error) {
	filled := map[string]string{}
	for name, value := range values {
		var missing string
		filled[name] = variable.Get().ReplaceAllStringFunc(value, func(ref string) string {
			v, ok := lookup(variable.Get().FindStringSubmatch(ref)[1])
			if !ok {
				missing = ref
			}
			return v
		})
		if missing != "" {
			return nil, umpire.Errorf("%s: the environment has no %s", name, missing)
		}
	}
	return filled, nil
}
