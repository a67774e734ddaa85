package prove

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// wantDecided is the share of the written questions that the model decides, in percent.
const wantDecided = 95

// A written is one policy of the file of questions.
type written struct {
	level     policy.Level
	rules     []string
	questions [][2]string
}

// readQuestions reads the file of questions: its policies by name, and their names in order.
func readQuestions(t *testing.T) (all map[string]*written, names []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	all = map[string]*written{}
	var last *written
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		switch words := strings.Fields(line); {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "policy":
			last = &written{level: policy.Level(words[2])}
			all[words[1]], names = last, append(names, words[1])
		case words[0] == "?":
			question, answer, _ := strings.Cut(strings.TrimPrefix(line, "? "), " -> ")
			last.questions = append(last.questions, [2]string{question, answer})
		default:
			last.rules = append(last.rules, strings.TrimSpace(line))
		}
	}
	return all, names
}

// below returns an absolute pattern.
func below(pattern string) string {
	if rest, in := strings.CutPrefix(pattern, "~"); in {
		return home + rest
	}
	if strings.HasPrefix(pattern, "/") {
		return pattern
	}
	return root + "/" + pattern
}

func number(t *testing.T, w *World, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	// The world sorts its rules; their ids are as written.
	for i := range w.Rules {
		if w.Rules[i].Line == n {
			return i
		}
	}
	t.Fatalf("no rule %d", n)
	return 0
}

// reply answers a written question.
func reply(t *testing.T, w *World, others func(string) *World, question string) Answer {
	t.Helper()
	words := strings.SplitN(question, " ", 3)
	switch words[0] {
	case "applies":
		return w.Applies(number(t, w, words[1]))
	case "conflict":
		return w.Conflicts(number(t, w, words[1]), number(t, w, words[2]))
	case "wider":
		return w.Wider(others(words[1]))
	}
	q := Question{}
	switch words[1] {
	case "run":
		q.Kind = umpire.KindExec
		q.Line, q.Words = strings.CutSuffix(words[2], ":*")
	case "reach":
		q.Kind, q.Host = umpire.KindNetwork, words[2]
	default:
		if err := q.Kind.UnmarshalText([]byte(words[1])); err != nil {
			t.Fatal(err)
		}
		q.Patterns = []string{below(words[2])}
	}
	return w.Can(q)
}

func TestWrittenQuestions(t *testing.T) {
	t.Parallel()
	all, names := readQuestions(t)
	asked, decided := 0, 0
	for _, name := range names {
		p := all[name]
		w := world(t, p.level, p.rules...)
		others := func(other string) *World {
			made := world(t, p.level, all[other].rules...)
			return made
		}
		for _, q := range p.questions {
			a := reply(t, w, others, q[0])
			asked++
			if a.Result != Undecided {
				decided++
			}
			example := ""
			if a.Example != nil {
				example = a.Example.Call.Tool + " " + string(a.Example.Call.Input)
			}
			if a.Result.String() != q[1] {
				t.Errorf("%s: %s: %s, want %s; %s %s", name, q[0], a.Result, q[1], a.Why, example)
			}
		}
	}
	t.Logf("decided %d of %d questions", decided, asked)
	if asked < 200 || 100*decided < wantDecided*asked {
		t.Errorf("decided %d of %d questions, want %d in 100 of 200", decided, asked, wantDecided)
	}
}
