package sensitive

import "strings"

// TokenPrefixes begin tokens, separated by spaces.
const TokenPrefixes = "sk-ant- sk-proj- sk-svcacct- sk-or-v1- sk- ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- " +
	"glrt- glptt- xoxb- xoxp- xoxa- xoxr- " +
	"xoxs- xoxe- xapp- AIza ya29. 1//0 pypi- dop_v1_ doo_v1_ shpat_ shpss_ sk_live_ sk_test_ rk_live_ rk_test_ " +
	"pk_live_ whsec_ gsk_ xai- sbp_ lin_api_ PMAK- " +
	"figd_ tskey- dckr_pat_ glsa_ ATATT3 nfp_ hvs. hvb. rubygems_ SG. AKIA ASIA fo1_ ntn_ eyJ dapi pplx- sntryu_ " +
	"sntrys_ AGE-SECRET-KEY- squ_ sqp_ pcsk_ EAAG bedrock-api-key-"

// TokenWordPrefixes begin tokens as well, but also names.
const TokenWordPrefixes = "npm_ hf_ r8_ secret_ vercel_ mfa. key- pat_ tok_"

// enough is the minimum length of the rest of a token.
const enough = 16

// HasToken reports whether a text contains a token with a known prefix, or the beginning of a private
// key.
func HasToken(text string) bool {
	if strings.Contains(text, "-----BEGIN ") && strings.Contains(text, "PRIVATE KEY") {
		return true
	}
	return foundAfter(text, TokenPrefixes, true) || foundAfter(text, TokenWordPrefixes, false)
}

// foundAfter looks for tokens after prefixes. Well-known prefixes need only a long word after them.
func foundAfter(text, prefixes string, known bool) bool {
	for prefix := range strings.FieldsSeq(prefixes) {
		for at := 0; ; {
			i := strings.Index(text[at:], prefix)
			if i < 0 {
				break
			}
			begin := at + i
			at = begin + len(prefix)
			if beginsWord(text, begin) && isLong(text[at:], known) {
				return true
			}
		}
	}
	return false
}

// beginsWord reports whether a word may begin at a place.
func beginsWord(text string, at int) bool { return at == 0 || !inWord(text[at-1]) && text[at-1] != '-' }

// isLong reports whether a text begins with enough characters of a token.
func isLong(text string, known bool) bool {
	end, run, longest := 0, 0, 0
	for end < len(text) && (inWord(text[end]) || text[end] == '-') {
		if run++; text[end] == '-' || text[end] == '_' {
			run = 0
		}
		longest = max(longest, run)
		end++
	}
	return end >= enough && (IsRandom(text[:end]) || IsKeyLike(text[:end]) || known && longest >= enough)
}

func inWord(c byte) bool { return isDigit(c) || isUpper(c) || isLower(c) || c == '_' }

// IsRandom reports whether a value looks randomly generated: it has a part that is not a sequence of
// words and numbers, as in names made by people.
func IsRandom(v string) bool {
	for part := range strings.FieldsFuncSeq(v, func(r rune) bool { return r > 127 || !inWord(byte(r)) || r == '_' }) {
		if mixed(part) {
			return true
		}
	}
	return false
}

// The minimum length of a part that can be judged; a long part may have longer runs.
const (
	shortestMixed = 8
	surelyMixed   = 12
)

// mixed reports whether a word of letters and digits looks randomly generated. It counts runs: of
// digits, of capitals, of small letters with at most one capital before them. Names made by people
// have long runs, random ones short runs.
func mixed(part string) bool {
	if len(part) < shortestMixed {
		return false
	}
	runs, digits := 1, 0
	for i := range len(part) {
		if isDigit(part[i]) {
			digits++
		}
		if i > 0 && kindOf(part[i]) != kindOf(part[i-1]) && !(isUpper(part[i-1]) && isLower(part[i])) {
			runs++
		}
	}
	if digits == len(part) {
		return false
	}
	return len(part) < 3*runs || len(part) == 3*runs && len(part) >= surelyMixed
}

func kindOf(c byte) int {
	switch {
	case isDigit(c):
		return 0
	case isUpper(c):
		return 1
	}
	return 2
}

// IsKeyLike reports whether a value is long and has all sorts of characters.
func IsKeyLike(v string) bool {
	const long = 20
	digit, upper, lower := false, false, false
	for i := range len(v) {
		digit, upper, lower = digit || isDigit(v[i]), upper || isUpper(v[i]), lower || isLower(v[i])
	}
	return len(v) >= long && digit && upper && lower
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
