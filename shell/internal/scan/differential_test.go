package scan

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// madePrograms is the number of programs that a differential test generates.
const madePrograms = 12000

var pieces = regexp.MustCompile(`[A-Za-z_0-9]+|\s+|'[^'\n]*'|"[^"\n]*"|[^A-Za-z_0-9\s]`)

// mutate changes programs: it omits, doubles or swaps pieces of one, or takes some from another.
func mutate(r *rand.Rand, programs []string, pool []string) string {
	code := pieces.FindAllString(programs[r.IntN(len(programs))], -1)
	for range 1 + r.IntN(4) {
		if len(code) == 0 {
			break
		}
		at := r.IntN(len(code))
		switch r.IntN(6) {
		case 0:
			code = append(code[:at], code[at+1:]...)
		case 1:
			code = append(code[:at+1], code[at:]...)
		case 2:
			other := r.IntN(len(code))
			code[at], code[other] = code[other], code[at]
		case 3:
			other := programs[r.IntN(len(programs))]
			code = append(code, "\n"+other)
		default:
			code[at] = pool[r.IntN(len(pool))]
		}
	}
	return strings.Join(code, "")
}

// TestPythonDifferential runs accepted programs in the real interpreter, whose audit events
// must show no harm and no unforeseen file.
func TestPythonDifferential(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to compare with")
	}
	programs, pool := slices.Clone(harmfulPython), slices.Clone(harmfulPython)
	for _, c := range readingPython {
		// Most of the programs, and of the pieces, are harmless by themselves.
		for range 40 {
			programs = append(programs, c.code)
		}
		pool = append(pool, pieces.FindAllString(c.code, -1)...)
	}
	for _, harm := range harmfulPython {
		pool = append(pool, pieces.FindAllString(harm, -1)...)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var accepted []string
	var judged []Program
	args := []string{"x.txt", "notes.txt"}
	for range madePrograms {
		code := mutate(r, programs, pool)
		if p, ok := ReadPython(code, args); ok {
			accepted, judged = append(accepted, code), append(judged, p)
		}
	}
	answers := runAudited(t, python, accepted, args)
	valid := 0
	for i, a := range answers {
		if a.Valid {
			valid++
		}
		if len(a.Harm) > 0 {
			t.Errorf("%v by:\n%s", a.Harm, accepted[i])
		}
		for _, file := range a.Reads {
			if !foreseen(judged[i].Reads, file) {
				t.Errorf("reads %q, which is not among %v:\n%s", file, judged[i].Reads, accepted[i])
			}
		}
	}
	if valid < madePrograms/20 {
		t.Errorf("only %d of %d programs were valid and accepted", valid, madePrograms)
	}
	t.Logf("%d programs, %d accepted, %d of them valid", madePrograms, len(accepted), valid)
}

// foreseen reports whether a file is among paths.
func foreseen(paths []ReadPath, file string) bool {
	file = path.Clean(file)
	for _, p := range paths {
		of := path.Clean(p.Text)
		matched, _ := path.Match(of, file)
		// Matching a pattern lists its folder.
		if of == file || p.Tree && (of == "." || strings.HasPrefix(file, of+"/")) ||
			p.Glob && (matched || path.Dir(of) == file || strings.HasPrefix(of, file+"/")) {
			return true
		}
	}
	return false
}

type audited struct {
	Valid bool     `json:"valid"`
	Harm  []string `json:"harm"`
	Reads []string `json:"reads"`
}

func runAudited(t *testing.T, python string, programs, args []string) []audited {
	t.Helper()
	driver, err := filepath.Abs("testdata/audit.py")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "a.json", "src/m.py", "src/main.go", "docs/a.md", "a", "b",
		"a.txt", "b.txt",
		"x.txt", "notes.txt", "m.py", "a.csv", "pyproject.toml"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("{\"name\": 1}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var in strings.Builder
	for _, code := range programs {
		line, err := json.Marshal(map[string]any{"code": code, "args": args})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.Command(python, "-I", "-W", "ignore", driver)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in.String())
	var errorOutput strings.Builder
	cmd.Stderr = &errorOutput
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errorOutput.String())
	}
	var answers []audited
	scanner := bufio.NewScanner(strings.NewReader(string(out)))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var a audited
		if err := json.Unmarshal(scanner.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(programs) {
		t.Fatalf("%d answers about %d programs", len(answers), len(programs))
	}
	return answers
}
