package secret

import (
	"path"
	"strings"
)

// An option takes a secret although its name does not show it.
type option struct {
	programs string // separated by blanks
	after    string // a preceding word, or ""
	name     string
	glued    bool // the value may follow without a blank
	apart    bool // the value may be the next word
	behind   byte // the secret starts after this byte: user:password
	last     bool // the value is the command's last word; name is one letter of a bundle
	first    bool // the value is the command's first word
}

// options are listed by program, because -p has different meanings.
var options = [...]option{
	{programs: "mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlbinlog mariadb mariadb-dump " +
		"mariadb-admin", name: "-p", glued: true},
	{programs: "sshpass", name: "-p", glued: true, apart: true},
	{programs: "curl", name: "-u", glued: true, apart: true, behind: ':'},
	{programs: "curl", name: "--user", apart: true, behind: ':'},
	{programs: "curl", name: "-U", glued: true, apart: true, behind: ':'},
	{programs: "curl", name: "--proxy-user", apart: true, behind: ':'},
	{programs: "curl", name: "-b", glued: true, apart: true, behind: '='},
	{programs: "curl", name: "--cookie", apart: true, behind: '='},
	{programs: "twine", after: "upload", name: "-p", apart: true},
	{programs: "http https xh xhs", name: "-a", apart: true, behind: ':'},
	{programs: "http https xh xhs", name: "--auth", apart: true, behind: ':'},
	{programs: "redis-cli", name: "-a", apart: true},
	{programs: "redis-cli", name: "--pass", apart: true},
	{programs: "docker podman nerdctl buildah skopeo oras helm crane", after: "login", name: "-p", apart: true},
	{programs: "skopeo podman buildah", name: "--creds", apart: true, behind: ':'},
	{programs: "skopeo", name: "--src-creds", apart: true, behind: ':'},
	{programs: "skopeo", name: "--dest-creds", apart: true, behind: ':'},
	{programs: "zip unzip", name: "-P", glued: true, apart: true},
	{programs: "7z 7za 7zz rar unrar", name: "-p", glued: true},
	{programs: "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd", name: "-w", apart: true},
	{programs: "sqlcmd bcp", name: "-P", glued: true, apart: true},
	{programs: "mongo mongosh mongodump mongorestore mongoexport mongoimport cqlsh", name: "-p", apart: true},
	{programs: "az", after: "login", name: "-p", apart: true},
	{programs: "smbclient rpcclient", name: "-U", apart: true, behind: '%'},
	{programs: "gh", after: "secret", name: "--body", apart: true},
	{programs: "gh", after: "secret", name: "-b", apart: true},
	{programs: "ssh-keygen", name: "-N", apart: true},
	{programs: "ssh-keygen", name: "-P", apart: true},
	{programs: "openssl", name: "-k", apart: true},
	{programs: "lftp", name: "-u", apart: true, behind: ','},
	{programs: "htpasswd", name: "b", last: true},
	{programs: "sqlplus", first: true, behind: '/'},
	{programs: "ConvertTo-SecureString", first: true},
}

// programLiterals returns the names of the programs with options.
func programLiterals() []string {
	seen := map[string]bool{}
	var all []string
	for _, o := range options {
		for p := range strings.FieldsSeq(o.programs) {
			if !seen[p] {
				seen[p] = true
				all = append(all, strings.ToLower(p))
			}
		}
	}
	return all
}

// The limits for reading a command: its options, and the words before its program.
const (
	maxCommand = 4096
	maxBefore  = 256
)

// program masks the values of a program's options, if the program is called and not only
// mentioned.
func (s *scan) program(start, end int) {
	called := s.text[start:end]
	if end < len(s.text) && strings.IndexByte(" \t\"'", s.text[end]) < 0 || s.read[called] > start || !s.calls(start) {
		return
	}
	if end < len(s.text) && !isBlank(s.text[end]) {
		end++ // the quote around the program's name
	}
	words, stop := s.command(end, s.enclosing(start))
	s.readTo(called, stop)
	for _, o := range options {
		if hasWord(o.programs, called) {
			s.option(o, words)
		}
	}
}

