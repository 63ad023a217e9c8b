package change

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// ongoing is a rollout of this program that is in progress or paused.
type ongoing struct {
	// name is that of its workload, state where it is, and partition what it holds pods back with.
	name, state, partition string
	// abort and run are how these verbs of it are called.
	abort, run string
}

// findOngoing finds the rollout of an object, or of the workload of Kruise that it was rendered from; nil for
// none, and for one that this user may not read.
func findOngoing(ctx context.Context, f *factory.Factory, u *unstructured.Unstructured) (*ongoing, error) {
	group, kind := u.GroupVersionKind().Group, u.GetKind()
	if group == kruise.Group && kind == kruise.KindUnitedDeployment {
		return ongoingUnited(f, u), nil
	}
	if !cluster.IsWorkload(group, kind) {
		return nil, nil //nolint:nilnil // that none is in progress is no error
	}
	cfg, err := f.Config()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(rest.CopyConfig(cfg))
	if err != nil {
		return nil, err
	}
	records := kube.Records{Client: client, StateNamespace: kube.DefaultStateNamespace}
	refs := []cluster.Ref{{Group: group, Kind: kind, Namespace: u.GetNamespace(), Name: u.GetName()}}
	if source, name, ok := strings.Cut(u.GetLabels()[kruise.SourceLabel], "."); ok {
		if n, err := resourcearg.Parse(source + "." + kruise.Group + "/" + name); err == nil {
			refs = append(refs, cluster.Ref{Group: n.Kinds[0].Group, Kind: n.Kinds[0].Kind, Namespace: u.GetNamespace(), Name: n.Name})
		}
	}
	for _, ref := range refs {
		rec, err := records.Load(ctx, ref)
		_, unreadable := errors.AsType[apply.UnreadableRecordError](err)
		switch {
		case errors.Is(err, plan.ErrNoRollout), apierrors.IsForbidden(err), unreadable:
		case err != nil:
			return nil, err
		case rec.InFlight() && (rec.Plan.Target.Object().UID == "" || rec.Plan.Target.Object().UID == string(u.GetUID())):
			return &ongoing{
				name: ref.String(), state: rec.Describe(), partition: partitionOf(u),
				abort: f.WithConnection(rec.Plan.Target.Command("abort")), run: f.WithConnection(rec.Plan.Target.Command("run")),
			}, nil
		}
	}
	return nil, nil //nolint:nilnil // that none is in progress is no error
}

// ongoingUnited is the rollout of subsets that a UnitedDeployment notes in an annotation until the last one has
// ended.
func ongoingUnited(f *factory.Factory, u *unstructured.Unstructured) *ongoing {
	if u.GetAnnotations()[kruise.BeforeRolloutAnnotation] == "" {
		return nil
	}
	name := "uniteddeployment/" + u.GetName()
	target := name + " -n " + u.GetNamespace()
	return &ongoing{
		name: name, state: "not all of its subsets are updated",
		abort: f.WithConnection("kubectl kruise rollout abort " + target), run: f.WithConnection("kubectl kruise rollout run " + target),
	}
}

// partitionOf is the partition of a workload as text; "" for none.
func partitionOf(u *unstructured.Unstructured) string {
	gvk := u.GroupVersionKind()
	path := plan.PartitionPath(gvk.Group, gvk.Kind, gvk.Version)
	if path == nil {
		return ""
	}
	v, found, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
	if !found || fmt.Sprint(v) == "0" {
		return ""
	}
	return fmt.Sprint(v)
}

// confirmBeside asks before a field is changed that only the rollout of its object may write, and refuses it
// where there is no terminal. again are the flags with which `rollout run` makes the same change.
func confirmBeside(ctx context.Context, f *factory.Factory, before, after *unstructured.Unstructured, again string) error {
	fields := set.Rolls(before, after)
	if len(fields) == 0 {
		return nil
	}
	at, err := findOngoing(ctx, f, before)
	if err != nil || at == nil {
		return err
	}
	why := fmt.Sprintf("%s has a rollout in progress: %s; a change of %s by another command fails it", at.name, at.state, strings.Join(fields, ", "))
	return at.confirm(ctx, f, why, again)
}

// confirm asks about what fails a rollout, with the commands that do what the user may want, and refuses it where there is no
// terminal.
func (o *ongoing) confirm(ctx context.Context, f *factory.Factory, why, again string) error {
	hint := fmt.Sprintf("'%s' ends it where it is, then '%s %s' rolls this change out; to go back: '%s --rollback'", o.abort, o.run, again, o.abort)
	if !f.Streams.InTTY {
		return &tree.Error{Msg: why, Hint: hint}
	}
	_, _ = fmt.Fprintf(f.Streams.Err, "%s\nhint: %s\n", why, hint)
	return kubectl.Ask(ctx, f, "Change it all the same?")
}

// noteScaled says what another number of pods means for the steps of a rollout.
func noteScaled(ctx context.Context, f *factory.Factory, u *unstructured.Unstructured) error {
	at, err := findOngoing(ctx, f, u)
	if err != nil || at == nil {
		return err
	}
	note := "note: " + at.name + " has a rollout in progress: " + at.state + "; it continues, and percentages of its next steps are of the new number of pods"
	if at.partition != "" && !strings.HasSuffix(at.partition, "%") {
		note += "; until the next step, partition " + at.partition + " stays, and pods beyond it have the new template"
	}
	_, err = fmt.Fprintln(f.Streams.Err, note)
	return err
}

// noteScaledObjects is [noteScaled] of the objects that a command line of scale names. What cannot be found is the
// error of the command itself.
func noteScaledObjects(c *cobra.Command, f *factory.Factory, g given) error {
	for _, o := range commandObjects(c, f, g) {
		if u, ok := o.Object.(*unstructured.Unstructured); ok && o.Get() == nil {
			if err := noteScaled(c.Context(), f, u); err != nil {
				return err
			}
		}
	}
	return nil
}
