package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
)

// Tokens and passwords reach programs through the environment, and what an agent
// has seen it may repeat anywhere. So printing the whole environment asks, and
// printing a variable whose name says that it is a secret; asking whether it is
// set, or how long it is, does not.

const printsEnvironment = "prints the environment, with whatever secrets are in it"

// secretParts are what the names of variables that hold secrets are made of, between underlines.
const secretParts = "SECRET SECRETS TOKEN TOKENS PASSWORD PASSWORDS PASSWD PASSPHRASE PASS PW PWD KEY KEYS APIKEY ACCESSKEY SECRETKEY CREDENTIAL CREDENTIALS CREDS " +
	"AUTH AUTHORIZATION PAT JWT COOKIE COOKIES DSN BEARER PRIVATE"

// secretNames are names that hold secrets without saying so: addresses with a
// password in them.
const secretNames = "PGPASSWORD MYSQL_PWD DATABASE_URL DATABASE_URI DB_URL MONGO_URL MONGODB_URI REDIS_URL POSTGRES_URL AMQP_URL SENTRY_DSN"

// publicNames sound like secrets and are none.
const publicNames = "PWD OLDPWD SSH_AUTH_SOCK GPG_KEY APT_KEY KEYMAP PUBLIC_KEY XAUTHORITY GPG_TTY"

// secretName reports whether a variable's name says that it holds a secret.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	if hasField(publicNames, name) {
		return false
	}
	if hasField(secretNames, name) || strings.HasSuffix(name, "APIKEY") || strings.HasSuffix(name, "PASSWORD") || strings.HasSuffix(name, "TOKEN") {
		return true
	}
	for part := range strings.SplitSeq(name, "_") {
		if hasField(secretParts, part) {
			return part != ""
		}
	}
	return false
}

// checkPrintenv judges the variables that printenv names; without any it prints
// them all.
func checkPrintenv(u *use) {
	if len(u.operands) == 0 {
		u.raise(umpire.Medium, printsEnvironment)
	}
	for _, operand := range u.operands {
		u.reveals(operand)
	}
}

// reveals judges a variable whose value is printed.
func (u *use) reveals(name word) {
	if name.open || name.glob || secretName(name.text) {
		u.raise(umpire.Medium, "prints the variable "+name.display()+", which may hold a secret")
	}
}

// printsSecrets judges a program that prints its operands.
func printsSecrets(u *use) {
	for _, operand := range u.operands {
		if operand.secret != "" {
			u.raise(umpire.Medium, "prints the variable "+operand.secret+", which may hold a secret")
			return
		}
	}
}

// secretOf is the name of the secret that ${…} puts in a word, or "". Whether a
// variable is set and how long it is are none, nor is what the line set itself.
func (s *state) secretOf(p *syntax.ParamExp) string {
	if p.Param == nil || p.Length || p.Width || p.IsSet {
		return ""
	}
	name := p.Param.Value
	if _, ours := s.vars[name]; ours && !p.Excl {
		return ""
	}
	switch {
	case p.Excl && (p.Names != 0 || p.Index != nil):
		return "" // names of variables, or the indexes of an array
	case p.Excl:
		return s.secretBehind(name)
	case p.Exp != nil && (p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull):
		return ""
	case secretName(name):
		return name
	}
	return ""
}

// secretBehind is what ${!name} reveals: the variable that another one names.
func (s *state) secretBehind(name string) string {
	v, ok := s.vars[name]
	if !ok || len(v.words) != 1 || !v.words[0].known() {
		return "!" + name
	}
	if secretName(v.words[0].text) {
		return v.words[0].text
	}
	return ""
}

// withSecret notes in words that only running would tell which secret they hold.
func withSecret(words []word, secret string) []word {
	if secret == "" {
		return words
	}
	out := slices.Clone(words)
	for i := range out {
		out[i].secret = secret
	}
	return out
}
