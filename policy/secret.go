package policy

import (
	"iter"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/wildcard"
)

// secretFiles hold passwords, keys and what else lets somebody in. Reading one
// asks, inside the project too: what an agent has read it may repeat anywhere.
// Listing, searching a folder above, and asking whether such a file is there
// read nothing of it and run as ever.
var secretFiles = []struct {
	id       umpire.RuleID
	patterns []string
	except   []string
	says     umpire.Phrase
}{
	{"secret-env", []string{"/**/.env", "/**/.env.*", "/**/*.env", "/**/.dev.vars", "/**/.envrc"}, []string{
		"/**/.env.{example,sample,template,dist,defaults}", "/**/.env.*.{example,sample,template,dist,defaults}",
		"/**/{example,sample,template,dist,defaults}.env",
	}, "an-environment-file"},
	{"secret-keys", []string{
		"/**/*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk,ovpn}", "/**/*_{rsa,dsa,ecdsa,ed25519}",
		"/**/id_{ecdsa,ed25519}_sk", "/etc/ssh/ssh_host_*_key", "/etc/ssl/private/**",
		"/etc/wireguard/**", "/etc/NetworkManager/system-connections/**",
	}, []string{
		"/**/{ca,cacert,cert,certs,certificate,chain,fullchain,public,pubkey}.pem",
	}, "a-private-key-or-a-store-of-keys"},
	{"secret-logins", []string{
		"/**/{.netrc,_netrc,.pypirc,.npmrc,.git-credentials,.pgpass,.my.cnf,.htpasswd,.vault-token,.s3cfg,.boto}",
		"/**/{.dockercfg,.mylogin.cnf,pgpass.conf,.vault_pass,.vault_pass.txt}",
		"/**/{.erlang.cookie,.terraformrc,local.settings.json}",
		"/**/{auth.json,tokens.json,.secrets,wp-config.php,gcp-key.json}", "/**/vault-password*",
		"/**/*-adminsdk-*.json", "/**/*.tfvars", "/**/terraform.tfvars.json",
		"/**/.gemini/oauth_creds.json", "/**/.gem/credentials",
		"/**/client_secret*.json",
		"/**/credentials*.json", "/**/.credentials.json", "/**/service-account*.json",
		"/**/secrets.{yml,yaml,json,toml}",
		"/**/*.tfstate", "/**/*.tfstate.backup", "~/.claude.json", "/run/secrets/**", "/var/run/secrets/**",
	}, nil, "names-and-passwords-or-tokens"},
	{"secret-clouds", []string{
		"/**/.aws/**", "/**/.azure/**", "/**/.config/gcloud/**", "/**/.docker/config.json", "/**/.kube/config",
		"/**/kubeconfig",
		"/**/.oci/**", "/**/.config/rclone/rclone.conf", "/**/.config/doctl/config.yaml",
		"/**/.config/gh/hosts.yml", "/**/.cargo/credentials", "/**/.cargo/credentials.toml",
		"/**/.terraform.d/credentials.tfrc.json", "/**/.m2/settings*.xml", "/**/.gradle/gradle.properties",
		"/**/.config/{hub,github-copilot/**,sops/**,netlify/config.json}", "/**/{.fly,.netlify}/config.*",
	}, nil, "what-logs-in-to-a-cloud-or-a-registry"},
	{"secret-home", []string{
		"/**/.ssh/**", "/**/.gnupg/**", "/**/.password-store/**", "/**/.local/share/keyrings/**",
		"/**/Library/Keychains/**",
	}, []string{"/**/.ssh/*.pub"}, "keys-and-passwords-of-a-person"},
	{"secret-browser", []string{
		"/**/.mozilla/**", "/**/.config/{google-chrome*,chromium,BraveSoftware,microsoft-edge*,vivaldi,opera}/**",
		"/**/snap/{firefox,chromium}/**",
		"/**/Library/Application Support/{Google/Chrome,Chromium,Firefox,BraveSoftware,Microsoft Edge,Vivaldi}/**",
		"/**/Library/{Safari,Cookies}/**",
		"/**/{cookies.txt,cookies.sqlite}",
		"/**/AppData/{Local,Roaming}/{Google/Chrome,Chromium,Mozilla,BraveSoftware,Microsoft/Edge}/**",
	}, nil, "a-browsers-profile-cookies-and-passwords"},
	{
		"secret-history", []string{"/**/.*_history", "/**/fish_history", "/**/.Rhistory", "/**/.dbshell"}, nil,
		"what-somebody-typed-passwords-too",
	},
	{
		"secret-umpire", []string{"~/.umpire", "/**/.umpire/{state,keys}/**"}, nil,
		"what-answers-umpires-questions-and-what-it-keeps",
	},
	{
		"secret-process", []string{"/proc/*/{environ,mem}", "/proc/*/task/*/{environ,mem}"}, nil,
		"the-environment-or-the-memory-of-a-process",
	},
}

