package view

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// Placement writes where pods are as a table, with the pods themselves where they are asked for.
func Placement(w io.Writer, p *diagnose.Placement, pods bool, st Style) error {
	var b bytes.Buffer
	title := p.Object
	if p.Target != "" {
		title += " of " + p.Target
	}
	fmt.Fprintf(&b, "%s in namespace %s: %s, %s\n", title, p.Namespace, p.Size(), p.Strategy)
	for _, why := range p.Why {
		fmt.Fprintln(&b, why)
	}
	b.WriteByte('\n')
	rows := [][]string{{"SUBSET", "LIMIT", "WISH", "PODS", "READY", "WHY"}}
	for _, s := range p.Subsets {
		rows = append(rows, []string{s.Name, orDash(s.Limits), strconv.Itoa(s.Wish), strconv.Itoa(len(s.Pods)), strconv.Itoa(s.Ready), strings.Join(s.Why, "; ")})
	}
	if err := st.explained(&b, rows, placementGap); err != nil {
		return err
	}
	if pods {
		if err := placedPods(&b, p, st); err != nil {
			return err
		}
	}
	for line := range bytes.Lines(b.Bytes()) {
		if _, err := w.Write(append(bytes.TrimRight(line, " \n"), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// placementGap is the room between two columns here.
const placementGap = 3

// placedPods shows the pods of each subset.
func placedPods(b *bytes.Buffer, p *diagnose.Placement, st Style) error {
	b.WriteByte('\n')
	rows := [][]string{{"POD", "SUBSET", "NODE", "READY"}}
	for _, s := range p.Subsets {
		for _, pod := range s.Pods {
			rows = append(rows, []string{pod.Name, s.Name, orDash(pod.Node), strconv.FormatBool(pod.Ready)})
		}
	}
	if st.Width > 0 {
		rows = Fit(rows, st.Width, placementGap)
	}
	return aligned(b, rows, placementGap)
}
