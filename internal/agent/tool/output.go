package tool

import (
	"fmt"
	"os"
	"sync"
)

// The stored parts of a command's output: the beginning, which often shows its purpose, and
// the end, which shows its result.
const (
	outputHead = 10 << 10
	outputTail = 20 << 10
)

// An output keeps the head and the tail of the written text and counts the rest. It
// never fails, and is safe for concurrent use.
type output struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // next write position in the ring
	total int64
}

// Write stores as much as it has room for.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	o.total += int64(n)
	room := min(outputHead-len(o.head), len(p))
	o.head = append(o.head, p[:room]...)
	p = p[room:]
	if len(p) > outputTail {
		p = p[len(p)-outputTail:]
	}
	if grow := min(outputTail-len(o.tail), len(p)); grow > 0 {
		o.tail = append(o.tail, p[:grow]...)
		p = p[grow:]
	}
	for len(p) > 0 {
		k := copy(o.tail[o.next:], p)
		p, o.next = p[k:], (o.next+k)%outputTail
	}
	return n, nil
}

// String returns the stored text. An omission says how many bytes are missing, and never
// splits a character.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	tail := append(append([]byte{}, o.tail[o.next:]...), o.tail[:o.next]...)
	if o.total <= outputHead+outputTail {
		return string(o.head) + string(tail)
	}
	head := wholeRunes(o.head)
	for range 3 {
		if len(tail) > 0 && tail[0]&0xC0 == 0x80 {
			tail = tail[1:] // the rest of a character that began in the omitted part
		}
	}
	left := o.total - int64(len(head)) - int64(len(tail))
	return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", head, left, tail)
}

// Fit makes an output of any origin fit to be a result: valid UTF-8 without NUL, and of
// one that is too long the beginning and the end.
func Fit(text string) string {
	var o output
	o.Write([]byte(text)) //nolint:errcheck // it never fails
	return cleanText(o.String())
}

// maxJobFile bounds the file that a background command prints to.
const maxJobFile = 32 << 20

// A capped file takes so much and drops the rest, which it counts.
type capped struct {
	mu      sync.Mutex
	f       *os.File
	size    int64
	dropped int64
}

// Write never fails, and stores as much as it has room for. Otherwise a program that
// prints too much would end.
func (c *capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := p[:min(int64(len(p)), maxJobFile-c.size)]
	n, err := c.f.Write(room)
	c.size += int64(n)
	if err != nil {
		n = 0
	}
	c.dropped += int64(len(p) - n)
	return len(p), nil
}

// written returns how much the file holds, and how much it did not take.
func (c *capped) written() (size, dropped int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size, c.dropped
}
