package setup

import (
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

// codexTrust are umpire's lines in Codex's configuration.
type codexTrust struct{}

func (codexTrust) install(text []byte, _ string, _ Hook) ([]byte, error) { return text, nil }
func (codexTrust) registered(_ []byte, _ string) ([]Registration, error) { return nil, nil }
func (codexTrust) uninstall(text []byte, host string) ([]byte, error) {
	return cutBlock(text, host)
}

// A CodexHash is Codex's record of one hook: its key, and the hash of the current entry.
type CodexHash struct{ Key, Hash string }

// TrustCodex returns Codex's config.toml with the hashes of umpire's hooks, as Codex itself writes
// them when a person trusts a hook. It replaces umpire's earlier hashes.
func TrustCodex(config []byte, hashes []CodexHash) ([]byte, error) {
	var lines strings.Builder
	for _, h := range hashes {
		fmt.Fprintf(&lines, "[hooks.state.%s]\ntrusted_hash = %s\n", tomlText(h.Key), tomlText(h.Hash))
	}
	out, err := putBlock(config, Codex.Host, lines.String())
	if err != nil {
		return nil, umpire.Errorf("trust the hooks of codex: %w", err)
	}
	return out, nil
}

// TrustedCodex returns the hashes of hooks that a config.toml of Codex trusts, by key.
func TrustedCodex(config []byte) (map[string]string, error) {
	d, err := docedit.Open(docedit.TOML, config)
	if err != nil {
		return nil, err
	}
	trusted := map[string]string{}
	for _, hook := range d.Root.At("hooks", "state").Items {
		trusted[hook.Key] = hook.At("trusted_hash").Text
	}
	return trusted, nil
}
