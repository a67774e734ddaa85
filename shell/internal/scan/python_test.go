package scan

import (
	"slices"
	"strings"
	"testing"
)

// readingPython are programs that only read and print, with the files that they read: a slash
// after a folder means everything below it.
var readingPython = []struct{ code, reads string }{
	{`print(1 + 1)`, ""},
	{`import json; print(json.load(open('package.json'))['name'])`, "package.json"},
	{`import json,sys; d = json.load(sys.stdin); print(d["a"][0].get("b"))`, ""},
	{`import json
with open('a.json') as f:
    d = json.load(f)
for k, v in d.items():
    print(f"{k}: {v['x']:>10} {len(v)!r}")`, "a.json"},
	{`from pathlib import Path
for p in sorted(Path('src').rglob('*.py')):
    print(p, len(p.read_text().splitlines()))`, "src/"},
	{`import glob
for f in glob.glob('docs/*.md'):
    n = 0
    for line in open(f, encoding='utf-8'):
        if line.startswith('#'): n += 1
    print(f, n)`, "docs/*.md"},
	{`import os
for root, dirs, files in os.walk('src'):
    for f in files:
        if f.endswith('.go'):
            print(sum(1 for _ in open(os.path.join(root, f))))`, "src/"},
	{`def show(path, n=3):
    """Show the head."""
    with open(path) as f:
        return [l.rstrip() for l in f][:n]
for name in ('a.txt', 'b.txt'):
    print(*show(name), sep='\n')`, "a.txt b.txt"},
	{`import sys; print(open(sys.argv[1]).read().replace('a', 'b'))`, "x.txt"},
	{`import re; print(re.sub(r'\d+', lambda m: str(int(m.group()) * 2), open('a').read(), flags=re.M))`, "a"},
	{`import collections
c = collections.Counter(w.lower() for w in open('a').read().split())
for w, n in c.most_common(10): print(w, n)`, "a"},
	{`import ast
t = ast.parse(open('m.py').read())
print([n.name for n in ast.walk(t) if isinstance(n, ast.FunctionDef)])`, "m.py"},
	{`import tomllib
print(tomllib.load(open('pyproject.toml', 'rb'))['project']['version'])`, "pyproject.toml"},
	{`import csv
for row in csv.DictReader(open('a.csv')): print(row['x'])`, "a.csv"},
	{`from datetime import datetime, timezone
print(datetime.now(timezone.utc).isoformat())`, ""},
	{`import sys
try:
    x = int(sys.argv[1])
except (ValueError, IndexError) as e:
    print('no number', e, file=sys.stderr)
    sys.exit(1)
print(type(x).__name__, x if x > 0 else -x)`, ""},
	{`a = 'src'; b = 'main.go'; print(open(a + '/' + b).read())`, "src/main.go"},
	{`print({k: v for k, v in sorted({'a': 1}.items(), key=lambda kv: -kv[1])})`, ""},
	{`print([x for x in range(10) if x % 2 == 0 and x not in (4,)], 0x1F, 1e3, b'x', r'\d')`, ""},
}

func TestPythonThatOnlyReads(t *testing.T) {
	t.Parallel()
	for _, c := range readingPython {
		p, ok := ReadPython(c.code, []string{"x.txt"})
		if !ok {
			t.Errorf("is not accepted:\n%s", c.code)
			continue
		}
		if got := spellPaths(p.Reads); !sameFields(got, c.reads) && !strings.Contains(c.code, "argv") {
			t.Errorf("reads %q, want %q:\n%s", got, c.reads, c.code)
		}
	}
}

func sameFields(got []string, want string) bool {
	fields := strings.Fields(want)
	slices.Sort(fields)
	return slices.Equal(slices.Sorted(slices.Values(got)), fields)
}

func spellPaths(paths []ReadPath) []string {
	var all []string
	for _, p := range paths {
		if p.Tree {
			p.Text = strings.TrimSuffix(p.Text, "/") + "/"
		}
		all = append(all, p.Text)
	}
	return all
}

