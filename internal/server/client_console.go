package server

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// OpenConsole asks the gate to open its console, and follows it until ctx ends or the gate goes
// away: follow receives a sign-in link, and then the console's output, a line for each code. The
// link signs in the person with that name, or "", on another machine if remote is set.
func OpenConsole(
	ctx context.Context, c *Client, lang, person string, remote bool,
	follow func(link string, codes io.Reader) error,
) error {
	query := url.Values{"lang": {lang}, "name": {person}}
	if remote {
		query.Set("remote", "")
	}
	request, err := c.request(ctx, http.MethodPost, consolePath+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := c.do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	link, err := lines.ReadString('\n')
	if err == nil {
		err = follow(strings.TrimSpace(link), lines)
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return unreachable(err)
	}
	return unreachable(errGoingAway)
}
