package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/anthropics/anthropic-sdk-go/config"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

const (
	// fresh is the minimum remaining lifetime of a token in use.
	fresh = 30 * time.Second
	// maxToken bounds an answer or a file with a token.
	maxToken = 1 << 20
)

// An anthropicLogin is a short-lived token, from a profile of Anthropic's own program or in exchange for an
// identity. It is safe for concurrent use.
type anthropicLogin struct {
	profile *config.Config

	mu   sync.Mutex
	kept config.Credentials
}

// findLogin looks for a login in the same order as Anthropic's own programs. It fails with a
// [NoKeyError] if it finds nothing.
func findLogin() (*anthropicLogin, error) {
	if name := os.Getenv("ANTHROPIC_PROFILE"); name != "" {
		profile, err := config.LoadProfile(config.DefaultDir(), name)
		return &anthropicLogin{profile: profile}, err
	}
	if os.Getenv("ANTHROPIC_FEDERATION_RULE_ID") != "" && os.Getenv("ANTHROPIC_ORGANIZATION_ID") != "" &&
		os.Getenv("ANTHROPIC_IDENTITY_TOKEN_FILE")+os.Getenv("ANTHROPIC_IDENTITY_TOKEN") != "" {
		return &anthropicLogin{profile: &config.Config{
			OrganizationID: os.Getenv("ANTHROPIC_ORGANIZATION_ID"), WorkspaceID: os.Getenv("ANTHROPIC_WORKSPACE_ID"),
			AuthenticationInfo: config.NewOIDCFederationAuthentication(config.OIDCFederation{
				FederationRuleID: os.Getenv("ANTHROPIC_FEDERATION_RULE_ID"),
				ServiceAccountID: os.Getenv("ANTHROPIC_SERVICE_ACCOUNT_ID"),
			}),
		}}, nil
	}
	if config.DefaultDir() == "" { // "" would mean the current folder
		return nil, &NoKeyError{Provider: anthropicName, Variable: anthropicKey}
	}
	profile, err := config.LoadConfig()
	if errors.Is(err, os.ErrNotExist) {
		return nil, &NoKeyError{Provider: anthropicName, Variable: anthropicKey}
	}
	return &anthropicLogin{profile: profile}, err
}

// anthropicEndpoint returns the server with a valid token.
func (l *anthropicLogin) endpoint(ctx context.Context, server *Endpoint) (*Endpoint, error) {
	own := &Endpoint{URL: server.URL, Header: server.Header.Clone()}
	if l.profile.BaseURL != "" && os.Getenv("ANTHROPIC_BASE_URL") == "" {
		own.URL = l.profile.BaseURL
	}
	token, err := l.token(ctx, strings.TrimRight(own.URL, "/"))
	if err != nil {
		return nil, umpire.Errorf("log in to Anthropic again, or set %s: %w", anthropicKey, err)
	}
	own.Header.Set("Authorization", "Bearer "+token)
	own.Header.Add("Anthropic-Beta", config.OAuthAPIBetaHeader)
	if l.profile.WorkspaceID != "" && l.profile.AuthenticationInfo.OIDCFederation == nil {
		own.Header.Set("Anthropic-Workspace-Id", l.profile.WorkspaceID)
	}
	return own, nil
}

// token returns the stored token, or a new one. Anthropic's program renews the file, too.
func (l *anthropicLogin) token(ctx context.Context, base string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	file, federated := l.profile.AuthenticationInfo.CredentialsPath, l.profile.AuthenticationInfo.OIDCFederation
	if file != "" {
		kept, err := readCredentials(file)
		if err != nil && federated == nil {
			return "", err
		}
		l.kept = kept
	}
	if l.kept.AccessToken != "" && (l.kept.ExpiresAt == nil || time.Until(*l.kept.ExpiresAt) > fresh) {
		return l.kept.AccessToken, nil
	}
	var err error
	if federated != nil {
		err = l.exchange(ctx, base, federated)
	} else {
		err = l.refresh(ctx, base)
	}
	if err == nil && file != "" {
		err = config.WriteCredentials(file, l.kept)
	}
	return l.kept.AccessToken, err
}

// readCredentials reads a file that other users cannot read.
func readCredentials(name string) (c config.Credentials, err error) {
	text, err := files.ReadPrivate(name, maxToken)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(text, &c)
}

// exchange gets a token for an identity from the environment or a file.
func (l *anthropicLogin) exchange(ctx context.Context, base string, f *config.OIDCFederation) error {
	identity := os.Getenv("ANTHROPIC_IDENTITY_TOKEN")
	file := os.Getenv("ANTHROPIC_IDENTITY_TOKEN_FILE")
	if f.IdentityToken != nil {
		file = f.IdentityToken.Path
	}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		identity = strings.TrimSpace(string(text))
	}
	kept, err := config.ExchangeFederationAssertion(ctx, config.FederationExchangeParams{
		Assertion: identity, FederationRuleID: f.FederationRuleID, ServiceAccountID: f.ServiceAccountID,
		OrganizationID: l.profile.OrganizationID, WorkspaceID: l.profile.WorkspaceID, BaseURL: base,
	})
	if err == nil {
		l.kept = *kept
	}
	return err
}

// refresh gets a new token with the stored refresh token.
func (l *anthropicLogin) refresh(ctx context.Context, base string) error {
	client := ""
	if info := l.profile.AuthenticationInfo.UserOAuth; info != nil {
		client = info.ClientID
	}
	if client == "" || l.kept.RefreshToken == "" {
		return umpire.Errorf("the login has expired")
	}
	if err := config.RequireSecureTokenEndpoint(base); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{
		"grant_type": config.GrantTypeRefreshToken, "refresh_token": l.kept.RefreshToken, "client_id": client,
	})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+config.TokenEndpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Beta", config.OAuthAPIBetaHeader)
	response, err := config.NewTokenHTTPClient().Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxToken))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return umpire.Errorf(
			"renewing the login: status %d: %s", response.StatusCode, config.RedactOAuthErrorBody(string(answer)),
		)
	}
	var renewed struct {
		AccessToken  string `json:"access_token"`
		RefreshToken string `json:"refresh_token"`
		ExpiresIn    *int64 `json:"expires_in"`
	}
	if err := json.Unmarshal(answer, &renewed); err != nil {
		return err
	}
	l.kept.AccessToken, l.kept.ExpiresAt = renewed.AccessToken, nil
	l.kept.RefreshToken = cmp.Or(renewed.RefreshToken, l.kept.RefreshToken)
	if renewed.ExpiresIn != nil {
		until := time.Now().Add(time.Duration(*renewed.ExpiresIn) * time.Second)
		l.kept.ExpiresAt = &until
	}
	return nil
}
