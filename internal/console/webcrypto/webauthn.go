package webcrypto

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"

	"github.com/umpirehq/umpire"
)

// A Party is the site of the keys.
type Party struct {
	Origin string // of its pages, such as https://umpire.example:8443
	ID     string // its host
}

// A Key is a registered passkey.
type Key struct {
	ID     []byte `json:"id"`
	Public []byte `json:"public"` // SPKI, in DER
	Count  uint32 `json:"count"`  // of the latest assertion; 0 for keys without a counter
}

// A Registration is returned by a browser for a new passkey.
type Registration struct {
	ID         []byte `json:"id"`
	Public     []byte `json:"public"`
	ClientData []byte `json:"client_data"`
	AuthData   []byte `json:"auth_data"`
}

// An Assertion is returned by a browser for a challenge.
type Assertion struct {
	ID         []byte `json:"id"`
	ClientData []byte `json:"client_data"`
	AuthData   []byte `json:"auth_data"`
	Signature  []byte `json:"signature"`
}

// Algorithms are the COSE numbers of the accepted key algorithms: ES256, EdDSA and RS256.
var Algorithms = []int{-7, -8, -257}

// The flags of authenticator data.
const (
	userPresent  = 0x01
	userVerified = 0x04
	hasKey       = 0x40
)

// The layout of authenticator data: a hash, the flags and the counter, and then a new key's model,
// the length of its id and the id.
const (
	flagsAt  = sha256.Size
	countAt  = flagsAt + 1
	modelAt  = countAt + 4
	lengthAt = modelAt + 16
	idAt     = lengthAt + 2
)

const minRSA, maxRSA = 2048, 4096 // bits

func refusal(why error) error { return umpire.Errorf("the passkey was refused: %w", why) }

// Register returns the new key of a registration for a challenge.
func (p Party) Register(r *Registration, challenge string) (Key, error) {
	if err := p.checkClient(r.ClientData, "webauthn.create", challenge); err != nil {
		return Key{}, err
	}
	count, err := p.checkDevice(r.AuthData)
	if err != nil {
		return Key{}, err
	}
	if len(r.AuthData) < idAt || r.AuthData[flagsAt]&hasKey == 0 || len(r.ID) == 0 {
		return Key{}, refusal(umpire.Errorf("its data is too short"))
	}
	length := int(binary.BigEndian.Uint16(r.AuthData[lengthAt:]))
	if length != len(r.ID) || !bytes.HasPrefix(r.AuthData[idAt:], r.ID) {
		return Key{}, refusal(umpire.Errorf("its id does not match the device"))
	}
	if _, err := parsePublic(r.Public); err != nil {
		return Key{}, err
	}
	return Key{ID: r.ID, Public: r.Public, Count: count}, nil
}

// Verify checks an assertion by a key for a challenge, and returns the key's new counter.
func (p Party) Verify(k *Key, a *Assertion, challenge string) (count uint32, err error) {
	if !bytes.Equal(k.ID, a.ID) {
		return 0, refusal(umpire.Errorf("the key does not match"))
	}
	if err := p.checkClient(a.ClientData, "webauthn.get", challenge); err != nil {
		return 0, err
	}
	if count, err = p.checkDevice(a.AuthData); err != nil {
		return 0, err
	}
	public, err := parsePublic(k.Public)
	if err != nil {
		return 0, err
	}
	client := sha256.Sum256(a.ClientData)
	if !isSigned(public, append(bytes.Clone(a.AuthData), client[:]...), a.Signature) {
		return 0, refusal(umpire.Errorf("its signature is wrong"))
	}
	if (k.Count > 0 || count > 0) && count <= k.Count {
		return 0, refusal(umpire.Errorf("its counter went back: there may be a copy of the key"))
	}
	return count, nil
}

// checkClient checks the browser's data about the page.
func (p Party) checkClient(data []byte, kind, challenge string) error {
	var said struct {
		Type        string `json:"type"`
		Challenge   string `json:"challenge"`
		Origin      string `json:"origin"`
		CrossOrigin bool   `json:"crossOrigin"`
	}
	switch err := json.Unmarshal(data, &said); {
	case err != nil:
		return refusal(umpire.Errorf("its data cannot be read"))
	case said.Type != kind:
		return refusal(umpire.Errorf("it was made for another operation"))
	case challenge == "" || subtle.ConstantTimeCompare([]byte(said.Challenge), []byte(challenge)) != 1:
		return refusal(umpire.Errorf("its challenge does not match"))
	case said.Origin != p.Origin || said.CrossOrigin:
		return refusal(umpire.Errorf("it was made on a page of another site"))
	}
	return nil
}

// checkDevice checks the device's data, and returns its counter.
func (p Party) checkDevice(data []byte) (count uint32, err error) {
	const flags = userPresent | userVerified
	site := sha256.Sum256([]byte(p.ID))
	switch {
	case len(data) < modelAt:
		return 0, refusal(umpire.Errorf("its data is too short"))
	case !bytes.Equal(data[:flagsAt], site[:]):
		return 0, refusal(umpire.Errorf("it is for another site"))
	case data[flagsAt]&flags != flags:
		return 0, refusal(umpire.Errorf("the device did not verify its user"))
	}
	return binary.BigEndian.Uint32(data[countAt:]), nil
}

// parsePublic parses a public key of one of the algorithms.
func parsePublic(der []byte) (crypto.PublicKey, error) {
	public, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, refusal(umpire.Errorf("its public key cannot be read"))
	}
	switch k := public.(type) {
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return k, nil
		}
	case ed25519.PublicKey:
		return k, nil
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits >= minRSA && bits <= maxRSA {
			return k, nil
		}
	}
	return nil, refusal(umpire.Errorf("its public key is of an unknown kind"))
}

// isSigned reports whether a signature is valid for a message.
func isSigned(public crypto.PublicKey, message, signature []byte) bool {
	sum := sha256.Sum256(message)
	switch k := public.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(k, sum[:], signature)
	case ed25519.PublicKey:
		return ed25519.Verify(k, message, signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], signature) == nil
	}
	return false
}
