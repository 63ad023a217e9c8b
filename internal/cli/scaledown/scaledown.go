// Package scaledown has the verb that takes pods away which the caller names.
package scaledown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/edit"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
)

const long = `Scale down by deleting the named pods, and let the workload have as many fewer. Each must
be a pod of the workload that is not being deleted yet; nothing is written otherwise.

CloneSets put the names into spec.scaleStrategy.podsToDelete. Advanced StatefulSets
reserve the ordinals (spec.reserveOrdinals), which stay unused until they are taken out
of that list. Both are one write with spec.replicas.`

const example = `  kubectl kruise scaledown cloneset/web --pods web-x7k2p,web-9lqzd

  # as the older plugin had it
  kubectl kruise scaledown CloneSet web --pods web-x7k2p

  # what would be written
  kubectl kruise scaledown statefulset.apps.kruise.io/db --pods db-1 --dry-run=client -o yaml`

type options struct {
	edit.Verb

	pods []string
}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{Verb: edit.Verb{
		Factory: f, Done: "selective pod deletion", Remote: true, Single: true, Types: []string{"cloneset", "statefulset.apps.kruise.io"},
	}}
	o.Wrote = o.told
	c := &cobra.Command{
		Use: "scaledown TYPE/NAME --pods POD,…", Short: "Scale down by deleting the named pods", Long: long, Example: example,
		RunE: func(c *cobra.Command, args []string) error {
			if o.pods = tidy(o.pods); len(o.pods) == 0 {
				return command.Usagef("for instance --pods web-x7k2p", "must specify one pod name")
			}
			if err := o.Complete(c, args); err != nil {
				return err
			}
			return o.Each(args, func(u *unstructured.Unstructured) error { return o.down(c.Context(), u) })
		},
	}
	o.AddFlags(c)
	c.Flags().StringSliceVar(&o.pods, "pods", nil, "names of the pods to take away")
	// The error says that the flag does not exist, which it does.
	_ = c.RegisterFlagCompletionFunc("pods", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return completePods(f, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	return c
}

// completePods offers pods for the last name of a list.
func completePods(f *factory.Factory, typed string) []string {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	out := completion.CompGetResource(kubectl.Factory(f), "pods", typed[len(before):])
	for i := range out {
		out[i] = before + out[i]
	}
	return out
}

// tidy takes names as people type them: each once, without spaces around it.
func tidy(names []string) []string {
	var out []string
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// told is the line of the older plugin, for people only.
func (o *options) told(info *resource.Info) error {
	if o.Output() != "" || o.Only() {
		return nil
	}
	_, err := fmt.Fprintf(o.Factory.Streams.Out, "# %s delete pods %v successfully\n", info.Name, o.pods)
	return err
}
