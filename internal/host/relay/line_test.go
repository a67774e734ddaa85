package relay

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const goodAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nUmpire-Exit: 2\r\numpire-stdout: 4\r\nDate: now\r\n\r\nout\nerr"

func TestAnswerIsReadInAnyPieces(t *testing.T) {
	t.Parallel()
	want := Output{Stdout: []byte("out\n"), Stderr: []byte("err"), Exit: 2}
	for name, from := range map[string]io.Reader{
		"at once": strings.NewReader(goodAnswer), "byte by byte": iotest.OneByteReader(strings.NewReader(goodAnswer)),
	} {
		got, err := readAnswer(from)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// TestHostileAnswersAreErrors: a deviation from the format is not an answer, and only a gate that
// breaks off is asked again.
func TestHostileAnswersAreErrors(t *testing.T) {
	t.Parallel()
	with := func(part, other string) string { return strings.Replace(goodAnswer, part, other, 1) }
	for _, tt := range []struct {
		name, text, want string
		lost             bool
	}{
		{"nothing", "", "lost the connection", true},
		{"half a head", goodAnswer[:40], "lost the connection", true},
		{"half a body", goodAnswer[:len(goodAnswer)-1], "lost the connection", true},
		{"more than it says", goodAnswer + "x", "longer than announced", false},
		{"another protocol", "SSH-2.0-x\r\n\r\n", "not a gate", false},
		{"an old protocol", with("HTTP/1.1", "HTTP/1.0"), "not a gate", false},
		{"no length", with("Content-Length: 7\r\n", ""), "content-length", false},
		{"a negative length", with("Length: 7", "Length: -7"), "content-length", false},
		{"a huge length", with("Length: 7", "Length: 99999999"), "content-length", false},
		{"a header twice", with("Date: now", "Umpire-Exit: 0"), "invalid header", false},
		{"chunks", with("Date: now", "Transfer-Encoding: chunked"), "invalid header", false},
		{"no colon", with("Date: now", "Date"), "invalid header", false},
		{"no exit code", with("Umpire-Exit: 2\r\n", ""), "umpire-exit", false},
		{"an exit code that is none", with("Exit: 2", "Exit: 256"), "umpire-exit", false},
		{"more output than there is", with("stdout: 4", "stdout: 8"), "umpire-stdout", false},
		{"a head without end", "HTTP/1.1 200 OK\r\n" + strings.Repeat("a: b\r\n", maxHead), "larger than", false},
		{"a refusal", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 26\r\n\r\n" + `{"message":"who are you?"}`, "who are you?", false},
		{"a refusal without words", "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno", "answered 502", false},
		{"a gate that ends", "HTTP/1.1 503 X\r\nContent-Length: 41\r\n\r\n" + `{"reason_code":"draining","message":"by"}`, "by", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := readAnswer(strings.NewReader(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, ErrLost) != tt.lost {
				t.Errorf("%v, want %q, lost %t", err, tt.want, tt.lost)
			}
			if len(got.Stdout) > 0 {
				t.Errorf("an error stands beside %q", got.Stdout)
			}
		})
	}
}

// FuzzAnswer: whatever bytes a gate or an impostor sends, the result is only the answer that they
// spell out.
func FuzzAnswer(f *testing.F) {
	f.Add(goodAnswer)
	f.Add(goodAnswer + "x")
	f.Add("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		out, err := readAnswer(strings.NewReader(text))
		if err != nil && len(out.Stdout)+len(out.Stderr)+out.Exit != 0 {
			t.Errorf("an error stands beside an answer: %v", err)
		}
		if err == nil && (!strings.HasPrefix(text, "HTTP/1.1 200") || !strings.HasSuffix(text, string(out.Stdout)+string(out.Stderr))) {
			t.Errorf("%q gave %q", text, out.Stdout)
		}
	})
}

func TestQuestionTravelsWhole(t *testing.T) {
	t.Parallel()
	want := Question{
		Agent: "claude", Payload: []byte("{\"a\":\n\n\"\xff\"}"), Project: "/p/\xff\n\nx\"", Dir: "/d", Shell: "/bin/zsh", HostDir: "/c", Headless: true,
		Runner: "host:1:2", Nonce: "n", Again: true, Deadline: 595*time.Second + 1,
	}
	got, err := ReadQuestion(want.Marshal())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// FuzzQuestion: everything that is read as a question can be written.
func FuzzQuestion(f *testing.F) {
	f.Add((&Question{Agent: "claude", Payload: []byte("{}"), Deadline: time.Second}).Marshal())
	f.Add([]byte(questionHead + "\n\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := ReadQuestion(data)
		if err != nil {
			return
		}
		again, err := ReadQuestion(q.Marshal())
		if diff := cmp.Diff(q, again); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}
