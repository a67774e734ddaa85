package scan

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// forms are ways to start a command or to delete a path. %s is the literal in double quotes and
// %[2]s the list of its words.
var forms = map[string]struct{ commands, deletes []string }{
	"python3": {
		[]string{
			`import os; os.system(%s)`, `__import__("os").system(%s)`, "from os import popen\npopen(%s).read()",
			`subprocess.run(%s, shell=True)`, `subprocess.run([%[2]s])`, `subprocess.Popen(args=[%[2]s], shell=False)`,
			`sp.check_output(%s, shell=True)`, `subprocess.getoutput(%s)`, "if True:\n  os.system(%s)",
			"c = %s\nos.system(c)", `from os import system as s; s(%s)`, `s = os.system; s(%s)`,
			`getattr(os, "system")(%s)`, `import subprocess as p; p.run(%s, shell=True)`, `os.system(str(%s))`,
			`os.system("" + %s)`, `x = [os.system(%s) for _ in range(1)]`, `(lambda: os.system(%s))()`,
		},
		[]string{
			`shutil.rmtree(%s)`, `from shutil import rmtree as r, rmtree; rmtree(%s)`, `shutil.rmtree(Path(%s))`,
			`from shutil import rmtree as r; r(%s)`, `r = shutil.rmtree; r(%s)`, `import shutil as s; s.rmtree(%s)`,
			`getattr(shutil, "rmtree")(%s)`, `shutil.rmtree(os.path.abspath(%s), ignore_errors=True)`, `os.unlink(%s)`,
			`os.rmdir(%s)`, `pathlib.Path(%s).unlink()`, `Path(%s).rmdir()`, `shutil.move(%s, "/tmp/x")`,
			"p = %s\nshutil.rmtree(p)", `shutil.rmtree(r%s)`,
		},
	},
	"node": {
		[]string{
			`const {execSync:e}=require("child_process"); e(%s)`,
			`let { execSync : run } = require("child_process"); run(%s)`,
			`const e = require("child_process").execSync; e(%s)`, `import {execSync as e} from "child_process"; e(%s)`,
			`require("child_process")["execSync"](%s)`, `require("child_process").execSync(%s)`,
			`const {exec} = require("child_process"); exec(%s, () => {})`,
			`cp.spawnSync("sh", ["-c", %s]); cp.exec(%s)`, `spawn(%[2]s)`, `child_process.execFileSync([%[2]s])`,
			`import("child_process").then(c => c.execSync(%s))`, `let c = %s; execSync(c)`,
			"await $`true`; execSync(%s, {stdio: \"inherit\"})",
		},
		[]string{
			`require("fs").rmSync(%s, {recursive: true})`,
			`const {rmSync: r} = require("fs"); r(%s, {recursive: true})`, `require("fs")["rmSync"](%s)`,
			`fs.promises.rm(%s)`, `fs.rmdirSync(%s)`, `require("fs").unlinkSync(%s)`,
			`import {rmSync} from "fs"; rmSync(%s)`, `await fsp.rm(%s, {force: true})`, `rimraf(%s)`,
		},
	},
	"ruby": {
		[]string{
			`system(%s)`, `system %s`, `exec %s`, `Kernel.system(%s)`, `IO.popen(%s)`, `spawn(%[2]s)`,
			`Open3.capture2(%s)`, `c = %s; system c`, `puts(system(%s))`,
		},
		[]string{
			`FileUtils.rm_rf(%s)`, `FileUtils.rm_rf %s`, `FileUtils.rm_r([%s])`, `FileUtils.remove_dir(%s)`,
			`File.delete(%s)`, `File.unlink %s`, `Dir.rmdir(%s)`, `Pathname.new(%s).rmtree`,
		},
	},
	"perl": {
		[]string{
			`system(%s)`, `system %s;`, `exec %s`, `exec(%[2]s)`, `my $c = %s; system($c)`, `open(my $f, "-|", %s)`,
			`print(system(%s))`,
		},
		[]string{
			`unlink %s`, `unlink(%s)`, `rmdir(%s)`, `use File::Path; rmtree(%s)`, `File::Path::remove_tree(%s)`,
			`my $p = %s; unlink $p`,
		},
	},
	"php": {
		[]string{
			`system(%s);`, `exec(%s, $out);`, `echo shell_exec(%s);`, `passthru(%s);`, `popen(%s, "r");`,
			`$c = %s; system($c);`,
		},
		[]string{`unlink(%s);`, `rmdir(%s);`, `@unlink(%s);`, `$p = %s; unlink($p);`},
	},
	"lua":    {[]string{`os.execute(%s)`, `io.popen(%s)`, `local c = %s os.execute(c)`}, []string{`os.remove(%s)`}},
	"julia":  {nil, []string{`rm(%s, recursive=true)`}},
	"elixir": {[]string{`System.cmd(%[2]s)`}, []string{`File.rm_rf!(%s)`, `File.rm_rf(%s)`}},
	"R":      {[]string{`system(%s)`, `system2(%[2]s)`}, []string{`unlink(%s, recursive = TRUE)`, `file.remove(%s)`}},
	"groovy": {[]string{`%s.execute()`}, []string{`new File(%s).deleteDir()`}},
}

