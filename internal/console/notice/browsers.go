package notice

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console/webcrypto"
	"github.com/umpirehq/umpire/internal/files"
)

// maxKey is the largest file of a key.
const maxKey = 4 << 10

// A Browser is a browser that gets notices by Web Push.
type Browser struct {
	webcrypto.Subscription

	Added time.Time `json:"added"`
	// SignIn is the sign-in to the console that added it; signing out removes it.
	SignIn string `json:"sign_in"`
	// Person is the name of the person who added it; "" is the user of the gate.
	Person string `json:"person,omitempty"`
}

// ID identifies a subscription and differs for a later one of the same browser. It reveals neither
// the address for notices nor the secret.
func (b *Browser) ID() string {
	sum := sha256.Sum256(append([]byte(b.Endpoint+"\n"), b.Secret...))
	return hex.EncodeToString(sum[:8])
}

// Name returns the browser's display name: the push service, and the beginning of the ID.
func (b *Browser) Name() string { return b.Host() + " " + b.ID()[:6] }

// A Push keeps the browsers that get notices, and the key that identifies this gate to push
// services. It is safe for concurrent use.
type Push struct {
	// Subject is the address of the console, which push services see as the sender's.
	Subject string
	// KeyFile holds the key; it is written when the first browser asks for it.
	KeyFile string
	// File holds the browsers.
	File string

	mu sync.Mutex
}

const (
	maxBrowsers = 16
	maxPushFile = 256 << 10 // 16 browsers with endpoints of 2 KiB, whose characters take up to six
	privateMode = 0o600
)

var errFull = umpire.Errorf(
	"%d browsers get notices already: remove one first: %w", maxBrowsers, umpire.ErrState)

// Browsers returns the subscribed browsers.
func (p *Push) Browsers() ([]Browser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.readBrowsers()
}

// readBrowsers reads the file, which another process may have changed; mu is held.
func (p *Push) readBrowsers() (all []Browser, err error) {
	data, err := files.ReadPrivate(p.File, maxPushFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, umpire.Errorf("notify: %w", err)
	}
	all, line, err := decodeBrowsers(data)
	if err != nil {
		return nil, umpire.Errorf("notify: %s:%d: %w", p.File, line, err)
	}
	return all, nil
}

// decodeBrowsers decodes the format that change writes, and no other. With an error it returns the error's line.
func decodeBrowsers(data []byte) (all []Browser, line int, err error) {
	lines := func(end int64) int { return 1 + bytes.Count(data[:min(end, int64(len(data)))], []byte("\n")) }
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	open, err := in.Token()
	if err == nil && open != json.Delim('[') {
		err = umpire.Errorf("want a list of browsers")
	}
	for err == nil && in.More() {
		var b Browser
		at := in.InputOffset() // the end of the previous value; the browser begins on the same line or the next
		if err = in.Decode(&b); err == nil {
			err = b.Check()
		}
		if err == nil && len(all) == maxBrowsers {
			err = umpire.Errorf("more than %d browsers", maxBrowsers)
		}
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = syntax.Offset
		} else if err != nil {
			at += int64(bytes.IndexByte(data[at:], '{') + 1)
		}
		if err != nil {
			return nil, lines(at), err
		}
		all = append(all, b)
	}
	if err == nil {
		_, err = in.Token() // the end of the list
	}
	if err == nil && len(bytes.TrimSpace(data[in.InputOffset():])) > 0 {
		err = umpire.Errorf("unexpected data after the list of browsers")
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return all, lines(in.InputOffset()), err
}

// Add stores a browser, replacing its previous subscription.
func (p *Push) Add(b *Browser) error {
	if err := b.Check(); err != nil {
		return err
	}
	return p.change(func(all []Browser) ([]Browser, error) {
		all = slices.DeleteFunc(all, func(other Browser) bool { return other.Endpoint == b.Endpoint })
		if len(all) >= maxBrowsers {
			return nil, errFull
		}
		return append(all, *b), nil
	})
}

// Remove removes the browsers that match reports. It is not an error if it finds none of them.
func (p *Push) Remove(match func(b *Browser) bool) error {
	return p.change(func(all []Browser) ([]Browser, error) {
		return slices.DeleteFunc(all, func(b Browser) bool { return match(&b) }), nil
	})
}

func (p *Push) change(how func(all []Browser) ([]Browser, error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, err := p.readBrowsers()
	if err != nil {
		return err
	}
	count := len(all)
	changed, err := how(all)
	if err != nil || count == 0 && len(changed) == 0 {
		return err
	}
	data, err := json.MarshalIndent(changed, "", " ")
	if err != nil {
		return err
	}
	return files.Replace(p.File, append(data, '\n'), privateMode)
}

// PublicKey returns the key that a browser subscribes with. It makes the key if it does not exist yet.
func (p *Push) PublicKey() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, err := p.readKey()
	if errors.Is(err, fs.ErrNotExist) {
		key, err = p.makeKey()
	}
	if err != nil {
		return "", err
	}
	return webcrypto.PublicKey(key)
}

// readKey reads the key.
func (p *Push) readKey() (*ecdsa.PrivateKey, error) {
	data, err := files.ReadPrivate(p.KeyFile, maxKey)
	if err != nil {
		return nil, umpire.Errorf("notify: %w", err)
	}
	unreadable := umpire.Errorf("notify: %s: want a private key of P-256 in PEM", p.KeyFile)
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, unreadable
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, is := parsed.(*ecdsa.PrivateKey)
	if err != nil || !is || key.Curve != elliptic.P256() {
		return nil, unreadable
	}
	return key, nil
}

// makeKey makes the key; mu is held.
func (p *Push) makeKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(p.KeyFile), 0o700); err != nil {
		return nil, umpire.Errorf("notify: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if err := files.Replace(p.KeyFile, text, privateMode); err != nil {
		return nil, umpire.Errorf("notify: %w", err)
	}
	return key, nil
}
