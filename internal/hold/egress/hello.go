package egress

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// The limits of a client hello. Those of browsers have two kilobytes.
const (
	maxHelloBytes   = 32 << 10 // of the message
	maxHelloRecords = 64
)

// Numbers of TLS.
const (
	recordHandshake   = 22
	recordAlert       = 21
	recordHeaderBytes = 5
	maxRecordBytes    = 16 << 10
	maxSealedBytes    = maxRecordBytes + 256
	messageHello      = 1
	messageAnswer     = 2
	messageHeader     = 4
	randomBytes       = 32
	versionMajor      = 3
	extensionName     = 0
	extensionECH      = 0xfe0d
	extensionESNI     = 0xffce // an early form of ECH
	extensionInner    = 0xfd00 // belongs into the encrypted part
	firstDraftECH     = 0xfe08
	nameIsHost        = 0
	helloOuter        = 0
)

// retryRandom is the random number of a server hello that asks for another client hello.
var retryRandom = []byte{
	0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
	0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
}

// answerHead is the length of a server hello up to the end of its random number.
const answerHead = recordHeaderBytes + messageHeader + 2 + randomBytes

// readHello reads the client hello at the start of a connection, which may span records, and returns its bytes if
// it names the destination as the server. The package reads it itself, more strictly than crypto/tls does: a hello
// that a server could read in another way is refused.
func readHello(in *bufio.Reader, to Destination) (raw []byte, reason Reason) {
	var message []byte
	for range maxHelloRecords {
		header := make([]byte, recordHeaderBytes)
		if _, err := io.ReadFull(in, header); err != nil {
			return nil, reasonOf(err, BadHello)
		}
		size := int(header[3])<<8 | int(header[4])
		if header[0] != recordHandshake || header[1] != versionMajor || size == 0 || size > maxRecordBytes {
			return nil, BadHello
		}
		raw = append(raw, header...)
		at := len(raw)
		raw = append(raw, make([]byte, size)...)
		if _, err := io.ReadFull(in, raw[at:]); err != nil {
			return nil, reasonOf(err, BadHello)
		}
		message = append(message, raw[at:]...)
		body, whole, reason := cutHello(message)
		if reason != 0 {
			return nil, reason
		}
		if whole {
			return raw, checkHello(body, to)
		}
	}
	return nil, BadHello
}

// cutHello returns the body of the hello as soon as the message is whole.
func cutHello(message []byte) (body fields, whole bool, reason Reason) {
	rest := fields(message)
	kind, _ := rest.number(1)
	size, sized := rest.number(3)
	switch {
	case kind != messageHello, size > maxHelloBytes:
		return nil, false, BadHello
	case !sized || len(rest) < size:
		return nil, false, 0
	case len(rest) > size: // another message in the same record has no place yet
		return nil, false, BadHello
	}
	return rest, true, 0
}

// checkHello compares the server name of a hello with the destination. A destination that is an address has no name
// to compare, so the hello must name no server, as RFC 6066 demands, or that address. The person listed such a
// destination as an address, and so means any server there.
func checkHello(body fields, to Destination) Reason {
	name, reason := serverName(body)
	_, isAddress := to.address()
	switch {
	case reason != 0:
		return reason
	case name == "" && isAddress:
		return 0
	case name == "":
		return NoServerName
	case strings.ToLower(name) != to.Host:
		return OtherServerName
	}
	return 0
}

