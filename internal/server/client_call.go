package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/umpirehq/umpire"
)

// maxAnswer is the largest answer that is read: a conversation may be long.
const maxAnswer = 256 << 20

// call calls a procedure such as "GateService/Check".
func call[Out any](ctx context.Context, c *Client, procedure string, in any) (Out, error) {
	var out, none Out
	data, err := c.post(ctx, procedure, in)
	if err != nil {
		return none, err
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return none, umpire.Errorf("%s: the answer cannot be read: %w", procedure, err)
	}
	return out, nil
}

// post returns the answer of a procedure.
func (c *Client) post(ctx context.Context, procedure string, in any) ([]byte, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, umpire.Errorf("%s: %w", procedure, err)
	}
	request, err := c.request(ctx, http.MethodPost, "/umpire.v1."+procedure, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Connect-Protocol-Version", "1")
	if deadline, ok := ctx.Deadline(); ok {
		left := max(1, time.Until(deadline).Milliseconds())
		request.Header.Set("Connect-Timeout-Ms", strconv.FormatInt(left, 10))
	}
	response, err := c.do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, unreachable(err)
	case len(data) > maxAnswer:
		return nil, umpire.Errorf("%s: the answer is larger than %d bytes", procedure, maxAnswer)
	}
	return data, nil
}

func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Umpire-Phrases", "codes")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.Name != "" {
		request.Header.Set("Umpire-Client", c.Name)
	}
	return request, nil
}

// do sends a request. It returns a response without an error only on success.
func (c *Client) do(request *http.Request) (*http.Response, error) {
	response, err := c.http.Do(request)
	if err != nil {
		if ended := request.Context().Err(); ended != nil {
			return nil, ended
		}
		return nil, unreachable(err)
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	return nil, errorOf(response)
}

// Ping checks that the gate is there and accepts the credential.
func (c *Client) Ping(ctx context.Context) error {
	request, err := c.request(ctx, http.MethodGet, "/healthz", nil)
	if err != nil {
		return err
	}
	response, err := c.do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