// SecretFiles are the patterns of the files that the built-in rules about secrets, and about
// the files with the system's passwords, name, with each brace written out, and those of
// the files that they except. Patterns begin with / or ~/. What umpire keeps itself is not
// among them, nor are processes.
func SecretFiles() (patterns, except []string) {
	patterns = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/master.passwd"}
	for _, s := range secretFiles {
		if s.id == "secret-umpire" || s.id == "secret-process" {
			continue
		}
		patterns, except = append(patterns, withoutBraces(s.patterns)...), append(except, withoutBraces(s.except)...)
	}
	return patterns, except
}

// withoutBraces are patterns without braces.
func withoutBraces(patterns []string) []string {
	var all []string
	for _, pattern := range patterns {
		plain, err := wildcard.ExpandBraces(pattern)
		if err != nil {
			panic(err) // the table is wrong, as a test would tell
		}
		all = append(all, plain...)
	}
	return all
}

func secretRules(o *Options) iter.Seq[hardRule] {
	return func(yield func(hardRule) bool) {
		for _, s := range secretFiles {
			if s.id == "secret-umpire" && o.StateDir != "" {
				own := wildcard.Escape(o.StateDir)
				s.patterns = append(slices.Clip(s.patterns), own, own+"/{state,keys}/**")
			}
			h := hardRule{
				id: s.id, tool: "Read", patterns: s.patterns, except: s.except,
				says: umpire.Say("may-hold-secrets", s.says),
				row:  rowAskRule, code: umpire.CodeSecret, secret: true,
			}
			if !yield(h) {
				return
			}
		}
	}
}

// readsSecret reports whether the access reads what a rule about secrets is
// about. What is named counts, and what a wildcard matches on disk: a tree above the
// file is how everybody searches a project.
func (c *compiled) readsSecret(s *subject) bool {
	a := s.access
	if a.Kind != umpire.KindRead || a.Names || a.Target == "" {
		return false
	}
	read := false
	s.forms.each(func(f *form) { read = read || c.namesSecret(f, a.Glob) })
	read = read || s.found != nil && c.namesSecret(s.found, false)
	for _, pattern := range s.filter {
		for i := range c.globs {
			read = read || spellsRule(c.globs[i].segs, pattern)
		}
	}
	return read
}

// searchFilter returns the patterns of the files that the Grep tool is told to
// keep to, at any depth below where it searches.
func searchFilter(a *umpire.Access, glob string) [][]segment {
	if !a.Tree || a.Glob || glob == "" || glob[0] == '!' {
		return nil
	}
	alternatives, err := wildcard.ExpandBraces(glob)
	if err != nil {
		return nil // as is one that no search understands
	}
	var filter [][]segment
	for _, pattern := range alternatives {
		filter = append(filter, splitSegments(wildcard.Escape(a.Target)+"/**/"+pattern, true))
	}
	return filter
}

func (c *compiled) namesSecret(f *form, globbed bool) bool {
	for i := range c.globs {
		switch g := &c.globs[i]; {
		case globbed && spellsRule(g.segs, f.target(g.fold)):
			return true
		case !globbed && g.match(f, nil) && !c.excepted(f):
			return true
		}
	}
	return false
}

func (c *compiled) excepted(f *form) bool {
	for i := range c.except {
		if c.except[i].match(f, nil) {
			return true
		}
	}
	return false
}

