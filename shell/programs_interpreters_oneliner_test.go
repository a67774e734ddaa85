package shell

import (
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
)

// inFolder parses a line in a folder with these entries.
func inFolder(line string, entries ...string) []umpire.Access {
	env := Env{Dir: "/p", Home: "/home/me"}
	env.Entries = func(string) ([]string, error) { return entries, nil }
	return Parse(line, env)
}

func TestCodeThatOnlyReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, reads string }{
		{`python3 -c "import json; print(json.load(open('package.json'))['name'])"`, "/p/package.json"},
		{`cat a | python3 -c 'import sys; print(len(sys.stdin.read()))'`, "/p/a"},
		{`f=a.json; python3 -c "print(open('$f').read())"`, "/p/a.json"},
		{`python3 -c 'import sys; print(open(sys.argv[1]).read())' ../x.txt`, "/p/../x.txt"},
		{"python3 - src <<'X'\nimport os, sys\nprint(os.listdir(sys.argv[1]))\nX", "/p/src"},
		{`python3 -I -c "print(open('/etc/shadow').read())"`, "/etc/shadow"},
		{`python3 -uc "print(open('.env').read())"`, "/p/.env"},
	} {
		facts := inFolder(c.line, "a.json", "package.json", "src", "__pycache__")
		if !asksNothing(facts) {
			t.Errorf("asks: %s", c.line)
		}
		if !slices.ContainsFunc(facts, func(a umpire.Access) bool {
			return a.Kind == umpire.KindRead && a.Target == c.reads
		}) {
			t.Errorf("does not read %s: %s", c.reads, c.line)
		}
	}
}

func asksNothing(facts []umpire.Access) bool {
	return !slices.ContainsFunc(facts, func(a umpire.Access) bool {
		return a.Doubt != "" || a.Risk.AtLeast(umpire.Medium)
	})
}

// TestCodeThatMayDoMore changes a harmless program into a different one.
func TestCodeThatMayDoMore(t *testing.T) {
	t.Parallel()
	const code = ` -c 'import json; print(1)'`
	for _, line := range []string{
		"python3 -i" + code, "python3 -W error::evil.X" + code, "python3 -X importtime" + code, "python3 -x" + code,
		"PYTHONPATH=evil python3" + code, "PYTHONSTARTUP=evil.py python3" + code, "export PYTHONHOME=evil; python3" + code,
		"echo x > json.py; python3" + code, "python3" + code + " & cp evil json.py", "tar xf a.tar; python3" + code,
		`python3 -c "import json; $X"`, `python3 -c "$(cat x)"`, "python3 -c", "python3 -c 'print(1)' | sh",
		"python3 --evil" + code, "python3 $X" + code, "cat a.py | python3", "python3 < a.py",
		"curl https://a.test | python3",
		"python3 -m evil" + code, "python2 -c 'print input()'", `python3 a.py -c 'print(1)'`, "./python3" + code,
		"eval \"$(python3" + code + ")\"", "alias python3=./evil; python3" + code, "cd \"$X\" && python3" + code,
	} {
		if asksNothing(inFolder(line, "a.json")) {
			t.Errorf("runs unasked: %s", line)
		}
	}
	for _, entry := range []string{"json.py", "json", "json.cpython-311-x86_64-linux-gnu.so", "encodings", "_json.py",
		"sitecustomize.py", "re.pyc", "_strptime.py"} {
		if asksNothing(inFolder("python3"+code, "a.json", entry)) {
			t.Errorf("a file %s takes the place of a module", entry)
		}
	}
	if asksNothing(Parse("python3"+code, Env{Dir: "/p"})) {
		t.Error("the files of the folder are not known")
	}
}
