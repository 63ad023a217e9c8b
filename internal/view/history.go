package view

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/mask"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Revision is one stored template of a workload.
type Revision struct {
	Number int64
	Name   string
	// Present is the one that the workload has now.
	Present bool
	// First is the oldest on record: what it changed is not known.
	First bool
	// Pods is how many carry it.
	Pods int
	// Cause is why it came, "" where nobody said so.
	Cause  string
	Fields []rules.FieldChange
	Mode   rules.UpdateMode
	// Template is what pods were made from, as decoded JSON; it is written in full style,
	// without what is likely to be secret.
	Template map[string]any
}

// History writes revisions, the oldest first; in full style with all values that
// changed.
func History(w io.Writer, name string, list []Revision, st Style) error {
	if len(list) == 0 {
		_, err := fmt.Fprintf(w, "%s has no revisions\n", name)
		return err
	}
	b := &builder{st: st}
	if st.Full {
		for _, r := range list {
			b.line("%s revision %d (%s), %s", name, r.Number, r.Name, plural(r.Pods, "pod"))
			if r.Cause != "" {
				b.line("change cause: %s", r.Cause)
			}
			b.fields(fields(r.Fields), r.Mode)
			b.template(r.Template)
		}
		return b.write(w)
	}
	rows := [][]string{{"REVISION", "NAME", "PODS", "CHANGED", "PODS WERE", "CHANGE-CAUSE"}}
	for _, r := range list {
		number := strconv.FormatInt(r.Number, 10)
		if r.Present {
			number += " (present)"
		}
		rows = append(rows, []string{number, r.Name, strconv.Itoa(r.Pods), changedText(r), wereText(r), cmp.Or(r.Cause, "<none>")})
	}
	return st.table(w, rows)
}

// template writes a template as YAML.
func (b *builder) template(t map[string]any) {
	if len(t) == 0 {
		return
	}
	text, err := yaml.Marshal(mask.Object(t))
	if err != nil {
		return // decoded JSON always encodes
	}
	b.line("template:")
	for line := range strings.SplitSeq(strings.TrimRight(string(text), "\n"), "\n") {
		b.line("  %s", line)
	}
}

// mostPaths is how many changed fields a row names.
const mostPaths = 2

func changedText(r Revision) string {
	if r.First {
		return "-"
	}
	var paths []string
	for _, f := range r.Fields {
		paths = append(paths, f.Path)
	}
	if len(paths) > mostPaths {
		paths = append(paths[:mostPaths], fmt.Sprintf("%d more", len(paths)-mostPaths))
	}
	return orDash(strings.Join(paths, ", "))
}

func wereText(r Revision) string {
	if r.First {
		return "-"
	}
	return orDash(doneTo[r.Mode])
}
