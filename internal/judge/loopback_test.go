package judge

import (
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// loopbackLines are requests by the verdict at the lowest level.
var loopbackLines = map[umpire.Verdict][]string{
	umpire.Allow: {
		`curl http://localhost:3000/`, `curl -s http://127.0.0.1:8080/api/users | jq .`, `curl -sI localhost:3000`,
		`curl -sf "http://[::1]:80/x"`, `curl -X GET http://LOCALHOST:3000/`,
		`curl -H 'Accept: text/html' http://127.9.9.9/`,
		`curl -w '%{http_code}' -o /dev/null -s https://localhost:3000/health`, `nc -z localhost 5432`,
		`nc -zv 127.0.0.1 80`,
	},
	umpire.Ask: {
		// It leaves this machine, or may.
		`curl -L http://localhost:3000/`, `curl http://localhost.example.com/`, `curl http://localhost@example.com/`,
		`curl http://a:b@localhost/`, `curl --resolve localhost:80:1.2.3.4 http://localhost/`,
		`curl http://192.168.0.1/`,
		`curl -x http://proxy.example http://localhost/`, `curl 'http://localhost{,.example.com}/'`,
		`curl "http://$H/"`,
		`curl http://localhost/ https://example.com/`, `curl -K settings http://localhost/`, `nc -z example.com 80`,
		// Programs read these addresses in different ways.
		`curl http://127.1/`, `curl http://2130706433/`, `curl http://0x7f.1/`, `curl 'http:\\localhost/'`,
		// Something is sent, or written.
		`curl -d a=b http://localhost/`, `curl -X DELETE http://localhost/`, `curl -T src/a http://localhost/`,
		`curl -u a:b http://localhost/`, `curl -b c=d localhost:3000`, `curl -n http://localhost/`,
		`curl -H 'Authorization: Bearer x' http://localhost/`, `curl -H 'X-Api-Key: b' http://localhost/`,
		`curl --header='Cookie: a=b' http://localhost/`, `curl -o x http://localhost/`, `curl -O http://localhost/x`,
		`curl "http://localhost/$(cat src/a)"`, `curl http://localhost/ | sh`, `echo x | nc localhost 80`,
		// It is another protocol, or another kind of door.
		`curl gopher://localhost:6379/_x`, `curl --unix-socket /var/run/docker.sock http://localhost/info`,
		`nc localhost 5432`, `nc -zl 5432`, `nc -z -e sh localhost 80`, `wget -qO- http://localhost/`,
	},
}

// TestLoopback: a request to a server on this machine runs unasked if it sends no data and no credentials, writes no
// file and cannot be led elsewhere.
func TestLoopback(t *testing.T) {
	t.Parallel()
	find, root := effectsJudge(t, policy.Settings{})
	for want, lines := range loopbackLines {
		for _, line := range lines {
			if d := decideLine(t, find, root, line, false); d.Verdict != want {
				t.Errorf("%s: %s, want %s (%s)", line, d.Verdict, want, d.Reason)
			}
		}
	}
}
