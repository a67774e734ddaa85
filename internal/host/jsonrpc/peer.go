package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/umpirehq/umpire"
)

// MaxMessage is the largest message that is forwarded. A whole file is one message.
const MaxMessage = 32 << 20

// ErrTooLarge means that a message is larger than MaxMessage.
var ErrTooLarge = umpire.Errorf("a message is larger than %d bytes", MaxMessage)

// A Peer is one of the two programs. Read must be called by one goroutine; Write is safe for
// concurrent use, and blocks while the program does not read.
type Peer struct {
	in *bufio.Reader

	mu  sync.Mutex
	out io.Writer
}

// NewPeer returns a program, given its output (in) and its input (out).
func NewPeer(in io.Reader, out io.Writer) *Peer {
	const buffer = 64 << 10
	return &Peer{in: bufio.NewReaderSize(in, buffer), out: out}
}

// Read returns the next line, with its end. The last line may lack one. The error is io.EOF after
// it, and ErrTooLarge for a line that is larger than MaxMessage.
func (p *Peer) Read() ([]byte, error) {
	var line []byte
	for {
		piece, err := p.in.ReadSlice('\n')
		if len(line)+len(piece) > MaxMessage {
			return nil, ErrTooLarge
		}
		line = append(line, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		}
		return line, err
	}
}

// Write writes a whole message, with a newline.
func (p *Peer) Write(message []byte) error {
	if !bytes.HasSuffix(message, []byte("\n")) {
		message = append(slices.Clip(message), '\n')
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.out.Write(message)
	return err
}
