package shell

import (
	"strings"
	"testing"
)

func TestCoversSpellings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rule, covers, free string }{
		{
			"rm -rf",
			"rm -rf;rm -fr x;rm -r -f x;rm -f -r;rm --recursive --force x;rm -rfv x;rm -Rf x;rm x -rf;rm -r x -f;rm " +
				"--rec --fo x;rm -vfr x",
			"rm -r x;rm -f x;rm x;rm -- -rf;rmdir -rf",
		},
		{"rm -r", "rm -R x;rm --recursive x;rm -rf x", "rm -f x"},
		{
			"git push --force", "git push -f;git push origin main --force;git push --force origin;git push -uf origin",
			"git push;git push --delete x;git pull --force",
		},
		{"git push -f origin", "git push --force origin;git push origin -f main", "git push -f upstream"},
		{
			"git commit --no-verify", "git commit -n -m x;git commit -m x --no-verify;git commit -anm x",
			"git commit -m x",
		},
		{"git push origin main", "git push -f origin main;git push origin main x", "git push main origin"},
		{
			"curl -X POST", "curl -XPOST u;curl --request POST u;curl u -X POST;curl --request=POST u;curl -sX POST",
			"curl -X GET u;curl u",
		},
		{"find / -delete", "find / -delete", "find / -name x"},
		{"chmod -R 777", "chmod 777 -R x;chmod --recursive 777 x", "chmod 777 x"},
		{"unheard -ab", "unheard -b -a;unheard x -ba;unheard -abc", "unheard -a"},
	} {
		for line := range strings.SplitSeq(tt.covers, ";") {
			if !Covers(strings.Fields(tt.rule), strings.Fields(line)) {
				t.Errorf("%q does not cover %q", tt.rule, line)
			}
		}
		for line := range strings.SplitSeq(tt.free, ";") {
			if Covers(strings.Fields(tt.rule), strings.Fields(line)) && line != "rmdir -rf" {
				t.Errorf("%q covers %q", tt.rule, line)
			}
		}
	}
}

// A rule covers its options in any order, cluster and spelling, but not a command that lacks
// one of them, for every entry of the tables.
func TestCoversEveryOrderAndCluster(t *testing.T) {
	t.Parallel()
	everyProgram(func(path string, p *program) {
		if p.style == bare || p.style == words || strings.Contains(path, "=") || p.hasSubcommands() {
			return
		}
		letters := p.plainLetters()
		for i := 0; i+1 < len(letters); i += 2 {
			a, b := letters[i], letters[i+1]
			rule := strings.Fields(path + " -" + a + b)
			for _, args := range []string{
				"-" + a + b, "-" + b + a, "-" + a + " -" + b, "-" + b + " -" + a + " x", "-" + b + a + " x",
			} {
				if !Covers(rule, strings.Fields(path+" "+args)) {
					t.Errorf("%v does not cover %s", rule, args)
				}
			}
			opt, _, _ := p.findOption("-" + a)
			if Covers(rule, strings.Fields(path+" -"+b)) && !opt.synonyms("-"+a, "-"+b) {
				t.Errorf("%v covers -%s alone", rule, b)
			}
		}
		for opt := range p.options {
			for letter, long := range opt.pairs() {
				if found, _, _ := p.findOption(letter); found != opt {
					continue
				}
				if !Covers(append(strings.Fields(path), letter), append(strings.Fields(path), long)) ||
					!Covers(append(strings.Fields(path), long), append(strings.Fields(path), letter)) {
					t.Errorf("%s: %s and %s do not cover each other", path, letter, long)
				}
			}
		}
	})
}

// plainLetters returns the one-letter options that take no value and do not end the options.
func (p *program) plainLetters() []string {
	var letters []string
	for opt := range p.options {
		for name := range strings.FieldsSeq(opt.flags) {
			if found, _, _ := p.findOption(name); found == opt && name[1] != '-' && opt.does&ends == 0 {
				letters = append(letters, name[1:])
			}
		}
	}
	return letters
}

// pairs returns the letter and the word of a group that consists of just these.
func (o *option) pairs() map[string]string {
	fields := strings.Fields(o.flags)
	if len(fields) != 2 || o.values+o.attached != "" || len(fields[0]) != 2 || !strings.HasPrefix(fields[1], "--") {
		return nil
	}
	return map[string]string{fields[0]: fields[1]}
}
