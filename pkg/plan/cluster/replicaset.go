package cluster

import (
	"encoding/json"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
)

// What the controller of Deployments writes on its ReplicaSets: the number of each among
// those of its Deployment, which a Deployment carries, too, and how many pods all of them
// should and may have, by which it knows later that it was scaled.
const (
	DeploymentRevisionAnnotation = "deployment.kubernetes.io/revision"
	DesiredReplicasAnnotation    = "deployment.kubernetes.io/desired-replicas"
	MaxReplicasAnnotation        = "deployment.kubernetes.io/max-replicas"
)

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
	out.Number, _ = strconv.ParseInt(rs.Annotations[DeploymentRevisionAnnotation], 10, 64)
	return out, nil
}
