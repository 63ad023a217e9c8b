package describe

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"
)

// page is a description as it grows.
type page struct{ text strings.Builder }

// row writes a title and what stands beside it, the titles of all pages in a column of
// one width.
func (p *page) row(title, format string, args ...any) {
	fmt.Fprintf(&p.text, "%-*s%s\n", width, title+":", fmt.Sprintf(format, args...))
}

// width is that of the column of titles, as in the older plugin
// (docs/facts/older-plugin.md#describe-get-completion).
const width = 19

// set writes keys with their values, one a line.
func (p *page) set(title string, values map[string]string, without ...string) {
	var lines []string
	for k, v := range values {
		if !slices.Contains(without, k) {
			lines = append(lines, k+"="+strings.Join(strings.Fields(v), " "))
		}
	}
	slices.Sort(lines)
	if len(lines) == 0 {
		lines = []string{"<none>"}
	}
	p.row(title, "%s", lines[0])
	for _, l := range lines[1:] {
		fmt.Fprintf(&p.text, "%*s%s\n", width, "", l)
	}
}

// tree writes a part of an object as it is written in a manifest.
func (p *page) tree(title string, v map[string]any) {
	if len(v) == 0 {
		return
	}
	// What was read from JSON can be written.
	out, _ := yaml.Marshal(v)
	p.block(title, string(out))
}

// block writes a text below its title.
func (p *page) block(title, text string) {
	fmt.Fprintf(&p.text, "%s:\n", title)
	for line := range strings.Lines(text) {
		p.text.WriteString("  " + line)
	}
}

// table writes rows below a title, the first of them with the names of the columns; a
// table without others says that there is nothing.
func (p *page) table(title string, rows [][]string) {
	if len(rows) < 2 {
		p.row(title, "<none>")
		return
	}
	p.block(title, aligned(rows))
}

// aligned writes rows with their columns one below the other.
func aligned(rows [][]string) string {
	var out bytes.Buffer
	t := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		_, _ = fmt.Fprintln(t, strings.Join(r, "\t")) // a buffer takes everything
	}
	_ = t.Flush()
	return out.String()
}
