package fake

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
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A PushService is a fake of a push service with one browser behind it, written from RFC 8030, 8188, 8291 and
// 8292, and not compared with a real one. It rejects a message that is not signed by the key the browser
// subscribed with, or that the browser could not read. It is safe for concurrent use; close it when done.
type PushService struct {
	*httptest.Server

	// Endpoint, Key and Secret are the browser's subscription.
	Endpoint    string
	Key, Secret []byte
	private     *ecdh.PrivateKey

	mu     sync.Mutex
	sender string // its public key
	pushes []Push
	refuse []string // reasons for refused pushes
	fail   []int    // the answers to the next pushes
	news   chan struct{}
}

// A Push is a message as received by the browser.
type Push struct {
	Text                []byte
	TTL, Urgency, Topic string
	Subject             string // the sender
}

// NewPush starts a service.
func NewPush() *PushService {
	s := &PushService{news: make(chan struct{}), Secret: make([]byte, 16)}
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	_, _ = rand.Read(s.Secret)
	s.private, s.Key = private, private.PublicKey().Bytes()
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	s.Endpoint = s.URL + "/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV"
	return s
}

// Subscribe gives the sender's key to the service, as a browser does.
func (s *PushService) Subscribe(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sender = key
}

// Fail answers the next pushes with errors.
func (s *PushService) Fail(status ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = append(s.fail, status...)
}

// Wait waits for count messages and returns them, or false if they do not come.
func (s *PushService) Wait(count int) ([]Push, bool) {
	late := time.After(patience)
	for {
		s.mu.Lock()
		got, news := slices.Clone(s.pushes), s.news
		s.mu.Unlock()
		if len(got) >= count {
			return got, true
		}
		select {
		case <-news:
		case <-late:
			return got, false
		}
	}
}

// Refused returns the reasons for refused pushes.
func (s *PushService) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refuse)
}

func (s *PushService) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 8<<10))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fail) > 0 {
		w.Header().Set("Location", s.URL+"/elsewhere")
		w.WriteHeader(s.fail[0])
		s.fail = s.fail[1:]
		return
	}
	p := Push{TTL: r.Header.Get("TTL"), Urgency: r.Header.Get("Urgency"), Topic: r.Header.Get("Topic")}
	if err == nil {
		err = s.checkRequest(r, body)
	}
	if err == nil {
		p.Subject, err = s.checkSender(r.Header.Get("Authorization"))
	}
	if err == nil {
		p.Text, err = s.decrypt(body)
	}
	if err != nil {
		s.refuse = append(s.refuse, err.Error())
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.pushes = append(s.pushes, p)
	close(s.news)
	s.news = make(chan struct{})
	w.Header().Set("Location", s.URL+"/message/1")
	w.WriteHeader(http.StatusCreated)
}

// checkRequest checks a request against RFC 8030 and 8291.
func (s *PushService) checkRequest(r *http.Request, body []byte) error {
	ttl, err := strconv.Atoi(r.Header.Get("TTL"))
	topic := r.Header.Get("Topic")
	other := func(c rune) bool {
		return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", c)
	}
	switch {
	case r.Method != http.MethodPost || s.URL+r.URL.Path != s.Endpoint:
		return fmt.Errorf("%s %s is not the browser's", r.Method, r.URL)
	case r.Header.Get("Content-Encoding") != "aes128gcm":
		return errors.New("the encoding is not aes128gcm")
	case err != nil || ttl < 0:
		return errors.New("there is no TTL")
	case !slices.Contains([]string{"", "very-low", "low", "normal", "high"}, r.Header.Get("Urgency")):
		return errors.New("unknown urgency")
	case len(topic) > 32 || strings.ContainsFunc(topic, other):
		return errors.New("the topic has more than 32 characters, or others than those of base64url")
	case len(body) > 4096:
		return errors.New("the message has more than 4096 bytes")
	}
	return nil
}

// checkSender checks a proof by RFC 8292, and returns its subject.
func (s *PushService) checkSender(header string) (string, error) {
	fields, is := strings.CutPrefix(header, "vapid t=")
	token, key, cut := strings.Cut(fields, ", k=")
	parts := strings.Split(token, ".")
	if !is || !cut || len(parts) != 3 || key != s.sender {
		return "", fmt.Errorf("the proof %q is not that of the sender %q", header, s.sender)
	}
	var head struct {
		Typ string `json:"typ"`
		Alg string `json:"alg"`
	}
	var claims struct {
		Aud string `json:"aud"`
		Sub string `json:"sub"`
		Exp int64  `json:"exp"`
	}
	public, keyErr := base64.RawURLEncoding.DecodeString(key)
	first, headErr := base64.RawURLEncoding.DecodeString(parts[0])
	second, claimErr := base64.RawURLEncoding.DecodeString(parts[1])
	signature, signErr := base64.RawURLEncoding.DecodeString(parts[2])
	if err := errors.Join(keyErr, headErr, claimErr, signErr); err != nil {
		return "", err
	}
	if err := errors.Join(json.Unmarshal(first, &head), json.Unmarshal(second, &claims)); err != nil {
		return "", err
	}
	ecdsaKey, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), public)
	if err != nil || len(signature) != 64 {
		return "", errors.New("the key or the signature of the proof is too short")
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	left := time.Until(time.Unix(claims.Exp, 0))
	switch {
	case !ecdsa.Verify(ecdsaKey, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])):
		return "", errors.New("the signature of the proof is wrong")
	case head.Typ != "JWT" || head.Alg != "ES256" || claims.Aud != s.URL:
		return "", fmt.Errorf("the proof is for something else: %s %s", first, second)
	case left <= 0 || left > 24*time.Hour:
		return "", fmt.Errorf("the proof ends in %v", left)
	case !strings.HasPrefix(claims.Sub, "https:") && !strings.HasPrefix(claims.Sub, "mailto:"):
		return "", fmt.Errorf("nobody can be found at %q", claims.Sub)
	}
	return claims.Sub, nil
}

// decrypt reads a message like a browser.
func (s *PushService) decrypt(body []byte) ([]byte, error) {
	const headerSize = 16 + 4 + 1 + 65
	if len(body) < headerSize+17 || body[20] != 65 || binary.BigEndian.Uint32(body[16:]) < 18 {
		return nil, errors.New("the header of the message is wrong")
	}
	salt, public := body[:16], body[21:headerSize]
	sender, err := ecdh.P256().NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	shared, err := s.private.ECDH(sender)
	if err != nil {
		return nil, err
	}
	info := slices.Concat([]byte("WebPush: info\x00"), s.Key, public)
	input, inputErr := hkdf.Key(sha256.New, shared, s.Secret, string(info), 32)
	key, keyErr := hkdf.Key(sha256.New, input, salt, "Content-Encoding: aes128gcm\x00", 16)
	nonce, nonceErr := hkdf.Key(sha256.New, input, salt, "Content-Encoding: nonce\x00", 12)
	if err := errors.Join(inputErr, keyErr, nonceErr); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	text, err := seal.Open(nil, nonce, body[headerSize:], nil)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimRight(text, "\x00")
	if !bytes.HasSuffix(text, []byte{2}) {
		return nil, errors.New("the message does not end with its last record")
	}
	return text[:len(text)-1], nil
}
