package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// personPostsMain sends a request with the person's credential from a separate process, and prints
// the status with the name of the procedure, and the answer.
func personPostsMain() {
	if err := postAsPerson(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func postAsPerson(method, body string) error {
	state := filepath.Join(os.Getenv("HOME"), ".umpire", "state")
	token, err := os.ReadFile(filepath.Join(state, "person.token"))
	if err != nil {
		return err
	}
	host, transport := gateTransport("unix:" + filepath.Join(state, "umpire.sock"))
	request, err := http.NewRequest(http.MethodPost, "http://"+host+"/umpire.v1."+method, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	status, text, err := send(request, transport)
	if err == nil {
		fmt.Println(status, method, text)
	}
	return err
}
