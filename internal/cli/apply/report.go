package apply

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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

// reporter writes what becomes of each object.
type reporter struct {
	out  io.Writer
	json bool
	// dryRun is the value of the flag, namespace the one that is not named.
	dryRun, namespace string
}

// object writes one line.
func (r *reporter) object(u *unstructured.Unstructured, result string) {
	gvk := u.GroupVersionKind()
	if r.json {
		l := line{Type: "object", Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName(), Result: result}
		if r.dryRun != "none" {
			l.DryRun = r.dryRun
		}
		_ = json.NewEncoder(r.out).Encode(l) // a reader that has gone is no matter to the cluster
		return
	}
	_, _ = fmt.Fprintf(r.out, "%s %s%s%s\n", nameOf(u), result, r.inNamespace(u), suffixes[r.dryRun])
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

// inNamespace names the namespace of an object that is in another one.
func (r *reporter) inNamespace(u *unstructured.Unstructured) string {
	if n := u.GetNamespace(); n != "" && n != r.namespace {
		return " in " + n
	}
	return ""
}

var suffixes = map[string]string{"client": " (dry run)", "server": " (server dry run)"}

// notStarted reports those of the objects whose rollouts were not started.
func (r *reporter) notStarted(rest []*item) {
	for _, it := range rest {
		if len(it.rolls) > 0 {
			r.object(it.object, "waiting: its rollout was not started")
		}
	}
}