// TestEveryForm: literal × call × language.
func TestEveryForm(t *testing.T) {
	t.Parallel()
	for language, f := range forms {
		for _, literal := range []string{"rm -rf /", "mkfs /dev/sda", "shutdown now"} {
			for _, form := range f.commands {
				expect(t, language, form, literal, func(a Act) bool {
					return a.Kind == ActCommand && strings.ReplaceAll(a.Text, "'", "") == literal
				})
			}
		}
		for _, literal := range []string{"/", "/etc/passwd", "~"} {
			for _, form := range f.deletes {
				expect(t, language, form, literal, func(a Act) bool { return a.Kind == ActDelete && a.Text == literal })
			}
		}
	}
}

func expect(t *testing.T, language, form, literal string, fits func(Act) bool) {
	t.Helper()
	var words []string
	for word := range strings.FieldsSeq(literal) {
		words = append(words, `"`+word+`"`)
	}
	list := strings.Join(words, ", ")
	for _, quoted := range []string{`"` + literal + `"`, `'` + literal + `'`} {
		if language == "groovy" && quoted[0] == '\'' {
			continue
		}
		code := strings.ReplaceAll(strings.ReplaceAll(form, "%[2]s", list), "%s", quoted)
		if acts := FindActs(language, code); !slices.ContainsFunc(acts, fits) {
			t.Errorf("%s: %s: found %v", language, code, acts)
		}
	}
}

// TestActsThatAreSpelledIndirectly finds code in strings, deletion of listed files, patterns,
// handles, and files that are read.
func TestActsThatAreSpelledIndirectly(t *testing.T) {
	t.Parallel()
	root, etc := Act{Kind: ActDelete, Text: "/", Tree: true}, Act{Kind: ActDelete, Text: "/*", Glob: true}
	all := Act{Kind: ActDelete, Text: "/*", Tree: true, Glob: true}
	shadow, disk := Act{Kind: ActRead, Text: "/etc/shadow"}, Act{Kind: ActWrite, Text: "/dev/sda"}
	line := Act{Kind: ActCommand, Text: "rm -rf /"}
	for language, codes := range map[string]map[string]Act{
		"python3": {
			`exec("import shutil; shutil.rmtree('/')")`: root, `eval("__import__('os').system('rm -rf /')")`: line,
			`exec("exec(\"import os; os.system('rm -rf /')\")")`:                                  line,
			`exec(compile("import os; os.system('rm -rf /')", "", "exec"))`:                       line,
			`import os; [os.remove(os.path.join(d, f)) for d, _, fs in os.walk("/") for f in fs]`: root,
			"for d, _, fs in os.walk('/'):\n  for f in fs:\n    os.unlink(d + f)":                 root,
			`for f in glob.glob("/*"): shutil.rmtree(f)`:                                          etc,
			`for p in Path("/").iterdir(): p.unlink()`:                                            root,
			`for p in Path("/").rglob("*"): p.unlink()`: {Kind: ActDelete,
				Text: "/**/*", Glob: true},
			`print(open("/etc/shadow").read())`: shadow, `Path("/etc/shadow").read_text()`: shadow,
			`open("/etc/shadow", "rb")`: shadow,
		},
		"node": {`eval("require('child_process').execSync('rm -rf /')")`: line,
			`new Function("require('child_process').execSync('rm -rf /')")()`:         line,
			`fs.readdirSync("/").forEach(f => fs.rmSync("/" + f, {recursive: true}))`: root,
			`console.log(require("fs").readFileSync("/etc/shadow", "utf8"))`:          shadow},
		"ruby": {`puts File.read("/etc/shadow")`: shadow, `File.open("/etc/shadow").read`: shadow,
			`Dir.glob("/*").each { |f| File.delete(f) }`: etc, `eval("system('rm -rf /')")`: line},
		"perl": {`unlink glob "/*"`: all, `unlink glob("/*")`: all, `unlink(glob("/*"))`: all,
			`open F,">/dev/sda"; print F 0`: disk, `open(F, ">", "/dev/sda")`: disk,
			`open my $f, ">", "/dev/sda"`: disk, `open F,"</etc/shadow"; print <F>`: shadow,
			`open my $f, "<", "/etc/shadow"`: shadow, `eval "system('rm -rf /')"`: line},
		"php": {`echo file_get_contents("/etc/shadow");`: shadow, `foreach (glob("/*") as $f) unlink($f);`: etc,
			`eval("system('rm -rf /');");`: line},
		"emacs": {
			`(delete-directory "/" t)`: root, `(shell-command "rm -rf /")`: line,
			`(progn (call-process "rm" nil nil nil "-rf" "/"))`: {Kind: ActCommand, Text: "'rm' '-rf' '/'"},
			`(delete-file "/etc/x")`:                            {Kind: ActDelete, Text: "/etc/x"},
		},
		"guile": {`(system "rm -rf /")`: line, `(system* "rm" "-rf" "/")`: {Kind: ActCommand, Text: "'rm' '-rf' '/'"}},
	} {
		for code, want := range codes {
			if acts := FindActs(language, code); !slices.Contains(acts, want) {
				t.Errorf("%s: %s: found %v", language, code, acts)
			}
		}
	}
}

