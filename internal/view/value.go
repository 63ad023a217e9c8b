package view

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// JSON writes v indented, with a final newline; < and & stay as they are.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// YAML writes v as one document.
func YAML(w io.Writer, v any) error {
	b, err := yaml.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// longest is how much of a value is shown unless everything is asked for.
const longest = 120

// value writes one value of a field in one line.
func (st Style) value(v any) string {
	text, ok := v.(string)
	if !ok || text == "" || strings.ContainsAny(text, "\n\t\r\x1b") {
		b, err := json.Marshal(v)
		if err != nil {
			b = fmt.Append(nil, v)
		}
		text = string(b)
	}
	if !st.Full && utf8.RuneCountInString(text) > longest {
		text = string([]rune(text)[:longest-1]) + "…"
	}
	return text
}

// cut shortens a line to the width of the terminal.
func (st Style) cut(line string) string {
	if st.Width <= 0 || st.Full || utf8.RuneCountInString(line) <= st.Width {
		return line
	}
	return string([]rune(line)[:max(st.Width-1, 0)]) + "…"
}
