package relay

import (
	"bytes"
	"strconv"
	"time"

	"github.com/umpirehq/umpire"
)

// MaxPayload is the largest payload that is read. The reader at the edge stops there too. Real
// payloads of 3 MB have been seen: a file being written whole.
const MaxPayload = 10 << 20

// A Question is an agent's question to its hook, with facts that only the hook's process can know.
type Question struct {
	// Agent is the agent that asked, such as claude.
	Agent string
	// Payload is the question in the agent's own words.
	Payload []byte
	// Project is the folder that the agent was started in, or "" if it does not say; Dir is the
	// hook's own.
	Project, Dir string
	// HostDir is the folder of the agent's own settings as registered with the hook, or "" for the
	// usual one. The environment never names it.
	HostDir string
	// Shell is the user's shell from the hook's environment, or "".
	Shell string
	// Attended means that the agent has a terminal at which somebody can be asked.
	Attended bool
	// Headless disables questions, as requested when the agent was started.
	Headless bool
	// Runner identifies the process that started the hook, see package runner.
	Runner string
	// Nonce is unique to this question; Again means that it was sent before and that the answer was
	// lost.
	Nonce string
	Again bool
	// Deadline is how long the answer may take.
	Deadline time.Duration
}

// questionHead begins a question on the line, with the version of its format.
const questionHead = "umpire-question 4"

// MaxQuestion bounds a question on the line.
const MaxQuestion = MaxPayload + maxQuestionHead

// maxQuestionHead bounds the part before the payload: four names of folders and processes, quoted.
const maxQuestionHead = 64 << 10

// Marshal writes a question as lines of quoted text, an empty line, and the payload. Quoting
// preserves names that are not UTF-8, which JSON would not.
func (q *Question) Marshal() []byte {
	out := make([]byte, 0, len(q.Payload)+512)
	out = append(out, questionHead...)
	for _, field := range q.fields() {
		out = strconv.AppendQuoteToASCII(append(out, '\n'), field.text())
	}
	return append(append(out, "\n\n"...), q.Payload...)
}

// A field converts a field of a question to text and back.
type field struct {
	text func() string
	read func(string) error
}

// fields returns the fields of a question except its payload, in the order of the line.
func (q *Question) fields() []field {
	text := func(at *string) field {
		return field{func() string { return *at }, func(s string) error { *at = s; return nil }}
	}
	flag := func(at *bool) field {
		return field{
			func() string { return strconv.FormatBool(*at) },
			func(s string) (err error) { *at, err = strconv.ParseBool(s); return err },
		}
	}
	deadline := field{
		func() string { return q.Deadline.String() },
		func(s string) (err error) { q.Deadline, err = time.ParseDuration(s); return err },
	}
	return []field{
		text(&q.Agent), text(&q.Project), text(&q.Dir), flag(&q.Attended), flag(&q.Headless),
		text(&q.Runner), text(&q.Nonce), flag(&q.Again), deadline, text(&q.HostDir), text(&q.Shell),
	}
}

// ReadQuestion reads a question off the line. Any deviation from the format is an error.
func ReadQuestion(data []byte) (Question, error) {
	var q Question
	head, payload, ok := bytes.Cut(data, []byte("\n\n"))
	if !ok || len(head) > maxQuestionHead || len(payload) > MaxPayload {
		return Question{}, umpire.Errorf("question: want lines of quoted text, an empty line and a payload of %d "+
			"bytes at most", MaxPayload)
	}
	lines := bytes.Split(head, []byte("\n"))
	fields := q.fields()
	if string(lines[0]) != questionHead || len(lines) != len(fields)+1 {
		return Question{}, umpire.Errorf("question: want %q and %d lines after it", questionHead, len(fields))
	}
	for i, f := range fields {
		text, err := strconv.Unquote(string(lines[i+1]))
		if err == nil {
			err = f.read(text)
		}
		if err != nil {
			return Question{}, umpire.Errorf("question: line %d: %w", i+2, err)
		}
	}
	q.Payload = payload
	return q, nil
}