// secretAllowed reports whether a person wrote an allow rule that covers the
// access and names what the rule about secrets is about: Read(.env.test) does,
// Read(config/**) does not. A project's own file is not such a person.
func (j *judge) secretAllowed(secret *compiled) bool {
	for _, c := range j.hits.rows[rowAllowRule] {
		switch c.rule.Source {
		case umpire.SourceUser, umpire.SourceManaged, umpire.SourceFlag:
		case umpire.SourceUnknown, umpire.SourceBuiltin, umpire.SourceProject, umpire.SourceSession:
			continue
		}
		if c.spellsOut(secret) {
			return true
		}
	}
	return false
}

// spellsOut reports whether the rule names what a rule about secrets is about.
func (c *compiled) spellsOut(secret *compiled) bool {
	for i := range c.globs {
		for k := range secret.globs {
			if spellsRule(secret.globs[k].segs, refoldSegments(c.globs[i].segs)) {
				return true
			}
		}
	}
	return false
}

// refoldSegments returns the segments as a pattern that ignores case compares them.
func refoldSegments(segs []segment) []segment {
	folded := make([]segment, len(segs))
	for i, s := range segs {
		folded[i] = segment{text: wildcard.FoldCase(s.text), sort: s.sort}
	}
	return folded
}

// spellsRule reports whether a pattern of a command or of an allow rule names what
// the rule is about, rather than only covering it: .env* and certs/*.pem do, *
// and src/** do not. It is the table of mayMeet with a narrower idea of meeting.
func spellsRule(rule, target []segment) bool {
	if !mentionsRule(rule, target) {
		return false
	}
	next := make([]bool, len(target)+1)
	row := make([]bool, len(target)+1)
	for i := len(rule); i >= 0; i-- {
		for j := len(target); j >= 0; j-- {
			row[j] = tailsSpell(rule, target, i, j, row, next)
		}
		row, next = next, row
	}
	return next[0]
}

// mentionsRule is a quick look that spares most of the tables: something of the target
// must spell the first name of the rule.
func mentionsRule(rule, target []segment) bool {
	for i := range rule {
		if rule[i].sort == deep {
			continue
		}
		for j := range target {
			if target[j].sort != deep && spellsPart(&rule[i], &target[j]) && segmentsMeet(&rule[i], &target[j]) {
				return true
			}
		}
		return false
	}
	return true
}

func tailsSpell(rule, target []segment, i, j int, row, next []bool) bool {
	ruleLeft, targetLeft := i < len(rule), j < len(target)
	switch {
	case ruleLeft && rule[i].sort == deep:
		return next[j] || targetLeft && row[j+1]
	case targetLeft && target[j].sort == deep:
		return row[j+1] // it may stand for anything, and so names nothing
	case ruleLeft && targetLeft:
		return next[j+1] && spellsPart(&rule[i], &target[j]) && segmentsMeet(&rule[i], &target[j])
	}
	return !ruleLeft && !targetLeft
}

// minSpelled is how much of a name a wildcard must spell to mean it.
const minSpelled = 2

// spellsPart reports whether a segment spells a part of the rule's: its beginning, or
// its end beyond the extension that many other files have.
func spellsPart(rule, target *segment) bool {
	if target.sort == literal {
		return true
	}
	start, end := fixedEnds(target)
	if start == "" && end == "" {
		return false
	}
	ruleStart, ruleEnd := fixedEnds(rule)
	if strings.HasPrefix(ruleStart, ".") && start == "." {
		return true // every hidden file is meant
	}
	if meant := min(len(start), len(ruleStart)); meant >= minSpelled && start[:meant] == ruleStart[:meant] {
		return true
	}
	beyond := minSpelled
	if ruleStart != "" || strings.Count(rule.text, "*") > 1 {
		beyond = max(beyond, len(suffixOf(ruleEnd))+1)
	}
	meant := min(len(end), len(ruleEnd))
	return meant >= beyond && end[len(end)-meant:] == ruleEnd[len(ruleEnd)-meant:]
}

// fixedEnds are what a name must begin and end with.
func fixedEnds(s *segment) (start, end string) {
	if s.sort == literal {
		return s.text, s.text
	}
	return s.text[:strings.IndexAny(s.text, "*?[")], s.text[strings.LastIndexAny(s.text, "*?]")+1:]
}