// serverName returns the server name in a hello, or "" for a hello without one.
func serverName(body fields) (name string, reason Reason) {
	_, hasVersion := body.bytes(2 + randomBytes)
	_, hasSession := body.vector(1)
	_, hasCiphers := body.vector(2)
	_, hasCompression := body.vector(1)
	if !hasVersion || !hasSession || !hasCiphers || !hasCompression {
		return "", BadHello
	}
	if len(body) == 0 {
		return "", 0
	}
	extensions, good := body.vector(2)
	if !good || len(body) > 0 {
		return "", BadHello
	}
	seen := map[int]bool{}
	for len(extensions) > 0 {
		kind, _ := extensions.number(2)
		value, good := extensions.vector(2)
		if !good || seen[kind] {
			return "", BadHello
		}
		seen[kind] = true
		switch {
		case kind == extensionName:
			if name, good = hostIn(value); !good {
				return "", BadHello
			}
		case kind == extensionECH && !outerECH(value), kind == extensionESNI, kind == extensionInner,
			kind >= firstDraftECH && kind < extensionECH:
			return "", HiddenServerName
		}
	}
	return name, 0
}

// hostIn returns the host of a server_name extension, which lists exactly one.
func hostIn(value fields) (string, bool) {
	list, good := value.vector(2)
	kind, _ := list.number(1)
	name, named := list.vector(2)
	return string(name), good && named && len(value) == 0 && len(list) == 0 && kind == nameIsHost && len(name) > 0
}

// outerECH reports whether an encrypted_client_hello extension has the form that browsers send to all servers, as
// filler (GREASE). The outer name is checked as ever. By design the filler cannot be told from a hidden name, so this
// remains: if the destination's server also serves other sites and their shared key is known, a command may name one
// of them inside. Requests inside TLS can do the same at a server that does not compare them with the handshake.
func outerECH(value fields) bool {
	kind, _ := value.number(1)
	_, suite := value.bytes(4)
	_, config := value.bytes(1)
	_, key := value.vector(2)
	payload, good := value.vector(2)
	return kind == helloOuter && suite && config && key && good && len(payload) > 0 && len(value) == 0
}

// asksAgain waits for the start of the server's answer, and reports whether it asks for a second client hello. That one
// must be checked too: some servers take the name from it.
func asksAgain(in *bufio.Reader) (bool, Reason) {
	head, err := in.Peek(recordHeaderBytes)
	if err != nil || head[0] != recordHandshake {
		return false, 0 // an alert, or the end
	}
	head, err = in.Peek(answerHead)
	size := int(head[3])<<8 | int(head[4])
	if err != nil || size < answerHead-recordHeaderBytes || head[recordHeaderBytes] != messageAnswer {
		return false, BadResponse // servers do not split the start of their answer
	}
	return bytes.Equal(head[answerHead-randomBytes:], retryRandom), 0
}

// passSecondHello passes records on until a second client hello, which it checks. Before it stand early data and a
// change of ciphers, which mean nothing.
func passSecondHello(in *bufio.Reader, l *link) Reason {
	for {
		head, err := in.Peek(recordHeaderBytes)
		if err != nil {
			return reasonOf(err, BadHello)
		}
		if head[0] == recordHandshake {
			raw, reason := readHello(in, l.to)
			if reason == 0 {
				_, _ = l.Write(raw) // the next write fails too
			}
			return reason
		}
		size := int(head[3])<<8 | int(head[4])
		if size > maxSealedBytes {
			return BadHello
		}
		last := head[0] == recordAlert
		if _, err := io.CopyN(l, in, int64(recordHeaderBytes+size)); err != nil || last {
			return reasonOf(err, 0)
		}
	}
}

// fields are bytes that are read from the front. After a read beyond the end they are empty.
type fields []byte

func (f *fields) bytes(n int) (fields, bool) {
	if n > len(*f) {
		*f = nil
		return nil, false
	}
	taken := (*f)[:n]
	*f = (*f)[n:]
	return taken, true
}

// number reads a big-endian number of the given width.
func (f *fields) number(width int) (int, bool) {
	taken, good := f.bytes(width)
	n := 0
	for _, b := range taken {
		n = n<<8 | int(b)
	}
	return n, good
}

// vector reads bytes whose length stands before them, in a number of the given width.
func (f *fields) vector(width int) (fields, bool) {
	size, good := f.number(width)
	if !good {
		return nil, false
	}
	return f.bytes(size)
}
