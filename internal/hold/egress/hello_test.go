package egress

import (
	"bufio"
	"bytes"
	"slices"
	"testing"
)

var example = Destination{"example.com", 443}

func ech(parts ...byte) extension { return extension{0xfe0d, parts} }

// filler is the extension as browsers send it to all servers.
var filler = ech(slices.Concat([]byte{0, 0, 1, 0, 1, 77}, sized(2, make([]byte, 32)), sized(2, make([]byte, 144)))...)

// TestHello: a client hello must name the destination, in one way only.
func TestHello(t *testing.T) {
	t.Parallel()
	name := nameExtension("example.com")
	whole := message(name)
	address := Destination{"192.0.2.7", 443}
	long := message(name, extension{21, make([]byte, 33<<10)})
	for what, c := range map[string]struct {
		raw  []byte
		to   Destination
		want Reason
	}{
		"crypto/tls":            {helloOf("example.com"), example, 0},
		"by hand":               {inRecords(whole, 4096), example, 0},
		"upper case":            {inRecords(message(nameExtension("EXAMPLE.com")), 4096), example, 0},
		"several records":       {inRecords(whole, 9), example, 0},
		"a record per byte":     {inRecords(whole, 1), example, BadHello},
		"another name":          {helloOf("evil.example"), example, OtherServerName},
		"a parent":              {helloOf("com.example.com"), example, OtherServerName},
		"a final dot":           {inRecords(message(nameExtension("example.com.")), 4096), example, OtherServerName},
		"a zero byte":           {inRecords(message(nameExtension("example.com\x00.evil")), 4096), example, OtherServerName},
		"two names":             {inRecords(message(nameExtension("example.com", "evil.example")), 4096), example, BadHello},
		"the name twice":        {inRecords(message(name, name), 4096), example, BadHello},
		"two extensions":        {inRecords(message(name, nameExtension("evil.example")), 4096), example, BadHello},
		"an empty name":         {inRecords(message(nameExtension("")), 4096), example, BadHello},
		"no name":               {inRecords(message(), 4096), example, NoServerName},
		"no name, address":      {inRecords(message(), 4096), address, 0},
		"crypto/tls, address":   {helloOf("192.0.2.7"), address, 0},
		"its address as a name": {inRecords(message(nameExtension("192.0.2.7")), 4096), address, 0},
		"a name at an address":  {helloOf("evil.example"), address, OtherServerName},
		"filler":                {inRecords(message(name, filler), 4096), example, 0},
		"filler, another name":  {inRecords(message(nameExtension("evil.example"), filler), 4096), example, OtherServerName},
		"filler, no name":       {inRecords(message(filler), 4096), example, NoServerName},
		"an inner hello":        {inRecords(message(name, ech(1)), 4096), example, HiddenServerName},
		"an empty ECH":          {inRecords(message(name, ech()), 4096), example, HiddenServerName},
		"a long ECH":            {inRecords(message(name, ech(append(filler.data, 0)...)), 4096), example, HiddenServerName},
		"an early ECH":          {inRecords(message(name, extension{0xfe0a, nil}), 4096), example, HiddenServerName},
		"ESNI":                  {inRecords(message(name, extension{0xffce, []byte{1}}), 4096), example, HiddenServerName},
		"too long":              {inRecords(long, 16<<10), example, BadHello},
		"more in the record":    {inRecords(append(slices.Clone(whole), 1), 4096), example, BadHello},
		"an empty record":       {append([]byte{22, 3, 1, 0, 0}, inRecords(whole, 4096)...), example, BadHello},
		"another message":       {inRecords([]byte{2, 0, 0, 1, 0}, 4096), example, BadHello},
		"cut short":             {inRecords(whole, 4096)[:30], example, BadHello},
		"another record":        {append(inRecords(whole[:20], 20), 23, 3, 3, 0, 1, 0), example, BadHello},
		"SSL 2":                 {[]byte{0x16, 2, 0, 0, 1, 1}, example, BadHello},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			raw, reason := readHello(bufio.NewReader(bytes.NewReader(append(slices.Clone(c.raw), "rest"...))), c.to)
			if reason != c.want {
				t.Errorf("the reason is %d (%s), want %d", reason, reason.Say(c.to), c.want)
			}
			if reason == 0 && !bytes.Equal(raw, c.raw) {
				t.Errorf("passed %d bytes on, want %d", len(raw), len(c.raw))
			}
		})
	}
}

// TestHelloCutAnywhere: no hello that lacks bytes passes.
func TestHelloCutAnywhere(t *testing.T) {
	t.Parallel()
	raw := helloOf("example.com")
	for n := range raw {
		if _, reason := readHello(bufio.NewReader(bytes.NewReader(raw[:n])), example); reason != BadHello {
			t.Errorf("the reason after %d bytes is %d", n, reason)
		}
	}
}

func FuzzHello(f *testing.F) {
	f.Add(helloOf("example.com"))
	f.Add(helloOf("evil.example"))
	f.Add(inRecords(message(nameExtension("example.com"), filler), 7))
	f.Add([]byte{22, 3, 1, 0, 4, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		raw, reason := readHello(bufio.NewReader(bytes.NewReader(data)), example)
		if reason != 0 {
			return
		}
		if !bytes.HasPrefix(data, raw) || !bytes.Contains(bytes.ToLower(joinRecords(raw)), []byte("example.com")) {
			t.Errorf("passed %q on", raw)
		}
	})
}

// joinRecords returns the contents of records.
func joinRecords(raw []byte) (all []byte) {
	for len(raw) > 5 {
		size := min(int(raw[3])<<8|int(raw[4]), len(raw)-5)
		all, raw = append(all, raw[5:5+size]...), raw[5+size:]
	}
	return all
}
