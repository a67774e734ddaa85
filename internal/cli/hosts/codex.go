package hosts

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/view"
)

// remarkTrustCodex names the next step if Codex itself could not be asked.
const remarkTrustCodex = "Codex silently skips a hook that it does not trust: start codex, open /hooks and trust " +
	"umpire's, or run umpire setup codex again once codex is on PATH"

// trustCodex adds the hashes of umpire's hooks to Codex's configuration, or removes them.
// It asks Codex for them, because only Codex knows the hashes.
func (j *initJob) trustCodex(ctx context.Context, hooksFile string) error {
	path, err := setup.CodexTrust.Place.Path(j.UserHome(), j.Getenv)
	if err != nil {
		return app.Usage("", "%w", err)
	}
	before, info, err := readSettings(path)
	if err != nil {
		return app.Failed(err)
	}
	var wanted []setup.CodexHash
	if !j.undo {
		hooks, err := askCodexHooks(ctx, j.App)
		if err != nil {
			j.addWarning(j.Text.Of(remarkTrustCodex) + ": " + j.Text.Error(err))
			return nil
		}
		wanted, err = untrusted(hooks, hooksFile, before)
		switch {
		case err != nil:
			return app.Refused("umpire doctor codex", "%s: %w", path, err)
		case len(wanted) == 0:
			return nil
		}
	}
	after, gone, err := j.trustedConfig(path, before, wanted)
	if err != nil {
		return app.Refused("umpire doctor codex", "%s: %w", path, err)
	}
	change := settingsChange{file: setup.CodexTrust, path: path, before: before, after: after, existed: info != nil,
		remove: gone}
	if change.none() {
		return nil
	}
	if err := j.writeSettings(change, info); err != nil {
		return err
	}
	if !j.undo {
		fmt.Fprintf(j.Stderr, "umpire: "+j.Text.Of("Codex trusts the hook, by %s")+"\n", view.Visible(path))
	}
	return nil
}

// untrusted are the hashes to write for umpire's hooks: those that the configuration without
// umpire's own lines does not have.
func untrusted(hooks []codexHook, hooksFile string, config []byte) ([]setup.CodexHash, error) {
	rest, err := setup.CodexTrust.Uninstall(config)
	if err != nil {
		return nil, err
	}
	trusted, err := setup.TrustedCodex(rest)
	if err != nil {
		return nil, err
	}
	var wanted []setup.CodexHash
	for _, h := range hooks {
		if h.Own(hooksFile) && trusted[h.Key] != h.Hash {
			wanted = append(wanted, setup.CodexHash{Key: h.Key, Hash: h.Hash})
		}
	}
	return wanted, nil
}

// Own reports whether a hook is in umpire's file and starts umpire.
func (h *codexHook) Own(hooksFile string) bool {
	return resolved(h.SourcePath) == resolved(hooksFile) && setup.Codex.Owns(h.Command)
}

// trustedConfig returns Codex's configuration with the hashes, or as it was before them.
func (j *initJob) trustedConfig(path string, before []byte, hashes []setup.CodexHash) ([]byte, bool, error) {
	if j.undo {
		return j.without(path, before, setup.CodexTrust.Uninstall)
	}
	after, err := setup.TrustCodex(before, hashes)
	return after, false, err
}

// A codexHook is one hook as Codex lists it.
type codexHook struct {
	Key        string `json:"key"`
	Hash       string `json:"currentHash"`
	Trust      string `json:"trustStatus"`
	SourcePath string `json:"sourcePath"`
	Event      string `json:"eventName"`
	Enabled    bool   `json:"enabled"`
	Command    string `json:"command"`
}

// codexTime bounds asking Codex.
const codexTime = 20 * time.Second

// askCodexHooks has Codex list the hooks that it knows in this folder.
func askCodexHooks(ctx context.Context, a *app.App) (hooks []codexHook, err error) {
	found := lookPath(a.Getenv, "codex")
	if found == "" {
		return nil, errors.New("codex is not on PATH")
	}
	ctx, cancel := context.WithTimeout(ctx, codexTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, found, "app-server")
	cmd.Dir = a.Dir
	cmd.Env = []string{"PATH=" + a.Getenv("PATH"), "HOME=" + a.UserHome()}
	if dir := a.Getenv(setup.CodexTrust.Place.Variable); dir != "" {
		cmd.Env = append(cmd.Env, setup.CodexTrust.Place.Variable+"="+dir)
	}
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		cancel()
		_ = errors.Join(in.Close(), cmd.Wait()) // it was ended by us
	}()
	return listCodexHooks(json.NewEncoder(in), bufio.NewScanner(out), a.Dir)
}

// listCodexHooks speaks with Codex's app server.
func listCodexHooks(to *json.Encoder, from *bufio.Scanner, dir string) ([]codexHook, error) {
	type object = map[string]any
	from.Buffer(nil, 16<<20)
	ask := func(id int, method string, params object, result any) error {
		if err := to.Encode(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
			return err
		}
		for from.Scan() {
			var answer struct {
				ID     any             `json:"id"`
				Result json.RawMessage `json:"result"`
				Error  *struct {
					Message string `json:"message"`
				} `json:"error"`
			}
			if json.Unmarshal(from.Bytes(), &answer) != nil || answer.ID != float64(id) {
				continue
			}
			if answer.Error != nil {
				return umpire.Errorf("codex app-server, %s: %s", method, view.Visible(answer.Error.Message))
			}
			return json.Unmarshal(answer.Result, result)
		}
		return umpire.Errorf("codex app-server does not answer %s", method)
	}
	client := object{"name": "umpire", "title": "umpire", "version": "1"}
	var ignored any
	if err := ask(1, "initialize", object{"clientInfo": client}, &ignored); err != nil {
		return nil, err
	}
	if err := to.Encode(object{"jsonrpc": "2.0", "method": "initialized"}); err != nil {
		return nil, err
	}
	var listed struct {
		Data []struct {
			Hooks []codexHook `json:"hooks"`
		} `json:"data"`
	}
	if err := ask(2, "hooks/list", object{"cwds": []string{dir}}, &listed); err != nil {
		return nil, err
	}
	var hooks []codexHook
	for _, folder := range listed.Data {
		hooks = append(hooks, folder.Hooks...)
	}
	return hooks, nil
}
