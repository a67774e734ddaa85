package editor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
	"github.com/umpirehq/umpire/shell"
)

// Older editors start turns by an older method, and older releases ask about those with older
// approval requests. They are judged like the new ones.
const (
	methodLegacyCommand = "execCommandApproval"
	methodLegacyFiles   = "applyPatchApproval"
	methodLegacyTurn    = "sendUserTurn"
)

// fromEditor forwards a message of the editor. A message that begins a turn of the older kind
// contains the folder of the conversation, which Codex's answers do not.
func (p *CodexProxy) fromEditor(line []byte) error {
	if bytes.Contains(line, []byte(methodLegacyTurn)) {
		// Reading must not wait for a message that the editor does not read yet.
		p.relay.Go(func(context.Context) error { p.noteTurn(line); return nil })
	}
	return p.Codex.Write(line)
}

// noteTurn remembers the folder from a turn of the older kind.
func (p *CodexProxy) noteTurn(line []byte) {
	m, err := jsonrpc.Parse(line)
	if err != nil || m.Method != methodLegacyTurn {
		return
	}
	var turn struct {
		Conversation string `json:"conversationId"`
		Dir          string `json:"cwd"`
	}
	if json.Unmarshal(m.Params, &turn) != nil || turn.Conversation == "" || !filepath.IsAbs(turn.Dir) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.folders.Put(turn.Conversation, filepath.Clean(turn.Dir))
}

// isLegacy reports whether a question is in the form of older releases.
func isLegacy(method string) bool {
	return method == methodLegacyCommand || method == methodLegacyFiles
}

// legacyAnswer returns an answer in the form of older releases.
func legacyAnswer(accept bool) any {
	if accept {
		return map[string]string{"decision": "approved"}
	}
	// Releases without this object form treat an unreadable answer as no.
	denied := map[string]any{"denied": map[string]string{"rejection": "denied by umpire"}}
	return map[string]any{"decision": denied}
}

// legacyCommandCalls returns the calls of a command, which is a list of words.
func (p *CodexProxy) legacyCommandCalls(_ string, o strictjson.Object) (item string, calls []umpire.Call, err error) {
	item, itemErr := o.ID("callId")
	words, wordsErr := o.Texts("command")
	dir, dirErr := o.Text("cwd")
	switch err = errors.Join(itemErr, wordsErr, dirErr); {
	case err != nil:
		return "", nil, err
	case len(words) == 0:
		return "", nil, errors.New("it is not about a command")
	case !filepath.IsAbs(dir):
		return "", nil, umpire.Errorf("cwd: want an absolute path, got %q", dir)
	}
	line := &strings.Builder{}
	for i, word := range words {
		if i > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(shell.Quote(word))
	}
	input := map[string]string{"command": line.String()}
	return item, []umpire.Call{{Tool: "Bash", Dir: dir, Input: encode(input)}}, nil
}

// legacyFileCalls returns the calls of a patch, which the question itself contains.
func (p *CodexProxy) legacyFileCalls(_ string, o strictjson.Object) (item string, calls []umpire.Call, err error) {
	item, err = o.ID("callId")
	var files map[string]struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		Diff    string `json:"unified_diff"`
		Move    string `json:"move_path"`
	}
	if err == nil {
		err = json.Unmarshal(o["fileChanges"], &files)
	}
	root, rootErr := o.Text("grantRoot")
	if err = errors.Join(err, rootErr); err != nil {
		return "", nil, err
	}
	var changes []fileChange
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := files[path]
		change := fileChange{Path: path, Diff: cmp.Or(f.Diff, f.Content)}
		change.Kind.Type, change.Kind.Move = f.Type, f.Move
		changes = append(changes, change)
	}
	calls, err = codexCalls(changes, root)
	return item, calls, err
}
