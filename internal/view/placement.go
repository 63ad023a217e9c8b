package view

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/places"
)

// Placement writes where pods are as a table, with the pods themselves where they are asked for.
func Placement(w io.Writer, p *places.Placement, pods bool) error {
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
	table := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(table, "SUBSET\tLIMIT\tWISH\tPODS\tREADY\tWHY")
	for _, s := range p.Subsets {
		limit := s.Limits
		if limit == "" {
			limit = "-"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%s\n", s.Name, limit, s.Wish, len(s.Pods), s.Ready, strings.Join(s.Why, "; "))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if pods {
		placedPods(&b, p)
	}
	_, err := w.Write(trimLines(b.Bytes()))
	return err
}

// placedPods shows the pods of each subset.
func placedPods(b *bytes.Buffer, p *places.Placement) {
	b.WriteByte('\n')
	table := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(table, "POD\tSUBSET\tNODE\tREADY")
	for _, s := range p.Subsets {
		for _, pod := range s.Pods {
			node := pod.Node
			if node == "" {
				node = "-"
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%t\n", pod.Name, s.Name, node, pod.Ready)
		}
	}
	_ = table.Flush() // into memory
}

// trimLines are the lines without spaces at their ends.
func trimLines(text []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		out.Write(bytes.TrimRight(line, " \n"))
		out.WriteByte('\n')
	}
	return out.Bytes()
}
