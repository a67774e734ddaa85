package notice

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/webpush"
)

// A Browser gets notices by Web Push.
type Browser struct {
	webpush.Subscription

	Added time.Time `json:"added"`
	// SignIn is the sign-in of the console that added it; signing out removes it.
	SignIn string `json:"sign_in"`
	// Person is the name of the person who added it; "" is the user of the gate.
	Person string `json:"person,omitempty"`
}

// A Push keeps the browsers that get notices, and the key by which push services know this gate. It is safe
// for concurrent use.
type Push struct {
	// Subject is the address of the console; push services see it as the sender's.
	Subject string
	// KeyFile has the key; it is written when the first browser asks for it.
	KeyFile string
	// File has the browsers.
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

// Browsers returns those that have subscribed.
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
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, umpire.Errorf("notify: %w", err)
	}
	return all, nil
}

// Add keeps a browser, in place of what it gave before.
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

// Remove forgets the browsers that match reports. It is not an error if there are none.
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

// PublicKey returns the key that a browser subscribes with. It makes one first if there is none.
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
	return webpush.PublicKey(key)
}

// readKey reads the key.
func (p *Push) readKey() (*ecdsa.PrivateKey, error) {
	data, err := files.ReadPrivate(p.KeyFile, maxSecret)
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