// harmfulPython are expressions that do more than read and print.
var harmfulPython = []string{
	`open('x', 'w')`, `open('x', mode='a')`, `open('x', m)`, `open(*a)`, `open('x', **k)`, `open('x', opener=f)`,
	`open(input())`, `open(n)`, `open(n + '.txt')`, `open('/etc/' + n)`, `eval('1')`, `exec('1')`,
	`compile('1', '', 'exec')`,
	`__import__('os').system('id')`, `getattr(n, 'x')`, `globals()`, `vars()`, `().__class__`, `print.__self__`,
	`os.system('id')`, `os.remove('x')`, `os.environ`, `os.popen('id')`, `os.rename('a', 'b')`, `os.getenv('TOKEN')`,
	`sys.modules`, `sys.path.insert(0, 'evil')`, `sys.setprofile(n)`, `json.codecs.open('x', 'w')`,
	`glob.os.system('id')`,
	`Path('x').write_text('')`, `Path('x').unlink()`, `Path('x').replace('y')`, `Path('x').open('w')`,
	`Path(n).read_text()`,
	`Path('x').rename('y')`, `Path('x').touch()`, `Path('d').mkdir()`, `Path('x').chmod(0)`, `Path.home()`,
	`[p for p in Path('.').iterdir()][0].replace('y')`, `map(open, ['x'])`, `(open)('x', 'w')`,
	`type(gzip.open('x'))('y', 'w')`,
	`list(map(type, [gzip.open('x')]))[0]('y', 'w')`, `(type(gzip.open('x')))('y', 'w')`, `gzip.open('x', 'wb')`,
	`1.0.__class__`, `"{0.__class__}".__class__`, `breakpoint()`, `help()`, `input()`,
	`functools.partial(open, 'x')('w')`,
	`operator.attrgetter('__class__')(1)`, `operator.methodcaller('unlink')(1)`, `print(1, file=open('x', 'w'))`,
	`[f := open, f('x', 'w')]`, `(lambda f: f('x', 'w'))(open)`, `f"{open('x', 'w')}"`, `f'{n:{open("x", "w")}}'`,
	`f"{os.system('id')!r}"`, `subprocess.run(['id'])`, `n.system('id')`, `n._private`, `n.__dict__`,
	`pickle.loads(b'')`,
	`ast.os`, `platform.os.system('id')`, `copy.copyreg`, `sys.stdout.buffer.raw`, `open(sys.argv[1][1:])`,
	`open('/dev/null' and n)`, `open('a' or n)`, `open('ab'[0])`, `open(sorted('ab')[0])`, `open('a' + 'b' * 2)`,
	`open(('a', n)[1])`,
	`open(f'{n}')`, `open(os.path.join('src', n))`, `open('%s' % n)`, `open(next(iter([n])))`, `open({'a': n}['a'])`,
	`print(open('x').fileno())`, `os.open('x', 1)`, `os.listdir(n)`, `glob.glob(n)`, `os.walk(n)`,
	`Path('a').glob('../../*')`,
	`Path('src').joinpath(n).read_text()`, `(Path('src') / n).read_text()`, `gzip.gzip`, `itertools.sys`,
}

// pythonPlaces are the positions for an expression.
var pythonPlaces = []string{
	"%s", "print(%s)", "x = %s", "x = [%s for _ in 'a']", "print([1 for _ in [%s]])", "if %s: pass",
	"def g(a=%s): pass",
	"g = lambda: %s", "for _ in [%s]: pass", "print(sorted('a', key=lambda q: %s))", "d = {'k': %s}",
	"assert %s", "try:\n  pass\nexcept ValueError:\n  %s", "print('a' if %s else 'b')", "print(\"\"\"a\"\"\", %s)",
	"def g():\n  return %s\nprint(g())", "print(f\"\"\"{(%s)}\"\"\")", "x = 1 \\\n  + len([%s])",
	"with open('a') as h, open('b') as i:\n  %s",
	"#\\\n%s", "print('\\'', %s, '#')", "print(r'\\', %s, r'\\')", "print('''a'b''' 'c', %s)", "x: int = %s",
	"x = y = %s",
}

