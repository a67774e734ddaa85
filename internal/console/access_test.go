//go:build unix

package console_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/umpirehq/umpire/internal/agent/fake"
)

// controls are the roles that a person acts on, each of which needs a name.
var controls = []string{
	"button", "link", "textbox", "searchbox", "combobox", "radio", "checkbox", "menuitem", "DisclosureTriangle", "dialog",
	"navigation", "form", "search",
}

// checkAccess checks a page from the view of assistive technology: every control has a name, there
// is one first heading, there are landmarks, and texts have enough contrast.
func checkAccess(t testing.TB, b *fake.Page) {
	t.Helper()
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
			Properties []struct {
				Name  string
				Value struct{ Value any }
			}
		}
	}
	b.Call(t, "Accessibility.enable", nil, nil)
	b.Call(t, "Accessibility.getFullAXTree", nil, &tree)
	seen := map[string]int{}
	for _, n := range tree.Nodes {
		if n.Ignored {
			continue
		}
		role, _ := n.Role.Value.(string)
		name, _ := n.Name.Value.(string)
		seen[role]++
		if slices.Contains(controls, role) && name == "" && role != "search" && role != "form" {
			t.Errorf("a %s has no name", role)
		}
		for _, p := range n.Properties {
			if level, _ := p.Value.Value.(float64); role == "heading" && p.Name == "level" && level == 1 {
				seen["h1"]++
			}
		}
	}
	for _, role := range []string{"main", "navigation", "h1"} {
		if seen[role] != 1 {
			t.Errorf("the page has %d of %s: %v", seen[role], role, seen)
		}
	}
	var faint []string
	if err := json.Unmarshal([]byte(b.Eval(t, contrastOf)), &faint); err != nil {
		t.Fatal(err)
	}
	for _, text := range faint {
		t.Errorf("too faint: %s", text)
	}
	if wide := b.Eval(t, `document.documentElement.scrollWidth > innerWidth`); wide != "false" {
		t.Error("the page is wider than the screen")
	}
}

// contrastOf lists the texts whose contrast is below 4.5, by the colours that they are drawn with.
const contrastOf = `(() => {
	const parse = (text) => { const n = text.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n };
	const light = ([r, g, b]) => { const f = (c) => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
		return .2126 * f(r) + .7152 * f(g) + .0722 * f(b) };
	const behind = (e) => { for (; e; e = e.parentElement) {
		const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > 0) return c } return [255, 255, 255] };
	const faint = [];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
		if (!text || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || e.closest("option, :disabled")) continue;
		let opacity = 1;
		for (let at = e; at; at = at.parentElement) opacity *= getComputedStyle(at).opacity;
		const under = behind(e), over = parse(getComputedStyle(e).color).slice(0, 3).map((c, i) => c * opacity + under[i] * (1 - opacity));
		const [a, b] = [light(over), light(under)].sort((x, y) => y - x);
		const ratio = (a + .05) / (b + .05);
		if (ratio < 4.5) faint.push(text.slice(0, 40) + " " + ratio.toFixed(2));
	}
	return JSON.stringify(faint) })()`
