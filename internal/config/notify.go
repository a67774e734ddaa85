package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

// A Notify says where notices go when a call waits for a person. Only the person may set it:
// a project that could set it would learn of the calls.
type Notify struct {
	Ntfy     *Ntfy     `key:"ntfy" json:"ntfy,omitempty"`
	Webhooks []Webhook `key:"webhooks" json:"webhooks,omitempty"`
	// Commands includes the subject of a call in notices: its command, or the path of a file.
	Commands bool `key:"commands" json:"commands"`
	// After is how long a call waits before a notice is sent, 0 for five seconds.
	After time.Duration `key:"after" json:"-"`
	// RelayTrusted lets the ntfy server relay one-time approvals. Its operator can then approve calls.
	RelayTrusted bool `key:"relay_trusted" json:"relay_trusted"`
}

// An Ntfy is a server of ntfy, or one that speaks its protocol.
type Ntfy struct {
	Server string `key:"server" json:"server"`
	Topic  string `key:"topic" json:"topic"`
	// Replies is the topic to which the buttons of a notice publish. If "", notices do not have buttons.
	Replies string `key:"replies" json:"replies,omitempty"`
	// TokenFile names a file in keys/notify that holds an access token.
	TokenFile string `key:"token_file" json:"token_file,omitempty"`
}

// A Webhook takes notices as JSON, signed with a secret.
type Webhook struct {
	URL string `key:"url" json:"url"`
	// SecretFile names a file in keys/notify that holds the secret.
	SecretFile string `key:"secret_file" json:"secret_file"`
}

// DefaultAfter is the delay before a notice is sent. A shorter delay would also notify people who
// are already looking at the question.
const DefaultAfter = 5 * time.Second

// The limits of notify.
const (
	maxWebhooks   = 8
	maxAfter      = time.Hour
	secretTopic   = 16 // minimum characters of an otherwise unprotected topic
	publicService = "ntfy.sh"
)

// isName reports whether a text has 1 to 64 letters, digits, hyphens and underscores, as the server
// requires of a topic.
func isName(text string) bool {
	other := func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, other)
}

// isSecretName reports whether a text is the name of a file in a folder.
func isSecretName(text string) bool {
	return isName(strings.ReplaceAll(text, ".", "-")) && !strings.HasPrefix(text, ".")
}

// decodeNotify reads notify, and rejects settings that would fail or be unsafe.
func decodeNotify(c *Config, v *docedit.Value) error {
	c.Notify = Notify{} // the pointers are shared with the previous configuration
	if err := v.Decode(&c.Notify); err != nil {
		return err
	}
	if field, err := c.Notify.check(); err != nil {
		return fieldAt(v, field).Fault(umpire.Errorf("%s: %w", field, err))
	}
	return nil
}

// fieldAt returns the value of a field such as ntfy.topic or webhooks.2.url, or the object that
// lacks it.
func fieldAt(v *docedit.Value, field string) *docedit.Value {
	for name := range strings.SplitSeq(field, ".") {
		next := v.At(name)
		if i, err := strconv.Atoi(name); err == nil && 0 < i && i <= len(v.Items) {
			next = v.Items[i-1]
		}
		if next.Parent == nil {
			break
		}
		v = next
	}
	return v
}

// check returns the field with the first fault.
func (n *Notify) check() (field string, err error) {
	if n.After < 0 || n.After > maxAfter {
		return "after", umpire.Errorf("want a duration of at most %s", maxAfter)
	}
	if len(n.Webhooks) > maxWebhooks {
		return "webhooks", umpire.Errorf("want at most %d", maxWebhooks)
	}
	for i, hook := range n.Webhooks {
		if field, err := hook.check(); err != nil {
			return fmt.Sprintf("webhooks.%d.%s", i+1, field), err
		}
	}
	if n.Ntfy != nil {
		if field, err := n.Ntfy.check(); err != nil {
			return "ntfy." + field, err
		}
	}
	if n.RelayTrusted {
		return "relay_trusted", n.checkTrust()
	}
	return "", nil
}

