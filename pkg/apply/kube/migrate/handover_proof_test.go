package migrate

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// TestHandover_RefusesAnEditedRecord: a record makes its own two DaemonSets, with what guards them, and
// nothing else.
func TestHandover_RefusesAnEditedRecord(t *testing.T) {
	object := func(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion(apiVersion)
		u.SetKind(kind)
		u.SetNamespace(namespace)
		u.SetName(name)
		return u
	}
	for name, c := range map[string]struct {
		spoil func(*Handover)
		want  string
	}{
		"as it was written":    {func(*Handover) {}, ""},
		"the way back":         {func(h *Handover) { h.Record.From, h.Record.To, h.Old, h.New = h.Record.To, h.Record.From, h.New, h.Old }, ""},
		"another name":         {func(h *Handover) { h.Record.To.Name = "other" }, "not a migration of the DaemonSet agent"},
		"another kind":         {func(h *Handover) { h.Record.To.Kind = "CloneSet" }, "not a migration of the DaemonSet agent"},
		"one side twice":       {func(h *Handover) { h.Record.To = h.Record.From }, "not a migration of the DaemonSet agent"},
		"a binding":            {func(h *Handover) { h.New = object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "agent") }, "another object, ClusterRoleBinding/agent"},
		"another workload":     {func(h *Handover) { h.Old.SetName("other") }, "another object, DaemonSet/other"},
		"another namespace":    {func(h *Handover) { h.New.SetNamespace("kube-system") }, "of another namespace"},
		"nothing":              {func(h *Handover) { h.New = nil }, "is missing"},
		"a pod for a guard":    {func(h *Handover) { h.Guards = append(h.Guards, object("v1", "Pod", "", "evil")) }, "another object, Pod/evil"},
		"a guard of elsewhere": {func(h *Handover) { h.Guards[0].SetNamespace("kube-system") }, "of another namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &Handover{
				Record: migrate.Handover{From: migrate.Workload{Group: "apps", Kind: "DaemonSet", Name: "agent"}, To: migrate.Workload{Group: "apps.kruise.io", Kind: "DaemonSet", Name: "agent"}},
				Old:    object("apps/v1", "DaemonSet", "shop", "agent"), New: object("apps.kruise.io/v1beta1", "DaemonSet", "", "agent"),
				Guards: []*unstructured.Unstructured{object("policy.kruise.io/v1alpha1", "PodUnavailableBudget", "", "agent")},
			}
			before := h.Digest("c", "shop")
			c.spoil(h)
			err := h.check("shop", "agent")
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if name != "as it was written" && h.Digest("c", "shop") == before {
				t.Error("the digest is the same")
			}
		})
	}
}