const pythonImports = "import os, sys, json, glob, ast, gzip, functools, operator, platform, copy, itertools\n" +
	"from pathlib import Path\nn = sys.stdin.read()\n"

// TestHarmfulPythonIsNeverAccepted puts every harmful expression in every position.
func TestHarmfulPythonIsNeverAccepted(t *testing.T) {
	t.Parallel()
	for _, place := range pythonPlaces {
		plain := pythonImports + strings.ReplaceAll(place, "%s", "len(n)")
		if _, ok := ReadPython(strings.Replace(plain, ", functools", "", 1), nil); !ok &&
			!strings.HasPrefix(place, "print(r'") {
			t.Errorf("the harmless expression is not accepted:\n%s", plain)
		}
		for _, harm := range harmfulPython {
			code := pythonImports + strings.ReplaceAll(place, "%s", harm)
			if p, ok := ReadPython(code, nil); ok {
				t.Errorf("accepted as reading %v:\n%s", p.Reads, code)
			}
		}
	}
}

// TestPythonNames tries other ways to reach a harmful function.
func TestPythonNames(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"import subprocess", "from os import *", "from os import system", "import os.path as p; p.os.system('id')",
		"from json import codecs", "import importlib", "from . import x", "import os as json; json.system('id')",
		"import json\nimport os as json\njson.remove('x')", "import shutil", "import socket", "import requests",
		"import os\nif 1:\n  os = 2\nos.remove('x')", "class A:\n  pass", "@print\ndef f(): pass",
		"async def f(): pass",
		"print = open\nprint('x', 'w')", "def print(*a): pass", "for open in [1]: pass", "import sys as open",
		"from pathlib import Path as str\nstr('x').unlink()", "x = open\nx('a', 'w')", "x = [open][0]\nx('a', 'w')",
		"def f(g): g('x', 'w')\nf(open)", "f = open if 1 else print\nf('x', 'w')", "import sys\nsys.stdout = open('x')",
		"import json\njson.load = 1", "import sys\nsys.argv.x = 1", "exec 'x'", "print `id`",
		"match 1:\n  case 1: pass",
		"# coding: utf-7\n+AGkAbQ-", "#!/x\n# -*- coding: rot13 -*-\nprint(1)", "x = 1 # \rimport os\n",
		"ｏｐｅｎ('x', 'w')",
		"x = '\x00'", "x = ['a']\nx.append(input)\nopen(x[1])",
		"x = ['a']\ny = x\ny += ['/etc/x']\nfor z in x: open(z)",
		"x = {'a': 'b'}\nx['a'] = '/etc/' + str(1) * 2\nopen(x['a'])", "def f(p): open(p)\nmap(f, [1])", "open(y)\n",
		"x = 'a'\nfor x in [1]: pass\nopen(x)", "def f(p): open(p)\nf(**{'p': 1})", "def f(p): open(p)\nf(*[1])",
		"from zipfile import ZipFile\nZipFile('x', 'w')", "import io\nio.open('x', 'w')",
		"print(open('x', 'r', -1, None))",
		"import logging.config", "import sqlite3\nsqlite3.connect('x')", "import os\nprint(os.stat('x'))",
		strings.Repeat("(", 100) + strings.Repeat(")", 100), "x = " + strings.Repeat("-", 40000) + "1", "lambda *",
		"def f(*", "f'{", "'",
	} {
		if p, ok := ReadPython(code, nil); ok {
			t.Errorf("accepted as reading %v:\n%s", p.Reads, code)
		}
	}
}
