package fake

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
)

// Headers of signed requests and their answers.
const (
	SignatureHeader = "Umpire-Signature"
	proofHeader     = "Umpire-Gate"
)

// A Signer is a browser's key at an origin. It is safe for concurrent use after Admit.
type Signer struct {
	// ID, Instance and Secret come from the console's answer to a sign-in.
	ID       string `json:"id"`
	Instance string `json:"instance"`
	Secret   []byte `json:"secret"`

	private *ecdsa.PrivateKey
	last    atomic.Uint64
}

// NewSigner generates a key.
func NewSigner() (*Signer, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &Signer{private: private}, err
}

// PublicKey returns the key in the form that a sign-in registers.
func (p *Signer) PublicKey() ([]byte, error) { return p.private.PublicKey.Bytes() }

// Admit reads the answer to a sign-in.
func (p *Signer) Admit(answer []byte) error { return json.Unmarshal(answer, p) }

// At returns a page with the same key that signs for another listener.
func (p *Signer) At(instance string) *Signer {
	return &Signer{ID: p.ID, Instance: instance, Secret: p.Secret, private: p.private}
}

// Sign signs a request for an origin, with a new number.
func (p *Signer) Sign(r *http.Request, origin string) error {
	var body []byte
	if r.GetBody != nil {
		reader, err := r.GetBody()
		if err == nil {
			body, err = io.ReadAll(reader)
		}
		if err != nil {
			return err
		}
	}
	header, err := p.Signature(p.last.Add(1), r.Method, r.URL.RequestURI(), string(body), origin)
	r.Header.Set(SignatureHeader, header)
	return err
}

// Signature returns the header of a request with a number.
func (p *Signer) Signature(number uint64, method, target, body, origin string) (string, error) {
	sum := sha256.Sum256([]byte(body))
	text := fmt.Sprintf("umpire console 1\n%s\n%s\n%d\n%s\n%s\n%s",
		p.Instance, origin, number, method, target, hex.EncodeToString(sum[:]))
	sum = sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, p.private, sum[:])
	if err != nil {
		return "", err
	}
	raw := make([]byte, 64)
	r.FillBytes(raw[:32])
	s.FillBytes(raw[32:])
	return fmt.Sprintf("%s.%d.%s", p.ID, number, base64.RawURLEncoding.EncodeToString(raw)), nil
}

// Proves reports whether an answer proves that the console received the signature.
func (p *Signer) Proves(signature string, answer http.Header) bool {
	mac := hmac.New(sha256.New, p.Secret)
	_, _ = mac.Write([]byte(signature)) // never fails
	return answer.Get(proofHeader) == base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
