package editor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// A fileChange is the change of one file.
type fileChange struct {
	Path string `json:"path"`
	Diff string `json:"diff"`
	Kind struct {
		Type string `json:"type"`
		Move string `json:"move_path"`
	} `json:"kind"`
}

// noteThread remembers the folder of a thread from a message.
func (p *CodexProxy) noteThread(text json.RawMessage) {
	var of struct {
		Thread struct {
			ID  string `json:"id"`
			Dir string `json:"cwd"`
		} `json:"thread"`
	}
	if json.Unmarshal(text, &of) == nil && of.Thread.ID != "" && filepath.IsAbs(of.Thread.Dir) {
		p.folders.Put(of.Thread.ID, filepath.Clean(of.Thread.Dir))
	}
}

// An item is Codex's report on a step of a turn.
type item struct {
	Thread string `json:"threadId"`
	Item   struct {
		ID      string          `json:"id"`
		Type    string          `json:"type"`
		Status  string          `json:"status"`
		Changes []fileChange    `json:"changes"`
		Output  json.RawMessage `json:"aggregatedOutput"`
		Result  json.RawMessage `json:"result"`
		Server  string          `json:"server"`
		Tool    string          `json:"tool"`
		Args    json.RawMessage `json:"arguments"`
	} `json:"item"`
	// ID and Changes are only set in a message about files.
	ID      string       `json:"itemId"`
	Changes []fileChange `json:"changes"`
}

// noteItem remembers the files that an item changes, because a question about them names only the
// item, and the calls of MCP servers' tools.
func (p *CodexProxy) noteItem(params json.RawMessage) {
	var about item
	if json.Unmarshal(params, &about) != nil {
		return
	}
	if about.Item.Type == "mcpToolCall" {
		p.tools.Put(toolOf(&about), about.Item.ID)
	}
	if about.Item.ID != "" {
		about.ID, about.Changes = about.Item.ID, about.Item.Changes
	}
	if len(about.Changes) > 0 {
		p.changes.Put(about.ID, about.Changes)
	}
}

// noteEnd reports the outcome of an accepted call to the judge.
func (p *CodexProxy) noteEnd(params json.RawMessage) {
	var about item
	if json.Unmarshal(params, &about) != nil {
		return
	}
	p.changes.Take(about.Item.ID)
	p.tools.Take(toolOf(&about))
	call, accepted := p.running.Take(about.Item.ID)
	if !accepted {
		return
	}
	project, _ := p.folders.Get(about.Thread)
	n := Notice{
		Kind: Finished, Session: call.Session, Project: project, Call: call,
		Output: about.Item.Output,
	}
	if len(n.Output) == 0 {
		n.Output = about.Item.Result
	}
	if about.Item.Status != "completed" {
		n.Kind = Failed
	}
	go p.Judge.Tell(p.relay.Context(), n)
}

// endQuestion processes the end of a question. It reports whether the editor has not seen it.
func (p *CodexProxy) endQuestion(params json.RawMessage) bool {
	var about struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &about) != nil {
		return false
	}
	key := jsonrpc.KeyOf(about.ID)
	stop, held := p.held[key]
	if held {
		delete(p.held, key)
		stop(context.Canceled)
	}
	_, settled := p.settled.Take(key)
	return held || settled
}

// maxItem leaves room for a suffix that distinguishes two questions about one item.
const maxItem = umpire.MaxID / 2

// A question is one question from Codex.
type question struct {
	project string
	item    string
	calls   []umpire.Call
}

// readQuestion reads a question.
func (p *CodexProxy) readQuestion(m *jsonrpc.Message) (q question, err error) {
	o, err := strictjson.ReadObject(m.Params)
	if err == nil {
		err = o.CheckSpelling()
	}
	if err != nil {
		return q, err
	}
	name := "threadId"
	if isLegacy(m.Method) {
		name = "conversationId"
	}
	thread, err := o.ID(name)
	if err != nil {
		return q, err
	}
	if q.item, q.calls, err = questions[m.Method](p, thread, o); err != nil {
		return q, err
	}
	project, known := p.folders.Get(thread)
	if !known || q.item == "" || len(q.item) > maxItem {
		return q, umpire.Errorf("thread %q, item %q: its working folder is unknown", thread, q.item)
	}
	q.project = project
	for i := range q.calls {
		p.counter++
		call := &q.calls[i]
		call.ID = umpire.CallID(fmt.Sprintf("%s-%s-%d", q.item, p.nonce[:8], p.counter))
		call.Session, call.Dir = umpire.SessionID(thread), cmp.Or(call.Dir, project)
	}
	return q, nil
}

// commandCalls returns the calls of a command, or of the input typed into one.
func (p *CodexProxy) commandCalls(_ string, o strictjson.Object) (item string, calls []umpire.Call, err error) {
	item, itemErr := o.ID("itemId")
	kind, kindErr := o.Text("kind")
	line, lineErr := o.Text("command")
	dir, dirErr := o.Text("cwd")
	if err = errors.Join(itemErr, kindErr, lineErr, dirErr); err != nil {
		return "", nil, err
	}
	network := o["networkApprovalContext"]
	switch {
	case kind == "writeStdin":
		return item, []umpire.Call{{Tool: "write_stdin", Input: encode(map[string]string{"command": line})}}, nil
	case kind != "" && kind != "command":
		return "", nil, errors.New("it is not about a command")
	case dir != "" && !filepath.IsAbs(dir):
		return "", nil, umpire.Errorf("cwd: want an absolute path, got %q", dir)
	case len(network) > 0 && string(network) != "null":
		calls, err = networkCalls(network, line)
		return item, calls, err
	case line == "":
		return "", nil, errors.New("it is not about a command")
	}
	return item, []umpire.Call{{Tool: "Bash", Dir: dir, Input: encode(map[string]string{"command": line})}}, nil
}

// fileCalls returns the calls for the files that an item changes.
func (p *CodexProxy) fileCalls(_ string, o strictjson.Object) (item string, calls []umpire.Call, err error) {
	item, err = o.ID("itemId")
	root, rootErr := o.Text("grantRoot")
	if err = errors.Join(err, rootErr); err != nil {
		return "", nil, err
	}
	changes, _ := p.changes.Get(item)
	calls, err = codexCalls(changes, root)
	return item, calls, err
}

// codexCalls returns the calls for file changes. It fails if root, a folder in which all files may be changed, is set.
func codexCalls(changes []fileChange, root string) (calls []umpire.Call, err error) {
	if root != "" {
		return nil, umpire.Errorf("it affects all files in %q", root)
	}
	for _, c := range changes {
		paths := []string{c.Path}
		tool := "Edit"
		switch {
		case c.Kind.Type == "add":
			tool = "Write"
		case c.Kind.Move != "":
			paths = append(paths, c.Kind.Move)
			tool = "Delete"
		case c.Kind.Type != "update":
			tool = "Delete"
		}
		for _, path := range paths {
			if !filepath.IsAbs(path) {
				return nil, umpire.Errorf("changes: want absolute paths, got %q", path)
			}
		}
		input := map[string]any{"paths": paths, "patch": c.Diff}
		if tool == "Write" {
			input = map[string]any{"file_path": c.Path, "content": c.Diff}
		}
		calls = append(calls, umpire.Call{Tool: tool, Input: encode(input)})
	}
	if len(calls) == 0 {
		return nil, errors.New("the changed files are unknown")
	}
	return calls, nil
}
