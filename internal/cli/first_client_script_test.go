package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// A turnTaken is one request of a recorded client, with the answer of the old gate.
type turnTaken struct {
	Who    string            `json:"who"`
	Path   string            `json:"path"`
	Body   json.RawMessage   `json:"body"`
	Status int               `json:"status"`
	Answer json.RawMessage   `json:"answer"`
	Events []json.RawMessage `json:"events"` // of a stream
}

// A replay sends recorded requests, and remembers the values that differ every time.
type replay struct {
	ts    *testscript.TestScript
	names map[string]string // the values of the names in {{}}
	shown string            // the digest that the next answer needs
}

// replays: sends the requests of the recording in testdata to the gate. Each answer must
// contain the recorded one, under the same names and of the same kind; additions are
// fine. An old client has to learn only one thing: an answer names the digest of the
// shown card. Without it the gate refuses and says so.
func scriptReplays(ts *testscript.TestScript, _ bool, args []string) {
	file, err := os.Open(filepath.Join("testdata", args[0]))
	ts.Check(err)
	defer file.Close()
	r := &replay{ts: ts, names: map[string]string{"dir": ts.MkAbs(".")}}
	turns := 0
	for decoder := json.NewDecoder(file); decoder.More(); turns++ {
		var t turnTaken
		ts.Check(decoder.Decode(&t))
		if t.Events != nil {
			r.stream(&t)
			continue
		}
		r.turn(&t)
	}
	if turns < 10 {
		ts.Fatalf("only %d turns were recorded", turns)
	}
}

// turn sends one request and compares the answer.
func (r *replay) turn(t *turnTaken) {
	body := string(t.Body)
	for name, value := range r.names {
		body = strings.ReplaceAll(body, "{{"+name+"}}", value)
	}
	if strings.HasSuffix(t.Path, "/Resolve") {
		if status, text := r.post(t, body); status != http.StatusConflict || !strings.Contains(text, "shown_digest") {
			r.ts.Fatalf("an answer without the digest: status %d, %s", status, text)
		}
		body = strings.TrimSuffix(body, "}") + `,"shown_digest":"` + r.shown + `"}`
	}
	status, text := r.post(t, body)
	if status != t.Status {
		r.ts.Fatalf("%s: status %d, it was %d\n%s", t.Path, status, t.Status, text)
	}
	if strings.HasSuffix(t.Path, "/ListPending") {
		r.learn(text)
	}
	r.compare(t.Path, t.Answer, []byte(text))
}

func (r *replay) post(t *turnTaken, body string) (status int, text string) {
	request, transport := postRequest(r.ts, t.Who, strings.TrimPrefix(t.Path, "/umpire.v1."), body)
	status, text, err := send(request, transport)
	r.ts.Check(err)
	return status, text
}

// learn takes the names of the pending call out of an answer.
func (r *replay) learn(text string) {
	var list struct {
		Pending []struct {
			Request string `json:"request_id"`
			Hash    string `json:"args_hash"`
			Shown   string `json:"shown_digest"`
		} `json:"pending"`
	}
	r.ts.Check(json.Unmarshal([]byte(text), &list))
	if len(list.Pending) == 1 {
		r.names["request"], r.names["hash"], r.shown = list.Pending[0].Request, list.Pending[0].Hash, list.Pending[0].Shown
	}
}

// stream reads events until each of the recorded kinds has come, in their order.
func (r *replay) stream(t *turnTaken) {
	request, transport := postRequest(r.ts, t.Who, "", "")
	request.Method, request.Body, request.URL.Path, request.URL.RawQuery = http.MethodGet, nil, "/v1/events", "session=first1"
	request.ContentLength = 0
	response, err := (&http.Client{Transport: transport, Timeout: answerTime}).Do(request)
	r.ts.Check(err)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for _, was := range t.Events {
		for found := false; !found; {
			if !lines.Scan() {
				r.ts.Fatalf("the stream ended before an event like %s", was)
			}
			data, is := strings.CutPrefix(lines.Text(), "data: ")
			if found = is && kindOf([]byte(data)) == kindOf(was); found {
				r.compare(kindOf(was), was, []byte(data))
			}
		}
	}
}

func kindOf(event []byte) string {
	var e struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(event, &e) != nil {
		return ""
	}
	return e.Kind
}

// compare reports the parts of the recorded answer that the new one lacks.
func (r *replay) compare(where string, was, is []byte) {
	var before, now any
	r.ts.Check(json.Unmarshal(was, &before))
	r.ts.Check(json.Unmarshal(is, &now))
	if missing := missingIn(where, before, now); len(missing) > 0 {
		var laid bytes.Buffer
		r.ts.Check(json.Indent(&laid, is, "", "  "))
		r.ts.Fatalf("%s\n%s", strings.Join(missing, "\n"), laid.String())
	}
}

// missingIn lists the parts of a value that another one lacks: it must have every name,
// with a value of the same kind. Words of closed sets must be equal.
func missingIn(where string, was, is any) (missing []string) {
	switch was := was.(type) {
	case map[string]any:
		now, same := is.(map[string]any)
		if !same {
			return []string{where + " is no object any more"}
		}
		for _, name := range slices.Sorted(maps.Keys(was)) {
			if name == "match" {
				continue // a rule matches in one of several forms, and the gate chooses it
			}
			value, there := now[name]
			if !there {
				missing = append(missing, where+"."+name+" is gone")
				continue
			}
			missing = append(missing, missingIn(where+"."+name, was[name], value)...)
		}
	case []any:
		now, same := is.([]any)
		if !same || len(now) < min(1, len(was)) {
			return []string{where + " is no list any more, or an empty one"}
		}
		if strings.HasSuffix(where, ".events") {
			now = sameKinds(was, now) // there may be events of kinds that were not known then
			if len(now) < len(was) {
				return []string{fmt.Sprintf("%s lacks all from event %d on", where, len(now))}
			}
		}
		for i := range min(len(was), len(now)) {
			missing = append(missing, missingIn(fmt.Sprintf("%s[%d]", where, i), was[i], now[i])...)
		}
	default:
		if fmt.Sprintf("%T", was) != fmt.Sprintf("%T", is) {
			return []string{fmt.Sprintf("%s was %v and is %v", where, was, is)}
		}
		name := where[strings.LastIndexByte(where, '.')+1:]
		if slices.Contains([]string{"kind", "state", "verdict", "status", "permission_type", "permission_state", "risk_level", "go"}, name) && was != is {
			return []string{fmt.Sprintf("%s was %v and is %v", where, was, is)}
		}
	}
	return missing
}

// sameKinds picks the events that have the kinds of others, in their order.
func sameKinds(was, now []any) (picked []any) {
	kind := func(event any) any {
		fields, _ := event.(map[string]any)
		return fields["kind"]
	}
	for _, event := range now {
		if len(picked) < len(was) && kind(event) == kind(was[len(picked)]) {
			picked = append(picked, event)
		}
	}
	return picked
}
