package webcrypto_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/console/webcrypto"
)

// A browser reads messages as RFC 8188 and RFC 8291 say.
type browser struct {
	key    *ecdh.PrivateKey
	secret []byte
}

func newBrowser(t testing.TB) *browser {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{key, []byte(rand.Text()[:16])}
}

func (b *browser) subscription() *webcrypto.Subscription {
	return &webcrypto.Subscription{Endpoint: "https://push.example/x", Key: b.key.PublicKey().Bytes(), Secret: b.secret}
}

var errUnreadable = errors.New("unreadable")

func (b *browser) read(body []byte) ([]byte, error) {
	if len(body) < 21 || len(body) < 21+int(body[20]) || !bytes.Equal(body[16:20], []byte{0, 0, 0x10, 0}) {
		return nil, errUnreadable
	}
	salt, from, record := body[:16], body[21:21+int(body[20])], body[21+int(body[20]):]
	sender, err := ecdh.P256().NewPublicKey(from)
	if err != nil {
		return nil, err
	}
	shared, err := b.key.ECDH(sender)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(b.key.PublicKey().Bytes()) + string(from)
	input, err := hkdf.Key(sha256.New, shared, b.secret, info, 32)
	if err != nil {
		return nil, err
	}
	key, keyErr := hkdf.Key(sha256.New, input, salt, "Content-Encoding: aes128gcm\x00", 16)
	nonce, nonceErr := hkdf.Key(sha256.New, input, salt, "Content-Encoding: nonce\x00", 12)
	block, err := aes.NewCipher(key)
	if err = errors.Join(keyErr, nonceErr, err); err != nil {
		return nil, err
	}
	open, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	text, err := open.Open(nil, nonce, record, nil)
	if err != nil || len(text) == 0 || text[len(text)-1] != 2 {
		return nil, errors.Join(errUnreadable, err)
	}
	return text[:len(text)-1], nil
}

func (b *browser) send(t testing.TB, text []byte) []byte {
	t.Helper()
	sender, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	body, err := b.subscription().Encrypt(text, sender, []byte(rand.Text()[:webcrypto.SaltSize]))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestOnlyTheBrowserReads checks that the browser reads a message, another one does not, and each changed
// byte is noticed.
func TestOnlyTheBrowserReads(t *testing.T) {
	t.Parallel()
	b, other := newBrowser(t), newBrowser(t)
	body := b.send(t, []byte("umpire asks about a call"))
	if text, err := b.read(body); err != nil || string(text) != "umpire asks about a call" {
		t.Fatalf("%q, %v", text, err)
	}
	if text, err := other.read(body); err == nil {
		t.Errorf("another browser reads %q", text)
	}
	for i := range body {
		changed := bytes.Clone(body)
		changed[i] ^= 1 << (i % 8)
		if text, err := b.read(changed); err == nil {
			t.Errorf("byte %d does not count: %q", i, text)
		}
	}
}

// TestProofOfTheSender checks a sender's proof as RFC 8292 says, with each byte changed.
func TestProofOfTheSender(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	expires := time.Unix(1_800_000_000, 0)
	header, err := newBrowser(t).subscription().Authorize(key, "mailto:a@example.com", expires)
	if err != nil {
		t.Fatal(err)
	}
	token, public, found := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
	point, pointErr := key.PublicKey.ECDH()
	if !found || pointErr != nil || !bytes.Equal(decode(t, public), point.Bytes()) {
		t.Fatalf("%s: %v", header, pointErr)
	}
	at := strings.LastIndexByte(token, '.')
	signed, signature := []byte(token[:at]), decode(t, token[at+1:])
	counts := func() bool {
		sum := sha256.Sum256(signed)
		r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
		return ecdsa.Verify(&key.PublicKey, sum[:], r, s)
	}
	if len(signature) != 64 || !counts() {
		t.Fatalf("the signature is wrong: %x", signature)
	}
	for _, field := range [][]byte{signed, signature} {
		for i := range field {
			if field[i] ^= 1 << (i % 8); counts() {
				t.Errorf("byte %d of %d does not count", i, len(field))
			}
			field[i] ^= 1 << (i % 8)
		}
	}
	var claims map[string]any
	if err := json.Unmarshal(decode(t, strings.Split(token, ".")[1]), &claims); err != nil {
		t.Fatal(err)
	}
	if claims["aud"] != "https://push.example" || claims["exp"] != 1.8e9 || claims["sub"] != "mailto:a@example.com" {
		t.Errorf("%v", claims)
	}
}

// FuzzSubscription checks that the browser reads each message to a subscription that was accepted.
func FuzzSubscription(f *testing.F) {
	b := newBrowser(f)
	f.Add("https://push.example/x", b.key.PublicKey().Bytes(), b.secret, []byte("text"))
	f.Add("https://push.example/x", []byte{4}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, endpoint string, key, secret, text []byte) {
		s := &webcrypto.Subscription{Endpoint: endpoint, Key: key, Secret: secret}
		if s.Check() != nil {
			return
		}
		if s.Host() == "" {
			t.Errorf("%q was accepted without a host", endpoint)
		}
		if len(text) > webcrypto.MaxText || !bytes.Equal(key, b.key.PublicKey().Bytes()) || !bytes.Equal(secret, b.secret) {
			return
		}
		if got, err := b.read(b.send(t, text)); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%q is read as %q: %v", text, got, err)
		}
	})
}