// TestOthersAreNot: text that does not run, and paths other than the literal.
func TestOthersAreNot(t *testing.T) {
	t.Parallel()
	for language, codes := range map[string][]string{
		"python3": {
			`print("rm -rf /")`, `# os.system("rm -rf /")`, `x = "os.system('rm -rf /')"`,
			`shutil.rmtree(os.path.join("/", x))`, `shutil.rmtree("/" + x)`, `shutil.rmtree(f"/{x}")`, `xs.remove("/")`,
			`os.walk("/")`, `[os.remove(f) for d, _, fs in os.walk("/") for f in fs if f.endswith(".pyc")]`,
			`glob.glob("/*")`, `from os import path as p; p("rm -rf /")`, `{"system": "rm -rf /"}`,
			`e = {"exec": f}; e("rm -rf /")`, `open("/dev/sda").read()`, `open("/dev/sda", "rb")`,
			`os.path.exists("/")`, `p = "/"; p = q(); shutil.rmtree(p)`, `shutil.rmtree(f("/"))`,
		},
		"node": {
			`console.log("rm -rf /")`, `// execSync("rm -rf /")`, `/* rmSync("/") */`, "rmSync(`/${x}`)",
			`rmSync(path.dirname("/"))`, `fs.readFileSync("/dev/sda")`,
		},
		"perl": {
			`print "rm -rf /"`, `# system "rm -rf /"`, `unlink "/$x"`, `open(F, "/dev/sda")`, `open(F, "</dev/sda")`,
		},
		"ruby": {`puts "rm -rf /"`, `FileUtils.rm_rf("/#{x}")`, `File.read("/dev/sda")`, `%w(rm -rf /)`},
		"php":  {`echo "rm -rf /";`, `unlink("/$x");`, `fopen("/dev/sda", "r");`},
		"lua":  {`print("rm -rf /")`, `-- os.execute("rm -rf /")`},
	} {
		for _, code := range codes {
			for _, a := range FindActs(language, code) {
				if a.Kind != ActRead && a.Text == "/" || a.Kind != ActRead && a.Text == "/dev/sda" ||
					strings.Contains(a.Text, "rm -rf /") || a.Glob {
					t.Errorf("%s: %s: found %v", language, code, a)
				}
			}
		}
	}
}

// FuzzFind: reading any code ends, and quickly.
func FuzzFind(f *testing.F) {
	for language, all := range forms {
		for _, form := range all.commands {
			f.Add(language, strings.ReplaceAll(form, "%s", `"x"`))
		}
	}
	for _, bad := range []string{"\"", "qx{", "f(((((", "[[[[", "a.b.", "a->", "'''", "f(a b c", "x =", "%w("} {
		f.Add("ruby", bad)
		f.Add("python3", strings.Repeat(bad, 1000))
	}
	f.Fuzz(func(t *testing.T, language, code string) {
		if acts := FindActs(language, code); len(acts) > maxActs {
			t.Error(fmt.Sprint(len(acts), " acts"))
		}
	})
}

// TestWorst: the cost of code grows linearly with its length.
func TestWorst(t *testing.T) {
	for _, part := range []string{
		`"a"+`, `%(`, `f(`, `[`, `a.b(`, `qx{`, `"`, `f("x",`, `x="a";`, `system "a",`, `/`, `\\`, `$`, "`", `a->b(`,
		`{"a":`,
	} {
		for _, language := range []string{"ruby", "perl", "python3", "node", "tclsh"} {
			long := strings.Repeat(part, maxCode/len(part))
			short := long[:len(long)/8]
			if some, all := allocated(language, short), allocated(language, long); all > 16*some+1<<16 {
				t.Errorf("%s of %s: %d bytes for %d of code, %d for %d", language, part, some, len(short), all,
					len(long))
			}
		}
	}
}

// allocated returns the number of bytes allocated to read code.
func allocated(language, code string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	FindActs(language, code)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
