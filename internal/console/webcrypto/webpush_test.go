package webcrypto_test

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/console/webcrypto"
)

func decode(t testing.TB, text string) []byte {
	t.Helper()
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The example of RFC 8291, appendix A.
func TestExampleOfTheStandard(t *testing.T) {
	t.Parallel()
	sender, err := ecdh.P256().NewPrivateKey(decode(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	s := webcrypto.Subscription{
		Endpoint: "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV",
		Key:      decode(t, "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
		Secret:   decode(t, "BTBZMqHH6r4Tts7J_aSIgg"),
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	body, err := s.Encrypt([]byte("When I grow up, I want to be a watermelon"), sender, decode(t, "DGv6ra1nlYgDCS1FRnbzlw"))
	const want = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tlz" +
		"AC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	if got := base64.RawURLEncoding.EncodeToString(body); err != nil || got != want {
		t.Errorf("%v, and got\n%s, want\n%s", err, got, want)
	}
	if body, err := s.Encrypt(make([]byte, webcrypto.MaxText), sender, make([]byte, webcrypto.SaltSize)); err != nil || len(body) != 4096 {
		t.Errorf("the longest message: %v, %d bytes", err, len(body))
	}
	if _, err := s.Encrypt(make([]byte, webcrypto.MaxText+1), sender, make([]byte, webcrypto.SaltSize)); err == nil {
		t.Error("a longer one is sent")
	}
}

// What a browser gives is refused unless a message can be sent there.
func TestCheck(t *testing.T) {
	t.Parallel()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := webcrypto.Subscription{Endpoint: "https://push.example/x?y=z", Key: key.PublicKey().Bytes(), Secret: make([]byte, 16)}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(s *webcrypto.Subscription){
		"in the clear":     func(s *webcrypto.Subscription) { s.Endpoint = "http://push.example/x" },
		"a file":           func(s *webcrypto.Subscription) { s.Endpoint = "file:///etc/passwd" },
		"none":             func(s *webcrypto.Subscription) { s.Endpoint = "" },
		"no host":          func(s *webcrypto.Subscription) { s.Endpoint = "https:///x" },
		"only a port":      func(s *webcrypto.Subscription) { s.Endpoint = "https://:443/x" },
		"a user":           func(s *webcrypto.Subscription) { s.Endpoint = "https://u:p@push.example/x" },
		"a fragment":       func(s *webcrypto.Subscription) { s.Endpoint = "https://push.example/x#y" },
		"a line break":     func(s *webcrypto.Subscription) { s.Endpoint = "https://push.example/x\r\nHost: y" },
		"long":             func(s *webcrypto.Subscription) { s.Endpoint += strings.Repeat("x", 2048) },
		"another script":   func(s *webcrypto.Subscription) { s.Endpoint = "https://püsh.example/x" },
		"no secret":        func(s *webcrypto.Subscription) { s.Secret = nil },
		"a long secret":    func(s *webcrypto.Subscription) { s.Secret = make([]byte, 17) },
		"no key":           func(s *webcrypto.Subscription) { s.Key = nil },
		"beside the curve": func(s *webcrypto.Subscription) { s.Key = append(bytes.Clone(s.Key[:64]), s.Key[64]^1) },
		"infinity":         func(s *webcrypto.Subscription) { s.Key = []byte{0} },
	} {
		s := good
		change(&s)
		if s.Check() == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
