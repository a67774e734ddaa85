package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/umpirehq/umpire"
)

// A Browser is the client of a connection to the console.
type Browser struct{ peer *peer }

// BrowserOf returns the client of a connection.
func BrowserOf(c net.Conn) *Browser { return &Browser{peerOf(c)} }

// Identify describes the client's process, as far as the system knows it. The text is
// stable for one browser; it differs between users, and between differently confined
// processes. The error tells why the process may not act for the person: it belongs to
// another user, or was started by a process that runs a session.
//
// A browser may be confined, as many are; a process with a person's credential may not.
func (b *Browser) Identify(ctx context.Context, sessions umpire.SessionReader) (string, error) {
	p := b.peer
	if p.channel != channelTCP || !p.hasOrigin() {
		return "", errors.New("the console is for browsers on this machine")
	}
	p.once.Do(p.findOrigin)
	switch {
	case p.err != nil:
		return "", umpire.Errorf("cannot tell which process the browser is: %w", p.err)
	case p.uid >= 0 && p.uid != os.Getuid():
		return "", errors.New("the browser belongs to another user")
	case tellsPeers && len(p.origin.itself) == 0:
		return "", errors.New("no process found that holds the connection")
	}
	runner, _, err := p.runner(ctx, sessions)
	if err != nil {
		return "", umpire.Errorf("%w: cannot determine the owner of sessions: %w", umpire.ErrNotRecorded, err)
	}
	if runner != nil {
		return "", umpire.Errorf("process %d, which runs a session, started the browser", runner.pid)
	}
	return fmt.Sprintf("uid %d; %s", p.uid, p.origin.objection), nil
}
