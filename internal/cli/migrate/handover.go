package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	kube "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/migrate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// handover is the migration of a DaemonSet with all that is known before it begins.
type handover struct {
	*options

	namespace string
	client    *kube.Client
	over      *kube.Handover
	findings  []finding.Finding
	around    *kube.Surroundings
	// pods is the number of pods of the old one. resumed says that the handover was recorded
	// already, turned that it is the way back from one.
	pods            int64
	resumed, turned bool
	// unproven are objects that would be made as the record has them, which this person has
	// not approved.
	unproven []*unstructured.Unstructured
}

// handOver is the whole story of a DaemonSet.
func (o *options) handOver(ctx context.Context) error {
	w, err := o.readBoth(ctx)
	if err != nil {
		return err
	}
	for _, line := range w.lines() {
		if err := w.printNote("%s", line); err != nil {
			return err
		}
	}
	if err := view.Findings(w.factory.Streams.Err, w.findings, false, view.Style{Color: w.factory.ColorErr()}); err != nil {
		return err
	}
	switch o.dryRun {
	case "client":
		return nil
	case "server":
		if err := w.client.Check(ctx, w.over); err != nil {
			return err
		}
		return w.printNote("%s created (server dry run)", w.title(w.to))
	}
	if err := w.allowed(ctx); err != nil {
		return err
	}
	return w.run(ctx)
}

// allowed asks. What only the record knows is shown whole, and nothing but a person who has
// seen it allows that.
func (w *handover) allowed(ctx context.Context) error {
	if len(w.unproven) == 0 {
		return w.ask(ctx)
	}
	err := w.printNote("configmap/%s has this, and it was not approved on this machine:", kube.HandoverName(w.source))
	for _, u := range w.unproven {
		text, failed := yaml.Marshal(redact.Object(u.Object))
		err = errors.Join(err, failed, w.printNote("---\n%s", strings.TrimSpace(string(text))))
	}
	if err != nil {
		return err
	}
	if w.yes || !w.factory.Streams.InTTY {
		return &resource.Error{
			Err:  fmt.Errorf("configmap/%s may have been edited, and objects would be made of it with your rights", kube.HandoverName(w.source)),
			Hint: "look at what is shown above, and answer the question on a terminal, without --yes; or continue on the machine on which the migration was begun",
		}
	}
	return kubectl.Ask(ctx, w.factory, "Create this with your rights?")
}

func (w *handover) run(ctx context.Context) error {
	ctx, cancel := w.bounded(ctx)
	defer cancel()
	err := w.client.BeginHandover(ctx, w.over, w.around)
	if err == nil {
		err = w.approve(ctx)
	}
	if err == nil {
		err = w.over.Run(ctx, w.progressPrinter())
	}
	if err := w.left(ctx, err); err != nil {
		return err
	}
	if err := w.printNote("Successfully migrated %s to %s", w.title(w.from), w.title(w.to)); err != nil {
		return err
	}
	return w.printNote("to migrate back: 'kubectl kruise migrate -n %s %s.%s/%s --to %s'", w.namespace, w.to.Resource(), w.to.Group, w.source, w.from.Word)
}

// progressPrinter returns a printer of progress: what was written, each number of nodes once,
// and what is waited for.
func (w *handover) progressPrinter() func(kube.HandoverStep) {
	moved, why := int32(-1), ""
	gone := map[string]bool{} // a pod that is asked to go again is shown once
	return func(s kube.HandoverStep) {
		if s.Done != "" {
			_ = w.printNote("%s", s.Done)
		}
		if s.Turn.All > 0 && s.Turn.Moved != moved {
			moved = s.Turn.Moved
			_ = w.printNote("Migration progress: %d of %s a pod of %s", moved, counted.With(int(s.Turn.All), "node has", "nodes have"), w.title(w.to))
		}
		for _, p := range s.Turn.Pods {
			if s.Why == "" && !gone[p.UID] {
				gone[p.UID] = true
				_ = w.printNote("pod %s on %s goes", p.Name, p.Node)
			}
		}
		if s.Why != "" && s.Why != why {
			why = s.Why
			_ = w.printNote("waits: %s", why)
		}
	}
}

