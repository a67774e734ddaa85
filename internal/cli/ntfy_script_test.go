package cli

import (
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/umpirehq/umpire/internal/agent/fake"
)

type ntfyKey struct{}

// ntfy [tls] TOKEN FILE...: starts a fake of ntfy. Access needs the token, except for publishing to the
// topics hook and replies. It replaces NTFY in the named files with its address. With tls, umpire trusts
// its certificate.
func scriptNtfy(ts *testscript.TestScript, _ bool, args []string) {
	tls := args[0] == "tls"
	if tls {
		args = args[1:]
	}
	server := fake.NewNtfy(tls)
	ts.Defer(server.Close)
	ts.Defer(server.CloseClientConnections)
	server.Token, server.Open = args[0], []string{"hook", "replies"}
	if tls {
		file := filepath.Join(ts.Getenv("WORK"), "ntfy.pem")
		ts.Check(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{
			Type: "CERTIFICATE", Bytes: server.Certificate().Raw,
		}), 0o600))
		ts.Setenv("SSL_CERT_FILE", file)
	}
	*ts.Value(ntfyKey{}).(*(*fake.Ntfy)) = server
	for _, name := range args[1:] {
		text := strings.ReplaceAll(ts.ReadFile(name), "NTFY", server.URL)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

// ntfy-gets TOPIC N: until a topic has N messages, which become standard output, one to a line.
func scriptNtfyGets(ts *testscript.TestScript, _ bool, args []string) {
	count, err := strconv.Atoi(args[1])
	ts.Check(err)
	got, arrived := (*ts.Value(ntfyKey{}).(*(*fake.Ntfy))).Wait(args[0], count)
	out := json.NewEncoder(ts.Stdout())
	out.SetEscapeHTML(false)
	for _, m := range got {
		ts.Check(out.Encode(m))
	}
	if !arrived {
		ts.Fatalf("%d messages, want %d", len(got), count)
	}
}

// ntfy-replies [TEXT]: publishes to the topic of replies like a button of the last notice with one,
// chosen by its label, or a literal text after "=". Without arguments it waits for a subscriber.
func scriptNtfyReplies(ts *testscript.TestScript, _ bool, args []string) {
	server := *ts.Value(ntfyKey{}).(*(*fake.Ntfy))
	if len(args) == 0 {
		if !server.WaitReader() {
			ts.Fatalf("nobody listens")
		}
		return
	}
	label := strings.Join(args, " ")
	if text, is := strings.CutPrefix(label, "="); is {
		server.Publish("replies", text)
		return
	}
	for _, m := range slices.Backward(server.Messages("a-topic-nobody-guesses")) {
		for _, a := range m.Actions {
			if a.Label == label {
				server.Publish("replies", a.Body)
				return
			}
		}
	}
	ts.Fatalf("no notice has a button %q", label)
}
