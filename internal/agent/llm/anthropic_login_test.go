package llm

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/config"
)

// noLogin is an environment without any key, with a folder for profiles.
func noLogin(t *testing.T) (dir string) {
	t.Helper()
	for _, name := range []string{
		anthropicKey, "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_BASE_URL",
		"ANTHROPIC_ORGANIZATION_ID", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_IDENTITY_TOKEN_FILE", "ANTHROPIC_WORKSPACE_ID",
		"ANTHROPIC_SERVICE_ACCOUNT_ID", "ANTHROPIC_CUSTOM_HEADERS",
	} {
		t.Setenv(name, "") // puts it back at the end
		os.Unsetenv(name)
	}
	dir = t.TempDir()
	t.Setenv("ANTHROPIC_CONFIG_DIR", dir)
	return dir
}

// tokenServer gives out the token "new", and counts how often.
func tokenServer(t *testing.T) (base string, asked *[]string) {
	t.Helper()
	asked = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, r.URL.Path+" "+string(body))
		io.WriteString(w, `{"access_token": "new", "refresh_token": "r2", "expires_in": 3600, "token_type": "Bearer"}`)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// tokenOf returns the token that a model configured by the environment sends.
func tokenOf(t *testing.T) string {
	t.Helper()
	m, err := NewAnthropic("claude-x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	server, err := m.login.endpoint(t.Context(), m.server)
	if err != nil {
		t.Fatal(err)
	}
	return server.Header.Get("Authorization")
}

func TestNoLogin(t *testing.T) {
	noLogin(t)
	_, err := NewAnthropic("claude-x", Options{})
	if none, ok := errors.AsType[*NoKeyError](err); !ok || none.Variable != anthropicKey {
		t.Errorf("got %v", err)
	}
	t.Setenv("ANTHROPIC_PROFILE", "work")
	if _, err := NewAnthropic("claude-x", Options{}); err == nil || !strings.Contains(err.Error(), "work") {
		t.Errorf("a profile that is not there: %v", err)
	}
}

// TestProfile: a token that holds is used, one that does not is renewed, and the file then holds it.
func TestProfile(t *testing.T) {
	dir := noLogin(t)
	base, asked := tokenServer(t)
	file := filepath.Join(dir, "credentials", "default.json")
	keep := func(until time.Time, client string) {
		profile := &config.Config{BaseURL: base, AuthenticationInfo: config.NewUserOAuthAuthentication(client)}
		err := config.WriteCredentials(file, config.Credentials{AccessToken: "old", RefreshToken: "r1", ExpiresAt: &until})
		if err := errors.Join(err, config.SaveProfile(dir, "default", profile)); err != nil {
			t.Fatal(err)
		}
	}
	keep(time.Now().Add(time.Hour), "c")
	if got := tokenOf(t); got != "Bearer old" || len(*asked) != 0 {
		t.Errorf("got %s after %q", got, *asked)
	}
	keep(time.Now(), "c")
	if got := tokenOf(t); got != "Bearer new" || len(*asked) != 1 || !strings.Contains((*asked)[0], `"r1"`) {
		t.Errorf("got %s after %q", got, *asked)
	}
	if kept, err := readCredentials(file); err != nil || kept.AccessToken != "new" || kept.RefreshToken != "r2" {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if got := tokenOf(t); got != "Bearer new" || len(*asked) != 1 {
		t.Errorf("got %s after %q", got, *asked)
	}
	keep(time.Now(), "")
	m, err := NewAnthropic("claude-x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Reply(t.Context(), Request{}, nil); err == nil || !strings.Contains(err.Error(), "log in to Anthropic again") {
		t.Errorf("got %v", err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readCredentials(file); err == nil {
		t.Error("a file that others can read is read")
	}
}

// TestFederation: the identity is exchanged once, and its token is used while it holds.
func TestFederation(t *testing.T) {
	noLogin(t)
	base, asked := tokenServer(t)
	for name, value := range map[string]string{
		"ANTHROPIC_FEDERATION_RULE_ID": "fdrl_1", "ANTHROPIC_ORGANIZATION_ID": "org", "ANTHROPIC_IDENTITY_TOKEN": "jwt",
		"ANTHROPIC_BASE_URL": base,
	} {
		t.Setenv(name, value)
	}
	m, err := NewAnthropic("claude-x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		server, err := m.login.endpoint(t.Context(), m.server)
		if err != nil || server.Header.Get("Authorization") != "Bearer new" {
			t.Errorf("got %v, %v", server, err)
		}
	}
	var sent struct {
		Assertion string `json:"assertion"`
		Rule      string `json:"federation_rule_id"`
	}
	_, body, _ := strings.Cut((*asked)[0], " ")
	if err := json.Unmarshal([]byte(body), &sent); err != nil || len(*asked) != 1 || sent.Assertion != "jwt" || sent.Rule != "fdrl_1" {
		t.Errorf("asked %q, %v", *asked, err)
	}
}
