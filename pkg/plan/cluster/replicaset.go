package cluster

import (
	"encoding/json"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
)

// revisionAnnotation has the number of a ReplicaSet among those of its Deployment.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// causeAnnotation is on workloads, and their controllers copy it to revisions.
const causeAnnotation = "kubernetes.io/change-cause"

// ReadReplicaSet reads the template of a Deployment that a ReplicaSet of it stands
// for: its own, without the hash that tells the ReplicaSets apart.
func ReadReplicaSet(rs *appsv1.ReplicaSet) (Revision, error) {
	template := rs.Spec.Template.DeepCopy()
	delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	text, err := json.Marshal(template)
	if err != nil {
		return Revision{}, err
	}
	out := Revision{Name: rs.Name, Cause: rs.Annotations[causeAnnotation]}
	if err := json.Unmarshal(text, &out.Template); err != nil {
		return Revision{}, err
	}
	// One without a number is older than all others.
	out.Number, _ = strconv.ParseInt(rs.Annotations[revisionAnnotation], 10, 64)
	return out, nil
}
