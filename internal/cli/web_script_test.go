package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// web FILE...: serves the script's files on this machine, and replaces WEB in the named files with
// the server's address.
func scriptWeb(ts *testscript.TestScript, _ bool, args []string) {
	server := httptest.NewServer(http.FileServer(http.Dir(ts.Getenv("WORK"))))
	ts.Defer(server.Close)
	for _, name := range args {
		text := strings.ReplaceAll(ts.ReadFile(name), "WEB", server.URL)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}
