package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// pageText converts a body to text: HTML becomes Markdown, other text stays as it is,
// and anything else is an error.
func pageText(at *url.URL, contentType string, body []byte) (string, error) {
	if contentType == "" {
		contentType = http.DetectContentType(body)
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || !isText(kind) {
		return "", fmt.Errorf("is %q, not text", visibleName(contentType[:min(len(contentType), 100)]))
	}
	text, err := decodeBody(body, contentType)
	if err != nil {
		return "", err
	}
	if kind == "text/html" || kind == "application/xhtml+xml" {
		if text, err = toMarkdown(at, text); err != nil {
			return "", err
		}
	}
	return withoutHidden(cleanText(text)), nil
}

func isText(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/ecmascript", "application/yaml",
		"application/x-yaml",
		"application/toml", "application/x-ndjson", "application/x-sh":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") ||
		strings.HasSuffix(kind, "+yaml")
}

// decodeBody converts a body to UTF-8, from the charset in its header or its beginning.
func decodeBody(body []byte, contentType string) (string, error) {
	r, err := charset.NewReader(bytes.NewReader(body), contentType)
	if errors.Is(err, io.EOF) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read its characters: %w", err)
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// toMarkdown makes Markdown of HTML. Links become absolute.
func toMarkdown(at *url.URL, text string) (string, error) {
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return "", fmt.Errorf("read its HTML: %w", err)
	}
	convert := converter.NewConverter(
		converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()),
	)
	out, err := convert.ConvertNode(doc, converter.WithDomain(at.Scheme+"://"+at.Host))
	if err != nil {
		return "", fmt.Errorf("write it as Markdown: %w", err)
	}
	return string(out), nil
}

// withoutHidden takes out characters that a person does not see and a model reads:
// tags, and marks that turn the direction of text around.
func withoutHidden(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xE0000 && r <= 0xE007F || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}
