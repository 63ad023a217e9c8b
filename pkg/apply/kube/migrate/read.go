package migrate

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// SideOf reads how a workload stands.
func SideOf(u *unstructured.Unstructured) migrate.Side {
	s := migrate.Side{UID: string(u.GetUID()), Replicas: 1}
	if n, ok, _ := unstructured.NestedInt64(u.Object, "spec", "replicas"); ok {
		s.Replicas = int32(n)
	}
	number := func(field string) int64 {
		n, _, _ := unstructured.NestedInt64(u.Object, "status", field)
		return n
	}
	s.Exist, s.Available = int32(number("replicas")), int32(number("availableReplicas"))
	s.Observed = number("observedGeneration") >= u.GetGeneration()
	return s
}

// RecordOf reads the migration to a workload that is on record; nil for none.
func RecordOf(u *unstructured.Unstructured) (*migrate.Record, error) {
	text, ok := u.GetAnnotations()[migrate.Annotation]
	if !ok {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	r, err := migrate.Decode(text)
	return &r, err
}

// WorkloadOf names an object.
func WorkloadOf(u *unstructured.Unstructured) migrate.Workload {
	return migrate.Workload{Group: u.GroupVersionKind().Group, Kind: u.GetKind(), Name: u.GetName()}
}

// Labels are those of a workload's pods.
func Labels(u *unstructured.Unstructured) map[string]string {
	m, _, _ := unstructured.NestedStringMap(u.Object, "spec", "template", "metadata", "labels")
	return m
}
