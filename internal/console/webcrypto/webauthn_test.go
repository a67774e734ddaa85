package webcrypto_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"testing"

	"github.com/umpirehq/umpire/internal/console/webcrypto"
)

var site = webcrypto.Party{Origin: "https://umpire.example", ID: "umpire.example"}

// Each algorithm that browsers are asked for is verified, and no other kind of key is.
func TestAlgorithms(t *testing.T) {
	t.Parallel()
	_, ed, edErr := ed25519.GenerateKey(rand.Reader)
	p256, p256Err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	p384, p384Err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	long, longErr := rsa.GenerateKey(rand.Reader, 2048)
	for _, err := range []error{edErr, p256Err, p384Err, longErr} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		key  crypto.Signer
		hash crypto.Hash
		ok   bool
	}{
		"EdDSA": {ed, 0, true}, "ES256": {p256, crypto.SHA256, true}, "RS256": {long, crypto.SHA256, true},
		"ES384": {p384, crypto.SHA256, false},
	} {
		public, err := x509.MarshalPKIXPublicKey(tt.key.Public())
		if err != nil {
			t.Fatal(err)
		}
		key := webcrypto.Key{ID: []byte("id"), Public: public}
		a := assertion(t, tt.key, tt.hash)
		if _, err := site.Verify(&key, a, "challenge"); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
		a.Signature[len(a.Signature)-1] ^= 1
		if _, err := site.Verify(&key, a, "challenge"); err == nil {
			t.Errorf("%s: an altered signature counts", name)
		}
	}
}

func assertion(t *testing.T, key crypto.Signer, hash crypto.Hash) *webcrypto.Assertion {
	t.Helper()
	client := []byte(`{"type":"webauthn.get","challenge":"challenge","origin":"https://umpire.example"}`)
	of, clientSum := sha256.Sum256([]byte(site.ID)), sha256.Sum256(client)
	data := binary.BigEndian.AppendUint32(append(of[:], 0x05), 1)
	message := append(append([]byte{}, data...), clientSum[:]...)
	if hash != 0 {
		sum := sha256.Sum256(message)
		message = sum[:]
	}
	signature, err := key.Sign(rand.Reader, message, hash)
	if err != nil {
		t.Fatal(err)
	}
	return &webcrypto.Assertion{ID: []byte("id"), ClientData: client, AuthData: data, Signature: signature}
}

// What a stranger sends is refused, and nothing of it ends the program.
func FuzzRegister(f *testing.F) {
	f.Add([]byte("id"), make([]byte, 60), []byte(`{"type":"webauthn.create","challenge":"c","origin":"https://umpire.example"}`))
	f.Fuzz(func(t *testing.T, id, data, client []byte) {
		r := &webcrypto.Registration{ID: id, ClientData: client, AuthData: data}
		if key, err := site.Register(r, "c"); err == nil {
			t.Errorf("registered without a public key: %+v", key)
		}
	})
}
