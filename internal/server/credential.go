package server

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// The names of the token files in the state folder.
const (
	AgentTokenFile  = "agent.token"
	PersonTokenFile = "person.token"
)

const (
	tokenBytes   = 32 // 256 bits
	maxTokenFile = 4096
	folderMode   = 0o700
	fileMode     = 0o600
)

// A role is the kind of user that a credential stands for. Each role includes the rights of the ones before it.
type role uint8

const (
	roleNobody role = iota
	roleAgent
	rolePerson
)

func (r role) String() string {
	switch r {
	case roleAgent:
		return "an agent"
	case rolePerson:
		return "a person"
	case roleNobody:
	}
	return "nobody"
}

// Credentials are the two tokens. The zero value admits no client.
type Credentials struct {
	Agent  string
	Person string
}

// LoadCredentials reads the tokens in a state folder. It replaces a token that is missing
// or that other users could have read.
func LoadCredentials(folder string) (c Credentials, err error) {
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return c, umpire.Errorf("credentials: %w", err)
	}
	if c.Agent, err = loadToken(filepath.Join(folder, AgentTokenFile)); err != nil {
		return Credentials{}, err
	}
	if c.Person, err = loadToken(filepath.Join(folder, PersonTokenFile)); err != nil {
		return Credentials{}, err
	}
	return c, nil
}

func loadToken(path string) (string, error) {
	token, err := readToken(path)
	if err != nil {
		return "", umpire.Errorf("credential: %w", err)
	}
	if token != "" {
		return token, nil
	}
	return makeToken(path)
}

// readToken returns "" if a token is missing or invalid.
func readToken(path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", umpire.Errorf("%s is not a regular file", path)
	case info.Size() > maxTokenFile, othersMayRead(info):
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if raw, err := hex.DecodeString(token); err != nil || len(raw) < tokenBytes {
		return "", nil //nolint:nilerr // invalid: the caller makes another
	}
	return token, nil
}

// othersMayRead reports whether users other than the owner may read a file.
func othersMayRead(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

// makeToken writes a token atomically.
func makeToken(path string) (string, error) {
	var raw [tokenBytes]byte
	_, _ = rand.Read(raw[:]) // never fails
	token := hex.EncodeToString(raw[:])
	if err := files.Replace(path, []byte(token+"\n"), fileMode); err != nil {
		return "", umpire.Errorf("credential: %w", err)
	}
	return token, nil
}

// A keyring returns the role of a token, in constant time.
type keyring struct{ agent, person [sha256.Size]byte }

func (c Credentials) keyring() *keyring {
	return &keyring{agent: sha256.Sum256([]byte(c.Agent)), person: sha256.Sum256([]byte(c.Person))}
}

func (k *keyring) role(header string) role {
	scheme, token, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return roleNobody
	}
	sum := sha256.Sum256([]byte(token))
	isAgent := subtle.ConstantTimeCompare(sum[:], k.agent[:])
	isPerson := subtle.ConstantTimeCompare(sum[:], k.person[:])
	switch {
	case isPerson == 1:
		return rolePerson
	case isAgent == 1:
		return roleAgent
	}
	return roleNobody
}
