package secret

import (
	"slices"
	"strings"
)

// A tier rates how likely a name's value is a secret: a token may be a language's word, a
// password is certainly secret.
type tier uint8

const (
	noTier tier = iota
	weakTier
	strongTier
	passwordTier
)

// words are the endings of names with secret values.
var words = [...]struct {
	tier tier
	ends string // separated by blanks; _ means _, - or nothing
}{
	{passwordTier, "password passwd passphrase passwort contraseña 密码"},
	{weakTier, "secret token credential credentials passcode sessionid _auth"},
	{strongTier, "api_key access_key secret_key private_key encryption_key signing_key master_key account_key " +
		"shared_key auth_key " +
		"pass pwd _pw client_key_data license_key service_key storage_key session_key consumer_key app_key " +
		"application_key hmac_key jwt_key admin_key " +
		"secret_access_key secret_key_base auth_token access_token refresh_token bearer_token session_token " +
		"id_token client_secret"},
}

// spellingsOf returns the ways to write a name's ending.
func spellingsOf(end string) []string {
	first, rest, ok := strings.Cut(end, "_")
	if !ok || first == "" {
		return []string{end}
	}
	var all []string
	for _, tail := range spellingsOf(rest) {
		for _, between := range []string{"_", "-", ""} {
			all = append(all, first+between+tail)
		}
	}
	return all
}

// nameRules returns the rules that find the value of each kind of name.
func nameRules() (all []ownRule) {
	for _, w := range words {
		for end := range strings.FieldsSeq(w.ends) {
			all = append(
				all, ownRule{spellingsOf(end), func(s *scan, start, end int) { s.assigned(w.tier, start, end) }},
			)
		}
	}
	return all
}

// otherTokens are words in a name that mean that its token or key is not a secret.
var otherTokens = []string{
	"next", "page", "paging", "continuation", "pagination", "sync", "cursor", "max", "min", "num", "count", "total",
	"prompt", "input",
	"output", "stop", "eos", "bos", "pad", "mask", "sep", "special", "public", "cancel", "design", "bypass", "per",
}

// questions are the beginnings of options without a secret.
var questions = []string{
	"no-", "ask-", "prompt", "use-", "with-", "enable", "disable", "show", "reset", "change", "require", "print",
	"get-", "skip", "allow", "force",
}

// A name is a name in the text that announces a secret.
type name struct {
	start, end int
	tier       tier
	option     bool // starts with -
	upper      bool // written like an environment variable
	header     bool // X-Something-Token
	variable   bool // a use of a variable: $NAME
}

// nameAt reads the name that ends with a sensitive word.
func (s *source) nameAt(t tier, start, end int) (name, bool) {
	n := name{start: start, end: end, tier: t}
	if end < len(s.text) &&
		(isWord(s.text[end]) || s.text[end] == '-' || s.text[end] == '.' && end+1 < len(s.text) && isWord(
			s.text[end+1],
		)) {
		return n, false
	}
	for n.start > 0 && start-n.start < nameReach && isName(s.text[n.start-1]) {
		n.start--
	}
	full := s.text[n.start:end]
	n.option = full[0] == '-'
	n.header = strings.HasPrefix(strings.ToLower(full), "x-") || strings.EqualFold(full, "private-token") ||
		strings.EqualFold(full, "job-token")
	n.upper = full == strings.ToUpper(full)
	n.variable = n.start > 0 && s.text[n.start-1] == '$' || n.start > 1 && s.text[n.start-2:n.start] == "${"
	lower := strings.ToLower(full)
	if n.tier == weakTier && n.upper && !strings.HasSuffix(lower, "_auth") {
		n.tier = strongTier
	}
	if strings.EqualFold(full, "-p"+s.text[start:end]) {
		return n, false // 7z -ppassword
	}
	return n, !harmlessName(strings.ToLower(s.text[start:end]), lower)
}

// harmlessName reports whether a name that ends with a sensitive word means something
// else: a folder, a page, a count.
func harmlessName(word, full string) bool {
	switch {
	case full == "oldpwd" || full == "-pwd":
		return true
	case word == "pass" && full != "pass" && full[len(full)-5] != '_' && full[len(full)-5] != '-':
		return true // bypass, compass
	}
	before := strings.TrimSuffix(full, word)
	for _, part := range strings.FieldsFunc(before, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if slices.Contains(otherTokens, part) {
			return strings.HasSuffix(word, "token") || strings.HasSuffix(word, "key") || word == "pass"
		}
	}
	return false
}
