package notice

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/console/webcrypto"
)

const subject = "https://umpire.example"

// pushTo makes a browser behind a fake service that has subscribed.
func pushTo(t *testing.T, push *Push) *fake.PushService {
	t.Helper()
	service := fake.NewPush()
	t.Cleanup(service.Close)
	key, err := push.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	service.Subscribe(key)
	b := Browser{
		Subscription: webcrypto.Subscription{Endpoint: service.Endpoint, Key: service.Key, Secret: service.Secret},
		SignIn:       service.URL,
	}
	if err := push.Add(&b); err != nil {
		t.Fatal(err)
	}
	return service
}

func newPush(t *testing.T) *Push {
	t.Helper()
	dir := t.TempDir()
	return &Push{
		Subject: subject, KeyFile: filepath.Join(dir, "keys", "notify", "key.pem"), File: filepath.Join(dir, "push.json"),
	}
}

// beginPush starts a notifier that sends by Web Push alone.
func beginPush(t *testing.T, g *fakeGate, push *Push, client *http.Client, commands bool) *Notifier {
	t.Helper()
	client.CheckRedirect = newClient().CheckRedirect
	c := Config{
		Gate: g, Report: filepath.Join(t.TempDir(), "notices.json"), Push: push, pause: time.Millisecond, pushClient: client,
		Warn: func(err error) { t.Log(err) },
	}
	c.Notify.After, c.Notify.Commands = time.Millisecond, commands
	n, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

func waitPush(t *testing.T, s *fake.PushService, count int) []fake.Push {
	t.Helper()
	got, arrived := s.Wait(count)
	if !arrived {
		t.Fatalf("%d messages, want %d; refused: %q", len(got), count, s.Refused())
	}
	return got
}

func deny(request string) umpire.Answer {
	return umpire.Answer{
		Request: umpire.RequestID(request), ArgsHash: "h", ShownDigest: "digest of " + request, Choice: umpire.Refuse,
	}
}

// A browser shows a waiting question, and then its answer in place of it. Nothing in a message can answer.
func TestPush(t *testing.T) {
	t.Parallel()
	g, push := newFakeGate(), newPush(t)
	service := pushTo(t, push)
	beginPush(t, g, push, service.Client(), false)
	g.ask(command("r1", "make secret-release"))
	first := waitPush(t, service, 1)[0]
	var said map[string]any
	if err := json.Unmarshal(first.Text, &said); err != nil {
		t.Fatal(err)
	}
	tag, _ := said["tag"].(string)
	want := map[string]any{
		"title": "Bash · medium", "text": "claude asks in shop", "tag": first.Topic, "card": "r1", "session": "s1",
	}
	if !maps.Equal(said, want) || tag == "" {
		t.Errorf("it says %s, want %v", first.Text, want)
	}
	if first.TTL != "43200" || first.Urgency != "high" || first.Subject != subject {
		t.Errorf("got %+v", first)
	}
	if _, err := g.Resolve(t.Context(), deny("r1")); err != nil {
		t.Fatal(err)
	}
	next := waitPush(t, service, 2)[1]
	if next.Topic != first.Topic || next.Urgency != "normal" || !strings.Contains(string(next.Text), "denied by ann") ||
		!strings.Contains(string(next.Text), `"quiet":true`) {
		t.Errorf("then %+v %s", next, next.Text)
	}
	if len(g.answers) != 1 {
		t.Errorf("%d answers", len(g.answers))
	}
	for _, message := range []string{string(first.Text), string(next.Text)} {
		if strings.Contains(message, "secret-release") || strings.Contains(message, "digest") {
			t.Errorf("it says too much: %s", message)
		}
	}
}

// The longest notice fits, with the command where the person allows that.
func TestPushOfACommand(t *testing.T) {
	t.Parallel()
	g, push := newFakeGate(), newPush(t)
	service := pushTo(t, push)
	g.root = "/work/" + strings.Repeat("项", 200)
	beginPush(t, g, push, service.Client(), true)
	p := command("r1", `echo "`+strings.Repeat("<&\\", 400))
	p.Tool, p.Agent = strings.Repeat("具", 200), strings.Repeat("员", 200)
	g.ask(p)
	if got := waitPush(t, service, 1)[0]; !strings.Contains(string(got.Text), `echo \"<&\\`) {
		t.Errorf("got %s", got.Text)
	}
}

// A browser that subscribes later gets later notices. One that the service no longer knows is
// removed, and so is one that a person removed.
func TestBrowsersComeAndGo(t *testing.T) {
	t.Parallel()
	g, push := newFakeGate(), newPush(t)
	first := pushTo(t, push)
	n := beginPush(t, g, push, first.Client(), false)
	g.ask(command("r1", "make"))
	waitPush(t, first, 1)
	second := pushTo(t, push) // all fakes have the same certificate
	third := pushTo(t, push)
	if err := push.Remove(func(b *Browser) bool { return b.SignIn == third.URL }); err != nil {
		t.Fatal(err)
	}
	first.Fail(http.StatusGone)
	g.ask(command("r2", "make"))
	waitPush(t, second, 1)
	await(t, func() bool {
		all, err := push.Browsers()
		return err == nil && len(all) == 1 && all[0].SignIn == second.URL
	})
	g.ask(command("r3", "make"))
	waitPush(t, second, 2)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := first.Wait(1); len(got) != 1 {
		t.Errorf("the first has %d messages", len(got))
	}
	if got, _ := third.Wait(0); len(got) != 0 {
		t.Errorf("the third has %d messages", len(got))
	}
	r, err := ReadReport(n.config.Report)
	if err != nil || len(r.Targets) != 1 || !strings.HasPrefix(r.Targets[0].Name, "push "+strings.TrimPrefix(second.URL, "https://")+" ") {
		t.Errorf("got %+v, %v", r, err)
	}
}

// await waits until a condition holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	late := time.After(2 * time.Minute)
	for !holds() {
		select {
		case <-ticks.C:
		case <-late:
			t.Fatal("it does not come to that")
		}
	}
}

