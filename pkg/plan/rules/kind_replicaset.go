package rules

import (
	appsv1 "k8s.io/api/apps/v1"
)

// replicaSetKind is a workload of Kubernetes whose controller updates no pod.
type replicaSetKind struct{ native }

func (kinds) ReplicaSet(*appsv1.ReplicaSet) kind { return replicaSetKind{} }

func (replicaSetKind) strategyRemark() string {
	return "a ReplicaSet updates no pod: each gets the new template when it is recreated"
}
