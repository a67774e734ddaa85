package shell

import (
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
)

// toolLine is the expected result of one line in a family's table test: the worst risk of its
// programs, "doubt", and the touched paths, as "kind path".
type toolLine struct {
	name, line, want string
	touches          []string
}

// judgedTool returns the worst risk of the programs of a line, or "doubt".
func judgedTool(accesses []umpire.Access) string {
	risk := umpire.Safe
	for i := range accesses {
		if accesses[i].Doubt != "" {
			return "doubt"
		}
		risk = umpire.Worse(risk, accesses[i].Risk)
	}
	return risk.String()
}

func runToolLines(t *testing.T, tests []toolLine) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name+" "+test.line, func(t *testing.T) {
			t.Parallel()
			accesses := Parse(test.line, Env{Dir: "/p", Home: "/home/u"})
			if got := judgedTool(accesses); got != test.want {
				t.Errorf("got %s, want %s: %+v", got, test.want, accesses)
			}
			touched := touchedPaths(accesses)
			for _, want := range test.touches {
				if !slices.Contains(touched, want) {
					t.Errorf("touches %q, want %q among them", touched, want)
				}
			}
		})
	}
}

func touchedPaths(accesses []umpire.Access) []string {
	var out []string
	for i := range accesses {
		if accesses[i].Paths() {
			out = append(out, accesses[i].Kind.String()+" "+accesses[i].Target)
		}
	}
	return out
}

func TestViewing(t *testing.T) {
	t.Parallel()
	runToolLines(t, []toolLine{
		{"M-164", "ls", "safe", nil},
		{"M-165", "ls -la", "safe", nil},
		{"M-167", "cat src/index.ts", "safe", []string{"read /p/src/index.ts"}},
		{
			"M-33", "head -20 a.go; tail -n5 b.go; tail -f c.log", "safe",
			[]string{"read /p/a.go", "read /p/b.go", "read /p/c.log"},
		},
		{"M-33", "less +G README.md", "safe", []string{"read /p/README.md"}},
		{"M-33", "less +/func main.go", "safe", nil},
		{"M-33", "wc -l *.go", "safe", []string{"read /p/*.go"}},
		{"M-33 less runs a command", "less '+!touch x' README.md", "medium", nil},
		{"M-33 less runs a command", "more '+:!id' README.md", "medium", nil},
		{"less writes a log", "less -o log a", "medium", []string{"write /p/log"}},
		{"less writes a log, attached", "less -nOlog a", "medium", []string{"write /p/log"}},
		{"less obeys keys", "less --lesskey-src=k a", "medium", nil},
		{"less, abbreviated", "less --log=x a", "medium", []string{"write /p/x"}},
		{"less, not known", "less --frobnicate a", "medium", nil},
		{"M-34", "tree -L 2 src", "safe", []string{"read /p/src"}},
		{"M-34 tree writes", "tree -o out", "medium", []string{"write /p/out"}},
		{"M-34 tree writes, clustered", "tree -aoout", "medium", []string{"write /p/out"}},
		{"M-34 tree writes", "tree -R -H . -L 1", "medium", nil},
		{
			"outside is seen", "ls -lT /etc; stat -c %s /etc/hosts; du -sh /var", "safe",
			[]string{"read /etc", "read /etc/hosts", "read /var"},
		},
		{"file", "file -b --mime-type a.png", "safe", nil},
		{"file compiles", "file -C -m magic", "medium", []string{"read /p/magic"}},
		{"file reads names", "file -f names", "safe", []string{"read /p/names"}},
		{"bat", "bat -pp --color=never a.go", "safe", nil},
		{"bat runs a pager", "bat --pager 'sh -c id' a.go", "medium", nil},
		{"bat cache", "bat cache --build", "medium", nil},
		{"sums", "sha256sum -c SUMS", "safe", []string{"read /p/SUMS"}},
		{"sum has a flag -s", "sum -s /etc/hosts", "safe", []string{"read /etc/hosts"}},
		{"pr has a flag -t", "pr -t /etc/hosts", "safe", []string{"read /etc/hosts"}},
		{"fmt has a flag -t", "fmt -t /etc/hosts", "safe", []string{"read /etc/hosts"}},
		{"xxd", "xxd -l 16 -c8 a.bin", "safe", []string{"read /p/a.bin"}},
		{"xxd -ps takes no value", "xxd -ps /etc/hosts", "safe", []string{"read /etc/hosts"}},
		{"xxd writes its second operand", "xxd -r a.hex b.bin", "medium", []string{"read /p/a.hex", "write /p/b.bin"}},
		{"xxd, not known", "xxd -Q a", "medium", nil},
		{"diff", "diff -ru a ../b", "safe", []string{"read /p/a", "read /p/../b"}},
		{"diff of substitutions", "diff <(sort a) <(sort b)", "safe", nil},
		{"sdiff", "sdiff -s a b", "safe", nil},
		{"sdiff writes", "sdiff -o out a b", "medium", []string{"write /p/out"}},
		{"sdiff runs", "sdiff --diff-program=./x a b", "medium", nil},
		{"diff3 runs, abbreviated", "diff3 --diff=./x a b c", "medium", nil},
		{"names are followed", `cat "$(dirname src/a.go)/b.go"`, "safe", []string{"read /p/src/b.go"}},
		{"listed names are read", "ls src/*.go | head -3 | xargs wc -l", "safe", []string{"read /p/src/"}},
		{"listed names are read", "for f in $(ls -t); do head -1 $f; done", "safe", nil},
		{"a long listing is no list of names", "ls -l | xargs cat", "doubt", nil},
		{"the parent is no name", "ls -a | xargs cat", "doubt", nil},
	})
}
