package rules

import (
	appsv1 "k8s.io/api/apps/v1"
)

// native is a workload of Kubernetes, which knows no other way than making new pods
// (docs/kruise/workloads.md#cloneset-in-two-versions).
type native struct {
	templated
	updating
	ungated
	admitted
}

func (kinds) Deployment(*appsv1.Deployment) kind         { return native{} }
func (kinds) NativeStatefulSet(*appsv1.StatefulSet) kind { return native{} }
func (kinds) NativeDaemonSet(*appsv1.DaemonSet) kind     { return native{} }

func (native) policy() UpdatePolicy { return PolicyRecreate }

func (native) policies() []UpdatePolicy { return []UpdatePolicy{PolicyRecreate} }
