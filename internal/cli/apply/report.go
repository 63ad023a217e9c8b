package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
)

// pretend says what would be done, in the order in which it would be, and every
// request.
func (w *work) pretend(ctx context.Context) error {
	for _, it := range w.items {
		switch {
		case it.live == nil:
			w.done(it, "created")
		case len(it.rolls) > 0:
			w.done(it, "rolled out")
		default:
			w.done(it, outcome(it.live, it.final))
		}
	}
	if err := w.pretendPrune(ctx); err != nil {
		return err
	}
	list, err := w.requests(ctx)
	if err != nil {
		return err
	}
	out := w.factory.Streams.Out
	if w.rollouts.JSON() {
		return view.RequestsJSON(out, list)
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	return view.Requests(out, rolloutcmd.Besides, list)
}

func (w *work) pretendPrune(ctx context.Context) error {
	if w.members == nil {
		return nil
	}
	for _, u := range w.members.left {
		if w.dryRun == "server" {
			if err := w.client.Delete(ctx, u, true); err != nil {
				return parsed(u, fromCluster).Wrap(err, "")
			}
		}
		w.say(u, "pruned")
	}
	return nil
}

func (w *work) done(it *item, result string) { w.say(it.object, result) }

// line is one object of the report.
type line struct {
	Type      string `json:"type"`
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Result    string `json:"result"`
	DryRun    string `json:"dryRun,omitempty"`
}

// say writes one line of the report.
func (w *work) say(u *unstructured.Unstructured, result string) {
	out, gvk := w.factory.Streams.Out, u.GroupVersionKind()
	if w.rollouts.JSON() {
		l := line{Type: "object", Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName(), Result: result}
		if w.dryRun != "none" {
			l.DryRun = w.dryRun
		}
		_ = json.NewEncoder(out).Encode(l) // a reader that has gone is no matter to the cluster
		return
	}
	_, _ = fmt.Fprintf(out, "%s %s%s%s\n", nameOf(u), result, w.within(u), suffixes[w.dryRun])
}

// nameOf is an object as kubectl names it.
func nameOf(u *unstructured.Unstructured) string {
	gvk := u.GroupVersionKind()
	kind := strings.ToLower(gvk.Kind)
	if gvk.Group != "" {
		kind += "." + gvk.Group
	}
	return kind + "/" + u.GetName()
}

// within names the namespace of an object that is not in the one that is worked in.
func (w *work) within(u *unstructured.Unstructured) string {
	if n := u.GetNamespace(); n != "" && n != w.namespace {
		return " in " + n
	}
	return ""
}

var suffixes = map[string]string{"client": " (dry run)", "server": " (server dry run)"}

// waiting says which workloads no rollout was begun for.
func (w *work) waiting(rest []*item) {
	for _, it := range rest {
		if len(it.rolls) > 0 {
			w.done(it, "waiting: its rollout was not started")
		}
	}
}
