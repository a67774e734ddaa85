package view

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 90 * time.Second: "1m30s", 5 * time.Minute: "5m", 2 * time.Hour: "2h", 10 * time.Second: "10s", 90 * time.Minute: "1h30m",
		2*time.Hour + time.Second: "2h0m1s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}
