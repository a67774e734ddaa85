package strictjson

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Lines come out whole, and one that is too long takes nothing along.
func TestReadLine(t *testing.T) {
	t.Parallel()
	const limit = 40
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[a-z]{0,60}`)).Draw(t, "lines")
		in := bufio.NewReaderSize(strings.NewReader(strings.Join(lines, "\n")), 16)
		for i, want := range lines {
			if i == len(lines)-1 && want == "" {
				break // the end of the line before
			}
			got, err := ReadLine(in, limit)
			switch {
			case len(want) > limit && !errors.Is(err, ErrLineTooLong):
				t.Fatalf("line %d of %d bytes: %v", i, len(want), err)
			case len(want) <= limit && (err != nil || string(got) != want):
				t.Fatalf("line %d: got %q, %v, want %q", i, got, err, want)
			}
		}
		if _, err := ReadLine(in, limit); !errors.Is(err, io.EOF) {
			t.Fatalf("after the last line: %v", err)
		}
	})
}

// The text is not put together at the start of every program that reads lines.
func TestLineLimitIsNamed(t *testing.T) {
	t.Parallel()
	if !strings.Contains(ErrLineTooLong.Error(), strconv.Itoa(MaxLine)) {
		t.Errorf("%v does not name %d", ErrLineTooLong, MaxLine)
	}
}