func (w *handover) title(k *migrate.Kind) string { return k.Word + "/" + w.source }

func (w *handover) lines() []string {
	lines := []string{w.headline()}
	step := func(format string, args ...any) { lines = append(lines, fmt.Sprintf("  - "+format, args...)) }
	step("both objects are kept in configmap/%s until the end", kube.HandoverName(w.source))
	step("%s is deleted and leaves its pods; %s, with the same selector, takes them over", w.title(w.from), w.title(w.to))
	step("pods that are not of its revision go, %s, by eviction: PodDisruptionBudgets and PodUnavailableBudgets are asked", migrate.Pace(w.over.Record.Surge))
	step("its update strategy is OnDelete until then, and %s afterwards", strategyOf(w.over.New))
	for _, f := range w.around.Followers {
		text := "follows afterwards"
		if f.Twin != "" {
			text = "is recreated, under its name, once " + w.title(w.to) + " is there"
		}
		step("%s/%s %s", f.Resource, f.Name, text)
	}
	for _, text := range w.around.Skipped {
		lines = append(lines, "warning: "+text)
	}
	return lines
}

func (w *handover) headline() string {
	switch {
	case w.resumed:
		return fmt.Sprintf("Continue to move the pods of %s to %s.", w.title(w.from), w.title(w.to))
	case w.turned:
		return fmt.Sprintf("Reverse the migration: move the pods of %s back to %s.", w.title(w.from), w.title(w.to))
	}
	return fmt.Sprintf("Move %s of %s to %s, which is created from it.", counted.Of(int(w.pods), "pod"), w.title(w.from), w.title(w.to))
}

func strategyOf(u *unstructured.Unstructured) string {
	if s, _, _ := unstructured.NestedString(u.Object, "spec", "updateStrategy", "type"); s != "" {
		return s
	}
	return "RollingUpdate"
}

// readBoth reads both sides and the stored state, and refuses what cannot be done.
// Nothing is written.
func (o *options) readBoth(ctx context.Context) (*handover, error) {
	client, namespace, err := o.connect()
	if err != nil {
		return nil, err
	}
	w := &handover{options: o, namespace: namespace, client: client}
	kept, err := w.client.HandoverOf(ctx, o.source)
	if err != nil {
		return nil, err
	}
	old, err := w.client.Get(ctx, o.from, o.source)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		if err := w.resume(ctx, kept, old); err != nil {
			return nil, err
		}
	} else if err := w.fresh(ctx, old); err != nil {
		return nil, err
	}
	r := w.over.Record
	pods := kube.Labels(w.over.New)
	w.around, err = w.client.Surroundings(ctx, r.From, r.To, pods, pods)
	return w, err
}

// resume continues the recorded handover, or reverses it.
func (w *handover) resume(ctx context.Context, kept *kube.Handover, old *unstructured.Unstructured) error {
	if migrate.Of(kept.Record.From.Group, kept.Record.From.Kind) == w.from {
		w.over, w.resumed = kept, true
	} else {
		w.over = &kube.Handover{Old: kept.New, New: kept.Old, Guards: kept.Guards, Record: migrate.Handover{From: kept.Record.To, To: kept.Record.From, Surge: kept.Record.Surge}}
		w.turned = true
		if old != nil {
			w.over.Record.UID = string(old.GetUID())
		}
	}
	return w.prove(ctx, kept, old)
}

// prove finds what would be made of the record though only the record knows it, and the
// person at this machine has not approved it: others may write the ConfigMap.
func (w *handover) prove(ctx context.Context, kept *kube.Handover, old *unstructured.Unstructured) error {
	digests, err := w.digests(ctx, kept)
	if err != nil {
		return err
	}
	if known, err := planning.IsApproved(w.factory.Streams.Getenv, digests); err == nil && known {
		return nil
	}
	if old != nil && string(old.GetUID()) == w.over.Record.UID {
		made, err := w.counterpart(ctx, old)
		if err != nil {
			return err
		}
		w.over.Old, w.over.New = bare(old), made.object // of the cluster, whatever is recorded
	}
	if w.unproven, err = w.client.Unproven(ctx, w.over); err != nil {
		return err
	}
	if old != nil {
		w.unproven = slices.DeleteFunc(w.unproven, func(u *unstructured.Unstructured) bool { return u == w.over.New })
	}
	return nil
}

