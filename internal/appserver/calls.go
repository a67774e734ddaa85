package appserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/acp"
	"github.com/umpirehq/umpire/internal/jsonrpc"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// The questions of Codex that are judged.
const (
	methodCommand = "item/commandExecution/requestApproval"
	methodFiles   = "item/fileChange/requestApproval"
)

func isJudged(method string) bool { return method == methodCommand || method == methodFiles }

// A fileChange is what becomes of one file.
type fileChange struct {
	Path string `json:"path"`
	Diff string `json:"diff"`
	Kind struct {
		Type string `json:"type"`
		Move string `json:"move_path"`
	} `json:"kind"`
}

// noteThread remembers the folder of a thread that a message tells of.
func (p *Proxy) noteThread(text json.RawMessage) {
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

// noteChanges remembers the files that an item changes: the question names the item alone.
func (p *Proxy) noteChanges(params json.RawMessage) {
	var about struct {
		ItemID  string       `json:"itemId"`
		Changes []fileChange `json:"changes"`
		Item    struct {
			ID      string       `json:"id"`
			Changes []fileChange `json:"changes"`
		} `json:"item"`
	}
	if json.Unmarshal(params, &about) != nil {
		return
	}
	if about.Item.ID != "" {
		about.ItemID, about.Changes = about.Item.ID, about.Item.Changes
	}
	if len(about.Changes) > 0 {
		p.changes.Put(about.ItemID, about.Changes)
	}
}

// noteEnd tells the judge what became of a call that was accepted.
func (p *Proxy) noteEnd(params json.RawMessage) {
	var about struct {
		Item struct {
			ID     string          `json:"id"`
			Status string          `json:"status"`
			Output json.RawMessage `json:"aggregatedOutput"`
		} `json:"item"`
		Thread string `json:"threadId"`
	}
	if json.Unmarshal(params, &about) != nil {
		return
	}
	p.changes.Take(about.Item.ID)
	call, accepted := p.running.Take(about.Item.ID)
	if !accepted {
		return
	}
	project, _ := p.folders.Get(about.Thread)
	n := acp.Notice{
		Kind: acp.Finished, Session: call.Session, Project: project, Call: call,
		Output: about.Item.Output,
	}
	if about.Item.Status != "completed" {
		n.Kind = acp.Failed
	}
	go p.Judge.Tell(p.relay.Context(), n)
}

// endQuestion looks at the end of a question. It reports whether the editor has not seen it.
func (p *Proxy) endQuestion(params json.RawMessage) bool {
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

// itemOf is the item that a question is about.
func itemOf(params json.RawMessage) string {
	var about struct {
		ID string `json:"itemId"`
	}
	_ = json.Unmarshal(params, &about) // a question about none is not judged
	return about.ID
}

// maxItem leaves room for what tells two questions about one item apart.
const maxItem = umpire.MaxID / 2

// callsOf are the calls that a question stands for, and the project that they are made in.
func (p *Proxy) callsOf(m *jsonrpc.Message) (calls []umpire.Call, project string, err error) {
	o, err := strictjson.ReadObject(m.Params)
	if err == nil {
		err = o.CheckSpelling()
	}
	if err != nil {
		return nil, "", err
	}
	thread, err := o.ID("threadId")
	if err != nil {
		return nil, "", err
	}
	item, err := o.ID("itemId")
	if err != nil {
		return nil, "", err
	}
	project, known := p.folders.Get(thread)
	if !known || item == "" || len(item) > maxItem {
		return nil, "", umpire.Errorf("thread %q, item %q: the folder that it works in is not known", thread, item)
	}
	if m.Method == methodCommand {
		calls, err = commandCalls(o)
	} else {
		calls, err = p.fileCalls(o, item)
	}
	for i := range calls {
		p.counter++
		calls[i].ID = umpire.CallID(fmt.Sprintf("%s-%s-%d", item, p.nonce[:8], p.counter))
		calls[i].Session = umpire.SessionID(thread)
		if calls[i].Dir == "" {
			calls[i].Dir = project
		}
	}
	return calls, project, err
}

// commandCalls are those of a command, or of what is typed into one.
func commandCalls(o strictjson.Object) ([]umpire.Call, error) {
	kind, err := o.Text("kind")
	if err != nil {
		return nil, err
	}
	line, err := o.Text("command")
	if err != nil {
		return nil, err
	}
	dir, err := o.Text("cwd")
	if err != nil {
		return nil, err
	}
	network := o["networkApprovalContext"]
	switch {
	case kind == "writeStdin":
		return []umpire.Call{{Tool: "write_stdin", Input: encode(map[string]string{"command": line})}}, nil
	case kind != "" && kind != "command", line == "", len(network) > 0 && string(network) != "null":
		return nil, errors.New("it is not about a command alone")
	case dir != "" && !filepath.IsAbs(dir):
		return nil, umpire.Errorf("cwd: want an absolute path, got %q", dir)
	}
	return []umpire.Call{{Tool: "Bash", Dir: dir, Input: encode(map[string]string{"command": line})}}, nil
}

// fileCalls are those of the files that an item changes.
func (p *Proxy) fileCalls(o strictjson.Object, item string) (calls []umpire.Call, err error) {
	root, err := o.Text("grantRoot")
	switch {
	case err != nil:
		return nil, err
	case root != "":
		return nil, umpire.Errorf("it is about all files in %q", root)
	}
	changes, _ := p.changes.Get(item)
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
		return nil, errors.New("the files that it changes are not known")
	}
	return calls, nil
}

// encode writes a value as JSON without the end of a line.
func encode(v any) json.RawMessage { return bytes.TrimSpace(strictjson.EncodeLine(v)) }
