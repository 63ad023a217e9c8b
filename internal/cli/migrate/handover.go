package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	rolloutcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	kube "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/migrate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/mask"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// handing is the migration of a DaemonSet with all that is known before it begins.
type handing struct {
	*options

	namespace string
	client    *kube.Client
	over      *kube.Handover
	findings  []finding.Finding
	around    *kube.Around
	// pods is how many the old one has. resumed says that the handover was on record
	// already, turned that it is the way back from one.
	pods            int64
	resumed, turned bool
	// unproven are objects that would be made as the record has them, which this person has
	// not approved.
	unproven []*unstructured.Unstructured
}

// handOver is the whole story of a DaemonSet.
func (o *options) handOver(ctx context.Context) error {
	w, err := o.lookAtBoth(ctx)
	if err != nil {
		return err
	}
	for _, line := range w.lines() {
		if err := w.say("%s", line); err != nil {
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
		return w.say("%s created (server dry run)", w.title(w.to))
	}
	if err := w.allowed(ctx); err != nil {
		return err
	}
	return w.run(ctx)
}

// allowed asks. What only the record knows is shown whole, and nothing but a person who has
// seen it allows that.
func (w *handing) allowed(ctx context.Context) error {
	if len(w.unproven) == 0 {
		return w.ask(ctx)
	}
	err := w.say("configmap/%s has this, and it was not approved on this machine:", kube.Kept(w.source))
	for _, u := range w.unproven {
		text, failed := yaml.Marshal(mask.Object(u.Object))
		err = errors.Join(err, failed, w.say("---\n%s", strings.TrimSpace(string(text))))
	}
	if err != nil {
		return err
	}
	if w.yes || !w.factory.Streams.InTTY {
		return &resource.Error{
			Err:  fmt.Errorf("configmap/%s may have been edited, and objects would be made of it with your rights", kube.Kept(w.source)),
			Hint: "look at what is shown above, and answer the question on a terminal, without --yes; or continue on the machine on which the migration was begun",
		}
	}
	return rolloutcmd.NewBatch(w.factory).Ask(ctx, false, "Create this with your rights?")
}

func (w *handing) run(ctx context.Context) error {
	ctx, cancel := w.bounded(ctx)
	defer cancel()
	w.over.Emit = w.tell()
	err := w.client.BeginHandover(ctx, w.over, w.around)
	if err == nil {
		err = w.approve(ctx)
	}
	if err == nil {
		err = w.over.Run(ctx)
	}
	if err := w.left(ctx, err); err != nil {
		return err
	}
	if err := w.say("Successfully migrated %s to %s", w.title(w.from), w.title(w.to)); err != nil {
		return err
	}
	return w.say("The way back: kubectl kruise migrate -n %s %s.%s/%s --to %s", w.namespace, w.to.Resource(), w.to.Group, w.source, w.from.Word)
}

// tell returns what tells of progress: what was written, each number of nodes once,
// and what is waited for.
func (w *handing) tell() func(kube.HandoverStep) {
	moved, why := int32(-1), ""
	gone := map[string]bool{} // a pod that is asked to go again is told once
	return func(s kube.HandoverStep) {
		if s.Done != "" {
			_ = w.say("%s", s.Done)
		}
		if s.Turn.All > 0 && s.Turn.Moved != moved {
			moved = s.Turn.Moved
			_ = w.say("Migration progress: %d of %d nodes have a pod of %s", moved, s.Turn.All, w.title(w.to))
		}
		for _, p := range s.Turn.Pods {
			if s.Why == "" && !gone[p.UID] {
				gone[p.UID] = true
				_ = w.say("pod %s on %s goes", p.Name, p.Node)
			}
		}
		if s.Why != "" && s.Why != why {
			why = s.Why
			_ = w.say("waits: %s", why)
		}
	}
}

func (w *handing) title(k *migrate.Kind) string { return k.Word + "/" + w.source }

func (w *handing) lines() []string {
	lines := []string{w.headline()}
	step := func(format string, args ...any) { lines = append(lines, fmt.Sprintf("  - "+format, args...)) }
	step("both objects are kept in configmap/%s until the end", kube.Kept(w.source))
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

func (w *handing) headline() string {
	switch {
	case w.resumed:
		return fmt.Sprintf("Go on moving the pods of %s to %s.", w.title(w.from), w.title(w.to))
	case w.turned:
		return fmt.Sprintf("Turn back: move the pods of %s to %s again.", w.title(w.from), w.title(w.to))
	}
	return fmt.Sprintf("Move the %d pods of %s to %s, which is made of it.", w.pods, w.title(w.from), w.title(w.to))
}

func strategyOf(u *unstructured.Unstructured) string {
	if s, _, _ := unstructured.NestedString(u.Object, "spec", "updateStrategy", "type"); s != "" {
		return s
	}
	return "RollingUpdate"
}
