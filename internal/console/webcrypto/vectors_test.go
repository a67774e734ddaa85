package webcrypto

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// vectorsJSON holds the test vectors of https://www.w3.org/TR/webauthn-3/#sctn-test-vectors (commit 146d0db0 of
// w3c/webauthn): the challenge, and the values that a browser returned.
//
//go:embed testdata/vectors.json
var vectorsJSON []byte

type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

type vector struct {
	Name   string `json:"name"`
	Create struct {
		Challenge   hexBytes `json:"challenge"`
		ClientData  hexBytes `json:"client_data"`
		Attestation hexBytes `json:"attestation"`
	} `json:"create"`
	Get struct {
		Challenge  hexBytes `json:"challenge"`
		ClientData hexBytes `json:"client_data"`
		AuthData   hexBytes `json:"auth_data"`
		Signature  hexBytes `json:"signature"`
	} `json:"get"`
}

func readVectors(t *testing.T) (all []vector) {
	t.Helper()
	if err := json.Unmarshal(vectorsJSON, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 15 {
		t.Fatalf("%d vectors", len(all))
	}
	return all
}

func challengeText(c hexBytes) string { return base64.RawURLEncoding.EncodeToString(c) }

// registration returns what a browser hands out beside the attestation object: the id, the device's
// data, and the public key as SPKI, or nil if it is of a kind that this package does not know.
func (v *vector) registration(t *testing.T) *Registration {
	t.Helper()
	_, rest, found := bytes.Cut(v.Create.Attestation, []byte("hauthData"))
	if !found {
		t.Fatal("no authData")
	}
	data, rest := readBytes(t, rest)
	if len(rest) > 0 {
		t.Fatal("more after authData")
	}
	length := int(binary.BigEndian.Uint16(data[lengthAt:]))
	return &Registration{
		ID: bytes.Clone(data[idAt : idAt+length]), Public: publicOf(t, data[idAt+length:]), ClientData: v.Create.ClientData,
		AuthData: data,
	}
}

// readBytes reads a CBOR byte string.
func readBytes(t *testing.T, data []byte) (text, rest []byte) {
	t.Helper()
	var length, at int
	switch data[0] {
	case 0x58:
		length, at = int(data[1]), 2
	case 0x59:
		length, at = int(binary.BigEndian.Uint16(data[1:])), 3
	default:
		if length, at = int(data[0])-0x40, 1; length < 0 || length > 23 {
			t.Fatalf("not a byte string: %x", data[:1])
		}
	}
	return data[at : at+length], data[at+length:]
}

// publicOf converts a COSE key to SPKI.
func publicOf(t *testing.T, key []byte) []byte {
	t.Helper()
	var public any
	switch {
	case bytes.HasPrefix(key, []byte("\xa5\x01\x02\x03\x26\x20\x01\x21")): // EC2, ES256, P-256, x
		x, rest := readBytes(t, key[8:])
		y, _ := readBytes(t, rest[1:])
		point, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
		if err != nil {
			t.Fatal(err)
		}
		public = point
	case bytes.HasPrefix(key, []byte("\xa4\x01\x01\x03\x27\x20\x06\x21")): // OKP, EdDSA, Ed25519, x
		x, _ := readBytes(t, key[8:])
		public = ed25519.PublicKey(x)
	case bytes.HasPrefix(key, []byte("\xa4\x01\x03\x03\x39\x01\x00\x20")): // RSA, RS256, n
		n, rest := readBytes(t, key[8:])
		e, _ := readBytes(t, rest[1:])
		public = &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
	default:
		return nil
	}
	spki, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return spki
}

// TestVectorsOfTheStandard checks the vectors of the standard. Those that it accepts and this package does not
// lack user verification, come from a frame of another origin, or have a key of another algorithm.
func TestVectorsOfTheStandard(t *testing.T) {
	t.Parallel()
	party, registered, signedIn, signatures := Party{Origin: "https://example.org", ID: "example.org"}, 0, 0, 0
	for _, v := range readVectors(t) {
		r := v.registration(t)
		plain := r.Public != nil && !strings.Contains(string(v.Create.ClientData), `"crossOrigin":true`)
		key, err := party.Register(r, challengeText(v.Create.Challenge))
		if want := plain && r.AuthData[flagsAt]&userVerified != 0; (err == nil) != want {
			t.Errorf("%s: register: %v, want success: %t", v.Name, err, want)
		}
		if err == nil {
			registered++
		}
		if r.Public == nil {
			continue
		}
		key = Key{ID: r.ID, Public: r.Public}
		a := &Assertion{ID: r.ID, ClientData: v.Get.ClientData, AuthData: v.Get.AuthData, Signature: v.Get.Signature}
		_, err = party.Verify(&key, a, challengeText(v.Get.Challenge))
		plain = !strings.Contains(string(v.Get.ClientData), `"crossOrigin":true`)
		if want := plain && a.AuthData[flagsAt]&userVerified != 0; (err == nil) != want {
			t.Errorf("%s: verify: %v, want success: %t", v.Name, err, want)
		}
		if err == nil {
			signedIn++
		}
		public, err := parsePublic(r.Public)
		client := sha256.Sum256(a.ClientData)
		if err != nil || !isSigned(public, append(bytes.Clone(a.AuthData), client[:]...), a.Signature) {
			t.Errorf("%s: the signature does not count: %v", v.Name, err)
		}
		signatures++
	}
	if registered < 3 || signedIn < 3 || signatures != 12 {
		t.Errorf("%d were registered, %d signed in, %d signatures were checked", registered, signedIn, signatures)
	}
}

// TestEveryByteCounts flips a bit of each byte of each value of an assertion, and those of a registration that the device
// does not leave to the browser: nothing else is accepted.
func TestEveryByteCounts(t *testing.T) {
	t.Parallel()
	party, checked := Party{Origin: "https://example.org", ID: "example.org"}, 0
	for _, v := range readVectors(t) {
		r := v.registration(t)
		key := Key{ID: r.ID, Public: r.Public}
		a := Assertion{ID: bytes.Clone(r.ID), ClientData: v.Get.ClientData, AuthData: v.Get.AuthData, Signature: v.Get.Signature}
		challenge := challengeText(v.Get.Challenge)
		if _, err := party.Verify(&key, &a, challenge); err == nil {
			checked++
			for name, field := range map[string]*[]byte{
				"id": &a.ID, "client data": &a.ClientData, "device data": &a.AuthData, "signature": &a.Signature, "key": &key.Public,
			} {
				flipEach(t, v.Name+": "+name, field, func() bool {
					_, err := party.Verify(&key, &a, challenge)
					return err != nil
				})
			}
		}
		challenge = challengeText(v.Create.Challenge)
		if _, err := party.Register(r, challenge); err != nil {
			continue
		}
		checked++
		refused := func() bool {
			_, err := party.Register(r, challenge)
			return err != nil
		}
		flipEach(t, v.Name+": new id", &r.ID, refused)
		site, id := r.AuthData[:flagsAt], r.AuthData[lengthAt:idAt+len(r.ID)]
		flipEach(t, v.Name+": new site", &site, refused)
		flipEach(t, v.Name+": new id on the device", &id, refused)
		for _, flag := range []byte{userPresent, userVerified, hasKey} {
			if r.AuthData[flagsAt] ^= flag; !refused() {
				t.Errorf("%s: registers without flag %x", v.Name, flag)
			}
			r.AuthData[flagsAt] ^= flag
		}
	}
	if checked < 6 {
		t.Errorf("only %d vectors were changed", checked)
	}
}

// flipEach flips a bit of each byte of a value, and expects each change to be refused.
func flipEach(t *testing.T, name string, at *[]byte, refused func() bool) {
	t.Helper()
	was := bytes.Clone(*at)
	for i := range *at {
		if (*at)[i] ^= 1 << (i % 8); !refused() {
			t.Errorf("%s: byte %d does not count", name, i)
		}
		(*at)[i] ^= 1 << (i % 8)
	}
	if !bytes.Equal(was, *at) {
		t.Fatalf("%s: not restored", name)
	}
}

// FuzzVerify checks that foreign data neither signs in nor ends the program.
func FuzzVerify(f *testing.F) {
	f.Add([]byte("id"), make([]byte, 37), []byte(`{"type":"webauthn.get","challenge":"c","origin":"https://example.org"}`), []byte("x"), []byte{})
	f.Fuzz(func(t *testing.T, id, data, client, signature, public []byte) {
		a := &Assertion{ID: id, AuthData: data, ClientData: client, Signature: signature}
		party := Party{Origin: "https://example.org", ID: "example.org"}
		if _, err := party.Verify(&Key{ID: id, Public: public}, a, "c"); err == nil && len(public) == 0 {
			t.Error("signed in without a key")
		}
	})
}
