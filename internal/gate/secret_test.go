package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/secret"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// Secrets appear nowhere in the database, the events and the questions, but still reach the running
// command and the model.
func TestSecretsAreMaskedAndStillRun(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	key, err := secret.OpenKey(filepath.Join(d.home, "state"))
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := key.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	d.be.masker, d.be.sealer = key.Masker(), sealer
	token := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	password := "hunter" + "2hunter2"
	line := fmt.Sprintf("curl -H 'Authorization: Bearer %s' https://ann:%s@example.com/x && npm install x", token, password)
	s := d.session(umpire.Opening{})
	b := must(d.Submit(t.Context(), umpire.Submission{
		Session: s.ID, Batch: "m1", Epoch: s.Epoch, Calls: []umpire.Call{command("c", line)},
		Message: json.RawMessage(`{"text":` + quoted("I use "+token) + `}`),
	}))(t)
	if b.State != umpire.BatchWaiting {
		t.Fatalf("the batch is %s", b.State)
	}
	p := d.pending("c")
	if text := string(data(p)); strings.Contains(text, token) || strings.Contains(text, password) || !strings.Contains(text, "example.com") || !strings.Contains(text, "npm install x") {
		t.Errorf("the question shows %s", text)
	}
	d.approve("c", umpire.ScopeOnce)
	started := must(d.Start(t.Context(), umpire.Start{Session: s.ID, Batch: "m1", Call: "c", Epoch: s.Epoch}))(t)
	if !started.Go || !strings.Contains(string(started.Call.Input), token) || !strings.Contains(string(started.Call.Input), password) {
		t.Fatalf("what runs is %s", started.Call.Input)
	}
	must(d.Finish(t.Context(), umpire.Result{Session: s.ID, Batch: "m1", Call: "c", Status: umpire.ResultOK, Output: "token is " + token, Epoch: s.Epoch}))(t)
	c := must(d.conversations.Compose(t.Context(), s.ID, s.Epoch))(t)
	if got := c.Batches["m1"].Results[0].Output; got != "token is "+token {
		t.Errorf("the model reads %q", got)
	}
	if got := string(c.Messages[0].Content); !strings.Contains(got, token) {
		t.Errorf("the message is %q", got)
	}
	told := must(d.conversations.Read(t.Context(), umpire.ConversationQuery{Session: s.ID}))(t)
	if text := string(data(told)); strings.Contains(text, token) || !strings.Contains(text, "I use ") || !strings.Contains(text, "token is ") {
		t.Errorf("a person reads %s", text)
	}
	if text := string(data(must(d.Events(t.Context(), umpire.Filter{}))(t))); strings.Contains(text, token) || strings.Contains(text, password) {
		t.Error("an event has a secret")
	}
	d.shut()
	for _, name := range must(filepath.Glob(d.database + "*"))(t) {
		stored := must(os.ReadFile(name))(t)
		if bytes.Contains(stored, []byte(token)) || bytes.Contains(stored, []byte(password)) {
			t.Errorf("%s has a secret", filepath.Base(name))
		}
	}
}

// A grant remembers the approved call; if that contains a secret it must match exactly this call
// and still not be readable.
func TestSecretInARememberedCommand(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	key, err := secret.OpenKey(filepath.Join(d.home, "state"))
	if err != nil {
		t.Fatal(err)
	}
	if d.be.sealer, err = key.Sealer(); err != nil {
		t.Fatal(err)
	}
	d.be.masker = key.Masker()
	token := "ghp_" + strings.Repeat("zY3xW6vU9", 4)
	line := "npm install --token " + token
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", command("c1", line))
	d.run(s, d.approve("c1", umpire.ScopeSession))
	if b := d.submit(s, "m2", command("c2", line)); b.State != umpire.BatchRunning {
		t.Errorf("the same command is %s", b.State)
	} else {
		d.run(s, b)
	}
	if b := d.submit(s, "m3", command("c3", line+"x")); b.State != umpire.BatchWaiting {
		t.Errorf("another command is %s", b.State)
	}
	d.shut()
	for _, name := range must(filepath.Glob(d.database + "*"))(t) {
		if bytes.Contains(must(os.ReadFile(name))(t), []byte(token)) {
			t.Errorf("%s has a secret", filepath.Base(name))
		}
	}
}

// A command gives a secret away by the name before it; its words are shown without
// that name, on the card and on the timeline.
func TestSecretsOfACommandAreMaskedInItsWords(t *testing.T) {
	t.Parallel()
	const password = "hunter" + "2Hunter2"
	for name, line := range map[string]string{
		"variable of a program": "PGPASSWORD=" + password + " psql -c 'drop table x'",
		"exported":              "export API_TOKEN='" + password + "'; npm install x",
		"in a shell":            "sh -c 'DB_PASS=" + password + " ./x'",
		"behind a wrapper":      "sudo MYSQL_PWD=" + password + " mysql",
		"printed into a login":  "echo " + password + " | docker login --password-stdin",
		"used later":            "TOKEN=" + password + "; deploy $TOKEN",
		"denied":                "PASSWORD=" + password + " umpire approve x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTestGate(t)
			key := must(secret.OpenKey(filepath.Join(d.home, "state")))(t)
			d.be.masker, d.be.sealer = key.Masker(), must(key.Sealer())(t)
			s := d.session(umpire.Opening{})
			b := d.submit(s, "m1", command("c", line))
			shown := string(data(must(d.Events(t.Context(), umpire.Filter{}))(t)))
			if b.State == umpire.BatchWaiting {
				shown += string(data(d.pending("c")))
				d.run(s, d.approve("c", umpire.ScopeOnce))
				shown += string(data(must(d.Events(t.Context(), umpire.Filter{}))(t)))
			}
			if at := strings.Index(shown, password); at >= 0 {
				t.Errorf("a secret is shown: %s", shown[max(0, at-100):at+len(password)])
			}
			d.shut()
			for _, name := range must(filepath.Glob(d.database + "*"))(t) {
				if bytes.Contains(must(os.ReadFile(name))(t), []byte(password)) {
					t.Errorf("%s has a secret", filepath.Base(name))
				}
			}
		})
	}
}

// The reason of a refusal may quote a secret; the row of the call masks it as the event does.
func TestSecretInTheReasonOfARefusal(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	key := must(secret.OpenKey(filepath.Join(d.home, "state")))(t)
	d.be.masker, d.be.sealer = key.Masker(), must(key.Sealer())(t)
	token := "ghp_" + strings.Repeat("cX3dY6gZ9", 4)
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", command("c", "npm install x"))
	d.refuse("c", "revoke "+token+" first")
	if b := must(d.Batch(t.Context(), s.ID, "m1"))(t); strings.Contains(catalogue.English.Text(b.Calls[0].Reason), token) {
		t.Errorf("the batch shows %q", b.Calls[0].Reason)
	}
	d.shut()
	for _, name := range must(filepath.Glob(d.database + "*"))(t) {
		if bytes.Contains(must(os.ReadFile(name))(t), []byte(token)) {
			t.Errorf("%s has a secret", filepath.Base(name))
		}
	}
}
