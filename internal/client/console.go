package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// OpenConsole asks the gate to open its console, and copies its link and codes to a terminal until
// ctx ends or the gate goes away.
func OpenConsole(ctx context.Context, c *Client, lang string, terminal io.Writer) error {
	query := url.Values{"lang": {lang}}
	request, err := c.request(ctx, http.MethodPost, "/umpire.v1.Console/Open?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := c.do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(terminal, response.Body); err != nil && ctx.Err() == nil {
		return unreachable(err)
	}
	if ctx.Err() != nil {
		return nil
	}
	return unreachable(errGoingAway)
}
