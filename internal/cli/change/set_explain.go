package change

import (
	"context"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// rolloutExplainer says, before an object is written, what should be known of the change.
type rolloutExplainer struct {
	*edit

	ctx    context.Context //nolint:containedctx // it lives for one call
	given  installation.GateFlags
	reader installation.GateReader
	wanted bool
	// again is [setting.again].
	again string
}

func (e *rolloutExplainer) explainWritten(before, after *unstructured.Unstructured) error {
	if e.wanted {
		if err := e.explain(before, after); err != nil {
			return err
		}
	}
	if e.Local() {
		return nil
	}
	if !e.Only() {
		if err := confirmBeside(e.ctx, e.Factory, before, after, e.again); err != nil {
			return err
		}
	}
	return e.owners(after)
}

func (e *rolloutExplainer) errors() io.Writer { return e.Factory.Streams.Err }

// explain describes what the change does to pods.
func (e *rolloutExplainer) explain(before, after *unstructured.Unstructured) error {
	group, kind := after.GroupVersionKind().Group, after.GetKind()
	switch {
	case cluster.IsWorkload(group, kind):
		return e.workload(before, after, "")
	case group == kruise.Group && kind == kruise.KindUnitedDeployment:
		return e.united(before, after)
	}
	_, err := fmt.Fprintf(e.errors(), "%s/%s: %s\n", strings.ToLower(kind), after.GetName(), unchangedReasons[kind])
	return err
}

// unchangedReasons are, for kinds that roll nothing out, when the new template counts.
var unchangedReasons = map[string]string{
	"Pod":                      "a running pod takes a new image in place, its container restarts; the API server refuses most other changes",
	"Job":                      "the API server refuses a new template: make a new Job",
	"CronJob":                  "Jobs that run stay as they are, the next ones have it",
	kruise.KindAdvancedCronJob: "Kruise refuses a new template: with --dry-run=client -o yaml, pipe it to 'kubectl kruise replace --force -f -'",
	kruise.KindBroadcastJob:    "pods that are there stay as they are, those made from now on have it",
	"ReplicationController":    "pods that are there stay as they are, those made from now on have it",
	"PodTemplate":              "no pods come from it",
}

// workload explains the change of a workload; of follows the count of pods.
func (e *rolloutExplainer) workload(before, after *unstructured.Unstructured, of string) error {
	old, err := cluster.ReadWorkload(tree.FromValue(before.Object))
	if err != nil {
		return err
	}
	updated, err := cluster.ReadWorkload(tree.FromValue(after.Object))
	if err != nil {
		return err
	}
	gates, err := e.gates()
	if err != nil {
		return err
	}
	answer := view.Explained(old, updated, gates)
	if err := answer.Text(e.errors(), e.Factory.ErrStyle()); err != nil {
		return err
	}
	switch {
	case of != "":
		_, err = fmt.Fprintf(e.errors(), "pods: %s\n", of)
	case answer.Total < 0: // a remark says why
	case answer.Reached == 0:
		_, err = fmt.Fprintf(e.errors(), "pods: none of %d is updated\n", answer.Total)
	case answer.Reached < answer.Total:
		_, err = fmt.Fprintf(e.errors(), "pods: %d of %d are updated, the others are held by partition or pause\n", answer.Reached, answer.Total)
	default:
		_, err = fmt.Fprintf(e.errors(), "pods: %d of %d are updated\n", answer.Reached, answer.Total)
	}
	return err
}

// gates are those of the cluster, unless nothing is asked of one.
func (e *rolloutExplainer) gates() (cluster.Gates, error) {
	if e.Local() {
		set, err := e.given.Of(kruise.Release{})
		return set.Gates, err
	}
	cfg, err := e.Factory.Config()
	if err != nil {
		return cluster.Gates{}, err
	}
	set, unread, err := e.reader.Live(e.ctx, cfg, e.given)
	if unread != "" {
		_, _ = fmt.Fprintf(e.errors(), "warning: Kruise's feature gates cannot be read, those of %s are assumed: %s\n", set.Release.OrNewest().Name(), unread)
	}
	return set.Gates, err
}

// united explains the change of a UnitedDeployment by what it makes of a subset.
func (e *rolloutExplainer) united(before, after *unstructured.Unstructured) error {
	old, _, err := subsetWorkload(before)
	if err != nil {
		return err
	}
	updated, n, err := subsetWorkload(after)
	if err != nil {
		return err
	}
	return e.workload(old, updated, fmt.Sprintf("those of %s, each a %s", counted.Of(n, "subset"), updated.GetKind()))
}

// subsetWorkload is the workload that a UnitedDeployment makes for each of its subsets,
// before what is a subset's own; n is how many there are.
func subsetWorkload(u *unstructured.Unstructured) (workload *unstructured.Unstructured, n int, err error) {
	hub, _, err := kruise.ToHub(tree.FromValue(u.Object))
	if err != nil {
		return nil, 0, err
	}
	object, _ := tree.Value(hub).(map[string]any)
	read := united.Read(&unstructured.Unstructured{Object: object})
	version := "v1"
	if read.Kind.Group == kruise.Group {
		version = kruise.V1beta1
	}
	workload = &unstructured.Unstructured{Object: map[string]any{"spec": mapAt(read.Template, read.TemplateField+".spec")}}
	workload.SetGroupVersionKind(read.Kind.WithVersion(version))
	workload.SetName(u.GetName())
	workload.SetNamespace(u.GetNamespace())
	return workload, len(read.Subsets), nil
}

// owners reports who else has a word about the object's pods.
func (e *rolloutExplainer) owners(u *unstructured.Unstructured) error {
	if owner := metav1.GetControllerOf(u); owner != nil && u.GetKind() != "Pod" {
		_, err := fmt.Fprintf(e.errors(), "note: %s %s belongs to %s %s, which may take this back: change that instead\n", u.GetKind(), u.GetName(), owner.Kind, owner.Name)
		return err
	}
	client, err := e.Factory.Dynamic()
	if err != nil {
		return err
	}
	ref := cluster.Ref{Group: u.GroupVersionKind().Group, Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
	r, err := release.Of(e.ctx, client, ref)
	if err != nil || r == nil {
		return err
	}
	_, err = fmt.Fprintln(e.errors(), e.Factory.Copyable(fmt.Sprintf("note: a new template starts %s: 'kubectl kruise rollout status rollout/%s' follows it", r.Title(), r.Name)))
	return err
}
