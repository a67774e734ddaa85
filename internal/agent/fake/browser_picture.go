//go:build unix

package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// Picture keeps a picture of the page in the folder that UMPIRE_PICTURES names.
func (p *Page) Picture(t testing.TB, name string) {
	t.Helper()
	folder := os.Getenv("UMPIRE_PICTURES")
	if folder == "" {
		return
	}
	data := p.capture(t, nil)
	if err := os.WriteFile(filepath.Join(folder, name+".png"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Image is the picture of the first element that a selector finds.
func (p *Page) Image(t testing.TB, selector string) image.Image {
	t.Helper()
	box := area{Scale: 1}
	text := p.Eval(t, fmt.Sprintf(`JSON.stringify(document.querySelector(%q).getBoundingClientRect())`, selector))
	if err := json.Unmarshal([]byte(text), &box); err != nil {
		t.Fatal(err)
	}
	seen, err := png.Decode(bytes.NewReader(p.capture(t, &box)))
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// An area is a part of a page.
type area struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Scale  float64 `json:"scale"`
}

// capture returns a PNG of an area, or of all that is visible.
func (p *Page) capture(t testing.TB, of *area) []byte {
	t.Helper()
	wanted := map[string]any{"format": "png"}
	if of != nil {
		wanted["clip"] = of
	}
	var shot struct{ Data []byte }
	p.Call(t, "Page.captureScreenshot", wanted, &shot)
	return shot.Data
}