// digests are those of a handover in this cluster.
func (w *handover) digests(ctx context.Context, h *kube.Handover) ([]string, error) {
	cfg, err := w.factory.Config()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(rest.CopyConfig(cfg))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range planning.ClusterIdentities(ctx, client, cfg) {
		out = append(out, h.Digest(id, w.namespace))
	}
	return out, nil
}

// approve notes on this machine what its user has approved.
func (w *handover) approve(ctx context.Context) error {
	digests, err := w.digests(ctx, w.over)
	if err != nil {
		return err
	}
	note := planning.Approval{Digest: digests[0], Target: w.over.Record.From.String() + " to " + w.over.Record.To.String(), At: time.Now().UTC()}
	if err := planning.RememberApproval(w.factory.Streams.Getenv, note); err != nil {
		_, _ = fmt.Fprintf(w.factory.Streams.Err, "warning: the approval is not kept on this machine: %v\n", err)
	}
	return nil
}

// counterpart is what the old one becomes.
func (w *handover) counterpart(ctx context.Context, old *unstructured.Unstructured) (*made, error) {
	gvr, err := w.client.Version(w.to)
	if err != nil {
		return nil, err
	}
	takes, err := w.takes(ctx)
	if err != nil {
		return nil, err
	}
	return become(ctx, old, w.to, gvr.Version, takes)
}

// fresh begins a handover.
func (w *handover) fresh(ctx context.Context, old *unstructured.Unstructured) error {
	if old == nil {
		return resourcearg.NotFound(schema.GroupResource{Group: w.from.Group, Resource: w.from.Resource()}, w.source, w.namespace)
	}
	there, err := w.client.Get(ctx, w.to, w.source)
	if err != nil {
		return err
	}
	if there != nil {
		return &resource.Error{Err: fmt.Errorf("%s exists already", w.title(w.to)), Hint: "two of one name cannot be told apart: delete one of them"}
	}
	if err := w.steady(old); err != nil {
		return err
	}
	made, err := w.counterpart(ctx, old)
	if err != nil {
		return err
	}
	w.findings = made.findings
	w.pods, _, _ = unstructured.NestedInt64(old.Object, "status", "currentNumberScheduled")
	w.over = &kube.Handover{Old: bare(old), New: made.object, Record: migrate.Handover{
		From: kube.WorkloadOf(old), UID: string(old.GetUID()), Surge: w.surge,
		To: migrate.Workload{Group: w.to.Group, Kind: w.to.Kind, Name: w.source},
	}}
	return nil
}

// steady refuses what is not at rest: its controller recreates it, or is about to replace
// its pods.
func (w *handover) steady(old *unstructured.Unstructured) error {
	status := func(field string) int64 {
		n, _, _ := unstructured.NestedInt64(old.Object, "status", field)
		return n
	}
	ref := metav1.GetControllerOfNoCopy(old)
	switch {
	case ref != nil:
		return &resource.Error{Err: fmt.Errorf("%s/%s looks after %s, and would recreate it", ref.Kind, ref.Name, w.title(w.from)), Hint: "change that one"}
	case old.GetDeletionTimestamp() != nil:
		return &resource.Error{Err: errors.New(w.title(w.from) + " is being deleted")}
	case !kube.SideOf(old).Observed || status("updatedNumberScheduled") < status("desiredNumberScheduled"):
		return &resource.Error{
			Err:  fmt.Errorf("%s is being rolled out: %d of %s of its newest revision", w.title(w.from), status("updatedNumberScheduled"), counted.PodsAre(int(status("desiredNumberScheduled")))),
			Hint: "finish that rollout, or undo it",
		}
	}
	return nil
}

// bare is an object as a user would apply it: what the server and its controllers
// wrote is left out.
func bare(u *unstructured.Unstructured) *unstructured.Unstructured {
	out := u.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"} {
		unstructured.RemoveNestedField(out.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(out.Object, "metadata", "annotations", "deprecated.daemonset.template.generation")
	unstructured.RemoveNestedField(out.Object, "status")
	return out
}
