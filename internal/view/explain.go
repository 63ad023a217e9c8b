package view

import (
	"io"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Explanations writes one row per pod template and SidecarSet.
func Explanations(w io.Writer, list []stage.Explanation) error {
	rows := [][]string{{"TEMPLATE", "SIDECARSET", "INJECTED", "WHY"}}
	for _, e := range list {
		injected := "no"
		if e.Injected {
			injected = "yes"
		}
		rows = append(rows, []string{e.Template.String(), e.SidecarSet, injected, e.Reason})
	}
	if len(list) == 0 {
		_, err := io.WriteString(w, "no pod template met a SidecarSet\n")
		return err
	}
	return table(w, rows)
}
