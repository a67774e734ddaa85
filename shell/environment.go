package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// Tokens and passwords reach programs through the environment, and an agent may repeat anywhere
// what it has seen. So printing the whole environment asks, and so does printing a variable
// with a secret's name. Checking whether it is set, or its length, does not.

const printsEnvironment = "prints the environment, with whatever secrets are in it"

// secretParts are parts, between underscores, of the names of variables that hold secrets.
const secretParts = "SECRET SECRETS TOKEN TOKENS PASSWORD PASSWORDS PASSWD PASSPHRASE PASS PW PWD KEY KEYS APIKEY " +
	"ACCESSKEY SECRETKEY CREDENTIAL CREDENTIALS CREDS AUTH AUTHORIZATION PAT JWT COOKIE COOKIES DSN BEARER PRIVATE"

// secretNames are further names of variables with secrets, such as addresses that contain a
// password.
const secretNames = "PGPASSWORD MYSQL_PWD DATABASE_URL DATABASE_URI DB_URL MONGO_URL MONGODB_URI REDIS_URL " +
	"POSTGRES_URL AMQP_URL SENTRY_DSN"

// publicNames sound like secrets but are not.
const publicNames = "PWD OLDPWD SSH_AUTH_SOCK GPG_KEY APT_KEY KEYMAP PUBLIC_KEY XAUTHORITY GPG_TTY"

// secretName reports whether a variable has the name of a secret.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	if scan.HasField(publicNames, name) {
		return false
	}
	if scan.HasField(secretNames, name) || strings.HasSuffix(name, "APIKEY") || strings.HasSuffix(name, "PASSWORD") ||
		strings.HasSuffix(name, "TOKEN") {
		return true
	}
	for part := range strings.SplitSeq(name, "_") {
		if scan.HasField(secretParts, part) {
			return part != ""
		}
	}
	return false
}

// agentVariables lead to programs that sign and log in for a person.
const agentVariables = "SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO GNOME_KEYRING_CONTROL KRB5CCNAME " +
	"AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_CONTAINER_CREDENTIALS_RELATIVE_URI VAULT_ADDR BW_SESSION GIT_ASKPASS " +
	"SSH_ASKPASS"

// SecretVariable reports whether a variable has the name of a secret, or leads to a program
// that logs in for a person.
func SecretVariable(name string) bool {
	return secretName(name) || scan.HasField(agentVariables, strings.ToUpper(name))
}

// checkPrintenv judges the variables that printenv names; without names it prints all of them.
func checkPrintenv(u *use) {
	if len(u.operands) == 0 {
		u.askSecret(printsEnvironment)
	}
	for _, operand := range u.operands {
		revealVariable(u, operand)
	}
}

// plainSettings are common targets of searches in the environment, and not part of the name of
// any secret.
const plainSettings = "PATH HOME USER SHELL TERM LANG LC_ EDITOR PAGER DISPLAY VIRTUAL_ENV CONDA_PREFIX " +
	"CONDA_DEFAULT GOPATH GOROOT GOOS GOARCH GOFLAGS GOBIN JAVA_HOME NODE_ENV NODE_OPTIONS PYTHONPATH LD_LIBRARY " +
	"XDG_ NVM_DIR TZ HOSTNAME LOGNAME OLDPWD TMPDIR RUSTFLAGS CUDA_VISIBLE PKG_CONFIG"

// liftEnvironmentQuestion lifts the question of an environment piped into a program that shows
// hardly any of it: a count, the names, a setting.
func liftEnvironmentQuestion(u *use) {
	at := u.in.environment
	if at == 0 || at > len(u.w.accesses) || len(u.unknown) > 0 || u.doubtful {
		return
	}
	a := &u.w.accesses[at-1]
	if a.Reason == printsEnvironment && u.showsLittleOfEnvironment() {
		a.Risk, a.Asks, a.Reason = umpire.Safe, "", "prints a little of the environment"
	}
}

func (p *parsed) showsLittleOfEnvironment() bool {
	switch p.program.name() {
	case "wc":
		return true
	case "cut":
		fields, sep := p.got("--fields"), p.got("--delimiter")
		return p.got("--complement") == nil && fields != nil && fields.value.text == "1" && sep != nil &&
			strings.Trim(sep.value.text, "=") == ""
	case "grep":
		return p.gave("-c", "--count", "-q", "--quiet", "--silent") ||
			len(p.operands) == 1 && len(p.given) == 0 && plainSetting(p.operands[0])
	}
	return false
}

// plainSetting reports whether a pattern finds one of plainSettings.
func plainSetting(pattern word) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(pattern.text, "^"), "=")
	for setting := range strings.FieldsSeq(plainSettings) {
		if strings.Contains(name, setting) && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" &&
			pattern.known() {
			return true
		}
	}
	return false
}

// revealVariable judges a variable whose value is printed.
func revealVariable(u *use, name word) {
	if name.open || name.glob || secretName(name.text) {
		u.askSecret(umpire.Say("prints the variable %s, which may hold a secret", name.display()))
	}
}

// checkEnvsubst judges the substituted variables: those in its operand, else those in its
// input.
func checkEnvsubst(u *use) {
	text := word{text: u.in.text, open: u.in.kind != flowText}
	if len(u.operands) > 0 {
		text = u.operands[0]
	}
	secret := text.open
	for name := range strings.FieldsFuncSeq(text.text, func(c rune) bool { return !variableRune(c) }) {
		secret = secret || secretName(name)
	}
	if secret {
		u.askSecret("prints variables that may hold secrets")
	}
}

func variableRune(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// printsSecrets judges a program that prints its operands.
func printsSecrets(u *use) {
	for _, operand := range u.operands {
		if operand.secret != "" {
			u.askSecret(umpire.Say("prints the variable %s, which may hold a secret", operand.secret))
			return
		}
	}
}

// secretOf returns the name of the secret that ${…} adds to a word, or "". Whether a variable
// is set and its length are not secrets, nor is a value that the line itself set.
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

// secretBehind returns the secret that ${!name} reveals: the variable that name refers to.
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

// withSecret records the secret in words that are known only at run time.
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

// secretSetting judges the named settings, some of which hold a token.
func secretSetting(u *use) {
	for _, operand := range u.operands {
		if operand.open || secretSettingName(operand.text) {
			u.askSecret("prints a setting that may hold a secret")
		}
	}
}

// secretSettingName reports whether a setting has the name of a secret.
func secretSettingName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(settingParts, func(part string) bool { return strings.Contains(name, part) })
}

var settingParts = []string{"_auth", "token", "password", "secret", "extraheader"}
