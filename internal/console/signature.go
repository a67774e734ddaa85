package console

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/umpirehq/umpire"
)

// Headers of signed requests and their answers.
const (
	// signatureHeader is ID.NUMBER.SIGNATURE: the sign-in, a number unique among the requests of
	// its key, and the signature of [signedText] in base64url, as made by WebCrypto.
	signatureHeader = "Umpire-Signature"
	// proofHeader proves to a page that this console answers, and not a later program at the same
	// port: it is a MAC of the request's signatureHeader.
	proofHeader = "Umpire-Gate"
)

// scalarSize is the size of each of the two numbers of a signature.
const scalarSize = 32

var (
	errKey = umpire.Errorf("key: want an uncompressed point of P-256: %w", umpire.ErrInvalid)
	// errSignature does not reveal which part differs.
	errSignature = umpire.Errorf("the signature does not fit the request: load the page again")
	errNumber    = umpire.Errorf("the request was sent before: load the page again")
)

// parseKey reads the public key of a browser.
func parseKey(raw []byte) (*ecdsa.PublicKey, error) {
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		return nil, errKey
	}
	return key, nil
}

// signedText returns the text that a page signs. It covers every part of the request that affects its outcome.
func signedText(o *origin, number, method, target string, body []byte) string {
	sum := sha256.Sum256(body)
	return strings.Join([]string{
		"umpire console 1", o.instance, o.url, number, method, target, hex.EncodeToString(sum[:]),
	}, "\n")
}

// checkSignature returns the sign-in whose key signed a request, or nil if the request has no
// signature or its sign-in has ended. It buffers the body for handlers to read again.
func (c *Console) checkSignature(w http.ResponseWriter, r *http.Request, v visitor) (*signIn, error) {
	header := r.Header.Get(signatureHeader)
	id, rest, _ := strings.Cut(header, ".")
	number, signature, _ := strings.Cut(rest, ".")
	s := c.logins.find(id, v)
	if s == nil {
		return nil, nil //nolint:nilnil // a stranger is not an error
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, umpire.Errorf("the request cannot be read: %w: %w", err, umpire.ErrInvalid)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	raw, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil || len(raw) != 2*scalarSize {
		return nil, errSignature
	}
	sum := sha256.Sum256([]byte(signedText(v.origin, number, r.Method, r.RequestURI, body)))
	first, second := new(big.Int).SetBytes(raw[:scalarSize]), new(big.Int).SetBytes(raw[scalarSize:])
	if !ecdsa.Verify(s.key, sum[:], first, second) {
		return nil, errSignature
	}
	mac := hmac.New(sha256.New, s.secret)
	_, _ = mac.Write([]byte(header)) // never fails
	w.Header().Set(proofHeader, base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || !s.numbers.use(n) {
		return nil, errNumber
	}
	return s, nil
}

// maxNumbers bounds the remembered numbers of a key: more than its tabs ever have in flight.
const maxNumbers = 1024

// numbers accepts each number once. It remembers the highest ones, and rejects all lower ones.
type numbers struct {
	mu     sync.Mutex
	used   []uint64 // in order
	passed uint64   // the highest forgotten number
}

// use reports whether a number is new.
func (n *numbers) use(number uint64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	at, known := slices.BinarySearch(n.used, number)
	if known || number <= n.passed {
		return false
	}
	n.used = slices.Insert(n.used, at, number)
	if len(n.used) > maxNumbers {
		n.passed = n.used[0]
		n.used = slices.Delete(n.used, 0, 1)
	}
	return true
}