// A busy service gets a notice again, one that redirects does not.
func TestPushIsTriedAgain(t *testing.T) {
	t.Parallel()
	g, push := newFakeGate(), newPush(t)
	service := pushTo(t, push)
	n := beginPush(t, g, push, service.Client(), false)
	service.Fail(http.StatusTooManyRequests, http.StatusServiceUnavailable)
	g.ask(command("r1", "make"))
	waitPush(t, service, 1)
	service.Fail(http.StatusTemporaryRedirect)
	g.ask(command("r2", "make"))
	await(t, func() bool { r := n.report.current(); return len(r.Targets) == 1 && r.Targets[0].Failed == 1 })
	if refused := service.Refused(); len(refused) > 0 {
		t.Errorf("a redirect is followed: %q", refused)
	}
}

// Nothing is sent to this machine or its network, even if a browser gave such an address.
func TestPushReachesOnlyThePublicWeb(t *testing.T) {
	t.Parallel()
	push := newPush(t)
	service := pushTo(t, push)
	_, port, _ := strings.Cut(strings.TrimPrefix(service.URL, "https://"), ":")
	for _, host := range []string{
		"localhost", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1", "192.168.1.1", "100.64.0.1", "0.0.0.0",
	} {
		b := Browser{Subscription: webcrypto.Subscription{
			Endpoint: "https://" + host + ":" + port + "/x", Key: service.Key, Secret: service.Secret,
		}}
		if err := push.Add(&b); err != nil {
			t.Fatal(err)
		}
	}
	results, err := Test(t.Context(), Config{Push: push})
	if err != nil || len(results) != 9 {
		t.Fatalf("got %+v, %v", results, err)
	}
	for _, r := range results {
		if !errors.Is(r.Err, errInner) || !isFinal(r.Err) {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
	}
	if refused := service.Refused(); len(refused) > 0 {
		t.Errorf("the service was reached: %q", refused)
	}
}

// The files are the owner's alone, and bounded.
func TestPushFiles(t *testing.T) {
	t.Parallel()
	push := newPush(t)
	service := pushTo(t, push)
	for _, path := range []string{push.File, push.KeyFile} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	key, _ := push.PublicKey()
	again := &Push{KeyFile: push.KeyFile, File: push.File}
	if other, err := again.PublicKey(); err != nil || other != key {
		t.Errorf("another key: %v", err)
	}
	for i := range maxBrowsers + 1 {
		b := Browser{Subscription: webcrypto.Subscription{
			Endpoint: "https://push.example/" + strings.Repeat("x", i), Key: service.Key, Secret: service.Secret,
		}}
		if err := push.Add(&b); (err == nil) != (i < maxBrowsers-1) { // the service's browser is there
			t.Errorf("browser %d: %v", i+1, err)
		}
	}
	all, err := push.Browsers()
	if err != nil || len(all) != maxBrowsers {
		t.Fatalf("%d browsers, %v", len(all), err)
	}
	if err := push.Add(&all[3]); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	if err := os.Chmod(push.KeyFile, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := push.PublicKey(); err == nil {
		t.Error("a key that others can read is used")
	}
	if _, err := Targets(Config{Push: push}); err == nil {
		t.Error("nothing is wrong with that key")
	}
	if results, err := Test(t.Context(), Config{Push: push}); err == nil || len(results) > 0 {
		t.Errorf("with that key: %+v, %v", results, err)
	}
	if err := os.WriteFile(push.File, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := push.Add(&all[0]); err == nil {
		t.Error("a broken file is overwritten")
	}
}

// However long the addresses of browsers are, as many as may subscribe can be read again.
func TestLongEndpoints(t *testing.T) {
	t.Parallel()
	push, service := newPush(t), fake.NewPush()
	t.Cleanup(service.Close)
	for i := range maxBrowsers + 1 {
		endpoint := fmt.Sprintf("https://push.example/%02d?", i)
		b := Browser{SignIn: strings.Repeat("s", 43), Subscription: webcrypto.Subscription{
			Endpoint: endpoint + strings.Repeat("&", 2048-len(endpoint)), Key: service.Key, Secret: service.Secret,
		}}
		if err := push.Add(&b); (err != nil) != (i == maxBrowsers) {
			t.Fatalf("browser %d: %v", i+1, err)
		}
	}
	if all, err := push.Browsers(); err != nil || len(all) != maxBrowsers {
		t.Errorf("got %d, %v", len(all), err)
	}
}

// A file of browsers that something else has written is named with its line, and nothing of it is lost.
func TestBrokenFileOfBrowsers(t *testing.T) {
	t.Parallel()
	push := newPush(t)
	service := pushTo(t, push)
	sound, err := os.ReadFile(push.File)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, made string) string { return strings.Replace(string(sound), old, made, 1) }
	for what, tt := range map[string]struct {
		text string
		line int
	}{
		"nothing": {"", 1}, "no list": {"{}", 1}, "null": {"null", 1}, "cut": {string(sound[:len(sound)-3]), 8},
		"something after it": {string(sound) + "[]", 9}, "a second name": {replace(`"added"`, `"adder"`), 2},
		"another type": {replace(`"endpoint": "`, `"endpoint": 1, "x": "`), 2},
		"in the clear": {replace("https://", "http://"), 2}, "a short secret": {replace(`"secret": "`, `"secret": "", "x": "`), 2},
		"no JSON":  {replace(`"sign_in"`, `sign_in`), 7},
		"too many": {"[\n" + strings.Repeat(strings.Trim(string(sound), "[]\n ")+",\n", maxBrowsers+1) + "]", 2},
	} {
		if err := os.WriteFile(push.File, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%s:%d: ", push.File, tt.line)
		_, err := push.Browsers()
		if err == nil || what != "too many" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", what, err, want)
		}
		again := Browser{Subscription: webcrypto.Subscription{
			Endpoint: "https://push.example/1", Key: service.Key, Secret: service.Secret,
		}}
		if push.Add(&again) == nil || push.Remove(func(*Browser) bool { return true }) == nil {
			t.Errorf("%s: it is changed", what)
		}
		if kept, err := os.ReadFile(push.File); err != nil || string(kept) != tt.text {
			t.Errorf("%s: %v, the file is %q", what, err, kept)
		}
	}
}

// A service that no longer knows a subscription ends that one, but not one that its browser has renewed meanwhile.
func TestSubscriptionMadeAnewStays(t *testing.T) {
	t.Parallel()
	push := newPush(t)
	service := pushTo(t, push)
	service.Fail(http.StatusGone)
	old, err := push.Browsers()
	if err != nil {
		t.Fatal(err)
	}
	key, err := push.readKey()
	if err != nil {
		t.Fatal(err)
	}
	target := &pushTarget{poster: poster{service.Client()}, push: push, to: old[0], key: key, now: time.Now}
	anew := old[0]
	anew.Secret = []byte(strings.Repeat("s", 16))
	if err := push.Add(&anew); err != nil {
		t.Fatal(err)
	}
	err = target.deliver(t.Context(), &notice{event: eventTest, request: "test"})
	all, readErr := push.Browsers()
	if !errors.Is(err, errGone) || readErr != nil || len(all) != 1 || all[0].ID() != anew.ID() {
		t.Errorf("%v, %v: left are %+v", err, readErr, all)
	}
}

// Two browsers at one push service have a line each in the report, and the notices of one say nothing of the other.
func TestBrowsersAtOneService(t *testing.T) {
	t.Parallel()
	push := newPush(t)
	service := pushTo(t, push)
	all, err := push.Browsers()
	if err != nil {
		t.Fatal(err)
	}
	second := all[0]
	second.Endpoint += "/second"
	if err := push.Add(&second); err != nil {
		t.Fatal(err)
	}
	g := newFakeGate()
	n := beginPush(t, g, push, service.Client(), false)
	g.ask(command("r1", "make"))
	await(t, func() bool {
		all := n.report.current().Targets
		return len(all) == 2 && all[0].Sent+all[0].Failed == 1 && all[1].Sent+all[1].Failed == 1
	})
	names, err := Targets(Config{Push: push})
	if err != nil || len(names) != 2 || names[0] == names[1] {
		t.Errorf("got %q, %v", names, err)
	}
}