// checkTrust rejects trust in a relay that is not the person's own, and in one whose notices do not
// show the commands.
func (n *Notify) checkTrust() error {
	server, err := url.Parse(n.ntfyServer())
	switch {
	case err != nil || n.Ntfy == nil || n.Ntfy.Replies == "":
		return umpire.Errorf("want your own ntfy server and a topic for replies")
	case server.Scheme != "https":
		return umpire.Errorf("want a server that is reached by https://")
	case n.Ntfy.TokenFile == "":
		return umpire.Errorf("want ntfy.token_file, and a server on which no one else can read the topic")
	case strings.HasSuffix("."+strings.ToLower(strings.TrimSuffix(server.Hostname(), ".")), "."+publicService):
		return umpire.Errorf("%s is not your own server: its operator could approve", publicService)
	case !n.Commands:
		return umpire.Errorf("want commands: true, to show the command that you approve")
	}
	return nil
}

func (n *Notify) ntfyServer() string {
	if n.Ntfy == nil {
		return ""
	}
	return n.Ntfy.Server
}

func (s *Ntfy) check() (field string, err error) {
	if err := checkEndpoint(s.Server); err != nil {
		return "server", err
	}
	if u, err := url.Parse(s.Server); err != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "server", umpire.Errorf("want https://HOST without a path")
	}
	switch {
	case !isName(s.Topic):
		return "topic", umpire.Errorf("want at most 64 letters, digits, hyphens and underscores")
	case s.Replies != "" && (!isName(s.Replies) || s.Replies == s.Topic):
		return "replies", umpire.Errorf("want another topic, of at most 64 letters, digits, hyphens and underscores")
	case s.TokenFile != "" && !isSecretName(s.TokenFile):
		return "token_file", errSecretName
	case s.TokenFile == "" && len(s.Topic) < secretTopic:
		return "topic", umpire.Errorf("want at least %d characters: without a token, anyone who guesses it can "+
			"read along",
			secretTopic)
	}
	return "", nil
}

var errSecretName = umpire.Errorf("want the name of a file in keys/notify of umpire's folder")

func (w *Webhook) check() (field string, err error) {
	if err := checkEndpoint(w.URL); err != nil {
		return "url", err
	}
	if !isSecretName(w.SecretFile) {
		return "secret_file", errSecretName
	}
	return "", nil
}

// checkEndpoint refuses an address to which a notice would go in the clear.
func checkEndpoint(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return umpire.Errorf("want https://HOST, without a password in it; http:// only for this machine")
	}
	return nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// On reports whether notices go anywhere.
func (n *Notify) On() bool { return n.Ntfy != nil || len(n.Webhooks) > 0 }

// masked returns notify for display. A topic or a webhook's path may grant access, so it is masked.
func (n *Notify) masked() Notify {
	shown := *n
	if n.Ntfy != nil {
		ntfy := *n.Ntfy
		ntfy.Topic = mask
		if ntfy.Replies != "" {
			ntfy.Replies = mask
		}
		shown.Ntfy = &ntfy
	}
	shown.Webhooks = nil
	for _, hook := range n.Webhooks {
		shown.Webhooks = append(shown.Webhooks, Webhook{URL: maskPath(hook.URL), SecretFile: hook.SecretFile})
	}
	return shown
}

// maskPath masks everything in an address but its scheme and host.
func maskPath(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return mask
	}
	return u.Scheme + "://" + u.Host + "/" + mask
}

// String lists where notices go.
func (n Notify) String() string {
	var targets []string
	if n.Ntfy != nil {
		targets = append(targets, n.Ntfy.Server)
	}
	for _, hook := range n.Webhooks {
		targets = append(targets, maskPath(hook.URL))
	}
	return strings.Join(targets, ", ")
}