func hasWord(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

// enclosing returns the quote before a command, or 0.
func (s *source) enclosing(at int) byte {
	left := s.text[max(0, at-maxBefore):at]
	if n := strings.LastIndexAny(left, "\n;|&(`\"'"); n >= 0 && (left[n] == '"' || left[n] == '\'') {
		return left[n]
	}
	return 0
}

// command reads words up to the end of a simple command, or to the quote that ends it.
func (s *scan) command(at int, quote byte) (words []value, stop int) {
	limit := min(len(s.text), at+maxCommand)
	for {
		at = s.blanks(at)
		if at+1 < limit && s.text[at] == '\\' && s.text[at+1] == '\n' {
			at += 2
			continue
		}
		if at >= limit || strings.IndexByte("\r\n;|&<>()`", s.text[at]) >= 0 || s.text[at] == quote {
			return words, at
		}
		v := s.value(at)
		if !v.quoted && v.next < limit && strings.IndexByte("\"'", s.text[v.next]) >= 0 && s.text[v.next] != quote &&
			v.end == v.next && v.end > v.start {
			// -p'secret': the quoted part belongs to the word.
			rest := s.value(v.next)
			words = append(words, value{start: v.start, end: rest.end, next: rest.next})
			at = max(rest.next, at+1)
			continue
		}
		words = append(words, v)
		at = max(v.next, at+1)
	}
}

// option masks the values of one option among the words of a command.
func (s *scan) option(o option, words []value) {
	ready := o.after == ""
	for i, w := range words {
		text := s.cut(w)
		ready = ready || text == o.after
		if o.first && i == 0 {
			s.optionValue(o, w.start, w.end)
		}
		if o.first || !ready || w.quoted && !strings.HasPrefix(text, "-") {
			continue
		}
		if o.last && len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.Contains(text, o.name) {
			last := words[len(words)-1]
			s.optionValue(o, last.start, last.end)
		}
		rest, is := strings.CutPrefix(text, o.name)
		switch {
		case !is || o.last:
		case rest == "" && o.apart && i+1 < len(words):
			s.optionValue(o, words[i+1].start, words[i+1].end)
		case strings.HasPrefix(rest, "=") && len(o.name) > 2:
			s.optionValue(o, w.start+len(o.name)+1, w.end)
		case rest != "" && o.glued && len(o.name) == 2:
			s.optionValue(o, w.start+len(o.name), w.end)
		}
	}
}

func (s *scan) optionValue(o option, start, end int) {
	if start < end && strings.IndexByte(`"'`, s.text[start]) >= 0 {
		start++
	}
	if o.behind != 0 {
		sign := strings.IndexByte(s.text[start:end], o.behind)
		if sign < 0 {
			return
		}
		start += sign + 1
	}
	text := s.text[start:end]
	if at := strings.LastIndexByte(text, '@'); o.behind == '/' && at > 0 {
		text, end = text[:at], start+at // user/password@database
	}
	port := o.glued && onlyDigits(text) && strings.Contains(text, ":")
	if !port && !isPlaceholder(text) && !strings.HasPrefix(text, "-") {
		s.addSpan(start, end, "option", named)
	}
}

// runners are programs that start another program named in their arguments.
const runners = "docker podman nerdctl docker-compose kubectl oc ssh sudo doas env time timeout nice nohup exec " +
	"command xargs watch strace proxychains " +
	"sh bash zsh eval then do else and if while until ! { [ unbuffer ionice chroot nsenter compose"

// calls reports whether a word is in the position of a program: at the start of a
// command, after assignments, or after a program that runs it.
func (s *source) calls(at int) bool {
	left := s.text[max(0, at-maxBefore):at]
	left = left[strings.LastIndexAny(left, "\n;|&(`\"'")+1:]
	fields := strings.Fields(left)
	if len(left) > 0 && !isSpace(left[len(left)-1]) {
		// /usr/bin/mysql; anything else is part of another word
		if last := fields[len(fields)-1]; !strings.HasSuffix(last, "/") {
			return false
		}
		fields = fields[:len(fields)-1]
	}
	for i, f := range fields {
		switch {
		case strings.Contains(f, "=") && isName(f[0]) && f[0] != '-', f == "$", f == "#", f == "%", f == ">":
			continue
		case hasWord(runners, path.Base(f)):
			return !strings.HasPrefix(fields[len(fields)-1], "-") || fields[len(fields)-1] == "--" ||
				i < len(fields)-1 && !takesValue(fields[len(fields)-1])
		default:
			return false
		}
	}
	return true
}

// takesValue reports whether the next word is the option's value and thus not a program.
func takesValue(option string) bool { return strings.HasPrefix(option, "--") && option != "--" }

// piped masks text echoed into a program that reads a secret.
func (s *scan) piped(start, end int) {
	left := max(0, start-512)
	line := s.text[left:start]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	for _, printer := range []string{"echo ", "printf "} {
		from := strings.LastIndex(line, printer)
		if from < 0 || !strings.Contains(line[from:], "|") {
			continue
		}
		words, stop := s.command(start-len(line)+from+len(printer), 0)
		if stop >= len(s.text) || s.text[stop] != '|' {
			continue
		}
		for _, w := range words {
			text := s.cut(w)
			if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "%") || isPlaceholder(text) {
				continue
			}
			begin := w.start
			if s.text[start:end] == "chpasswd" && strings.Contains(text, ":") {
				begin += strings.IndexByte(text, ':') + 1
			}
			s.addSpan(begin, w.end, "piped", named)
		}
	}
}

// passSource masks the password in -passin pass:PASSWORD.
func (s *scan) passSource(start, end int) {
	if start == 0 || strings.IndexByte(" \"'=", s.text[start-1]) < 0 {
		return
	}
	line := s.text[max(0, start-256):start]
	line = line[strings.LastIndexAny(line, "\n;|")+1:]
	if !strings.Contains(line, "-pass") && !strings.Contains(line, "openssl") {
		return
	}
	if v := s.value(end); !v.quoted && !isPlaceholder(s.cut(v)) {
		s.addSpan(v.start, v.end, "option", named)
	}
}
