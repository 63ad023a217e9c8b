package state

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// FuzzRead: whatever files of a present state hold, it is a state or a fault.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		workload("apps.kruise.io/v1beta1", "CloneSet", "  replicas: 3"), workload("apps/v1", "StatefulSet", "  replicas: 3\n  updateStrategy: {type: OnDelete}"),
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a, creationTimestamp: x}\nstatus: {conditions: [{}], containerStatuses: [null]}\n",
		"apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: a}\ndata: []\nrevision: -1\n",
		"apiVersion: v1\nkind: Node\nstatus: {allocatable: {cpu: 1e99}}\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nspec: {maxUnavailable: '%'}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		list, err := load.Parse("in.yaml", []byte(text))
		if err != nil {
			return
		}
		_, _ = Read(list)
	})
}
