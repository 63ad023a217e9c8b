package check

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// natives are the types of Kubernetes' own kinds that stand beside Kruise's.
var natives = map[string]func() any{
	"v1/ConfigMap":                  func() any { return &corev1.ConfigMap{} },
	"v1/Secret":                     func() any { return &corev1.Secret{} },
	"v1/Service":                    func() any { return &corev1.Service{} },
	"v1/Pod":                        func() any { return &corev1.Pod{} },
	"apps/v1/Deployment":            func() any { return &appsv1.Deployment{} },
	"apps/v1/StatefulSet":           func() any { return &appsv1.StatefulSet{} },
	"apps/v1/DaemonSet":             func() any { return &appsv1.DaemonSet{} },
	"apps/v1/ReplicaSet":            func() any { return &appsv1.ReplicaSet{} },
	"batch/v1/Job":                  func() any { return &batchv1.Job{} },
	"batch/v1/CronJob":              func() any { return &batchv1.CronJob{} },
	"policy/v1/PodDisruptionBudget": func() any { return &policyv1.PodDisruptionBudget{} },
}

// Native returns what the API server has against the types of values in an object of
// Kubernetes' own kinds: it reads the object likewise, and takes none that it cannot read.
func Native(r *resource.Resource) []Fault {
	into := natives[r.APIVersion()+"/"+r.Kind()]
	if into == nil {
		return nil
	}
	if _, err := tree.Decode(r.Node(), into()); err != nil {
		return []Fault{{Rule: wrongType, Error: located(r.Wrap(err, ""))}}
	}
	return nil
}
