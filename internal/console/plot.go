package console

import (
	"fmt"
	"strconv"
)

// drawTable draws a table of numbers. An unnamed column holds bars, which carry no extra information.
func drawTable(heads []string, rows part) node {
	head := func(name string) part {
		if name == "" {
			return element("td")
		}
		return element("th", attr("scope", "col"), written(name))
	}
	return element("table", element("thead", element("tr", each(heads, head))), element("tbody", rows))
}

// drawRow draws a row of a table: its name, then numbers, texts and bars.
func drawRow(cells ...any) node {
	all := parts{}
	for i, cell := range cells {
		tag := []part{}
		name := "td"
		if i == 0 {
			name, tag = "th", []part{attr("scope", "row")}
		}
		switch value := cell.(type) {
		case int:
			all = append(all, element(name, class("number"), written(strconv.Itoa(value))))
		case string:
			all = append(all, element(name, append(tag, written(value))...))
		case part:
			all = append(all, element(name, append(tag, value)...))
		default:
			panic(fmt.Sprintf("a cell of type %T", cell))
		}
	}
	return element("tr", all)
}

const barHeight = 8

// drawBar draws a bar of a length in percent.
func drawBar(of string, percent int) node {
	return drawPlot("bar", 100, barHeight, drawRect(of, 0, 0, min(percent, 100), barHeight))
}

// drawPlot draws shapes in its own units, stretched to the available space. Its numbers are written
// elsewhere.
func drawPlot(of string, width, height int, shapes part) node {
	return element("svg", class(of), attr("viewBox", fmt.Sprintf("0 0 %d %d", width, height)),
		attr("preserveAspectRatio", "none"), attr("aria-hidden", "true"), attr("focusable", "false"), shapes)
}

func drawRect(of string, x, y, width, height int) node {
	return element("rect", class(of), attr("x", strconv.Itoa(x)), attr("y", strconv.Itoa(y)),
		attr("width", strconv.Itoa(width)), attr("height", strconv.Itoa(height)))
}
