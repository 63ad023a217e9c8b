package controller

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Content is what still depends on an object that somebody wants to delete.
type Content struct {
	// Replicas is spec.replicas of a workload; nil when it is not set.
	Replicas *int32
	// Pods are the active pods of a namespace, Claims its bound claims, Objects
	// the objects of a CustomResourceDefinition; those being deleted do not count.
	Pods, Claims, Objects int
	// CountsObjects is the feature gate DeletionProtectionForCRDCascadingGate, off by
	// default: without it a definition that Cascading protects stays at any rate.
	CountsObjects bool
}

// protected are the kinds that the webhook of deletion protection knows, by
// GROUP/KIND; true for those that Cascading protects.
var protected = map[string]bool{
	"apps/Deployment": true, "apps/ReplicaSet": true, "apps/StatefulSet": true,
	kruise.Group + "/CloneSet": true, kruise.Group + "/StatefulSet": true, kruise.Group + "/UnitedDeployment": true,
	"/Namespace": true, "apiextensions.k8s.io/CustomResourceDefinition": true,
	"/Service": false, "networking.k8s.io/Ingress": false,
}

// RefuseDeletion returns why deletion protection keeps an object, empty when it
// does not (docs/kruise/protection.md#deletion-protection). The caller knows whether the
// gate ResourcesDeletionProtection is on, and whether the object goes already.
func RefuseDeletion(ref cluster.Ref, labels map[string]string, c Content) string {
	cascading, known := protected[ref.Group+"/"+ref.Kind]
	if !known {
		return ""
	}
	const text = "forbidden by ResourcesProtectionDeletion for " + kruise.DeleteProtectionLabel + "="
	switch mode := labels[kruise.DeleteProtectionLabel]; {
	case mode == kruise.DeleteProtectionAlways:
		return text + mode
	case mode == kruise.DeleteProtectionCascading && ref.Kind == "CustomResourceDefinition" && !c.CountsObjects:
		return "feature-gate DeletionProtectionForCRDCascadingGate is not enabled"
	case mode == kruise.DeleteProtectionCascading && cascading:
		if why := c.why(); why != "" {
			return text + mode + " and " + why
		}
	}
	return ""
}

func (c Content) why() string {
	switch {
	case c.Replicas != nil && *c.Replicas > 0:
		return fmt.Sprintf("replicas %d>0", *c.Replicas)
	case c.Pods > 0:
		return fmt.Sprintf("active pods %d>0", c.Pods)
	case c.Claims > 0:
		return fmt.Sprintf("\"Bound\" status pvc %d>0", c.Claims)
	case c.Objects > 0:
		return fmt.Sprintf("active CRs %d>0", c.Objects)
	}
	return ""
}
