package lower

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// form is what a CloneSet becomes (docs/fidelity.md).
type form struct {
	kind string
	// client: this tool replaces the pods, the native parent must not.
	client bool
}

// formOf chooses: claims need a StatefulSet, and a Deployment cannot leave its
// pods alone.
func formOf(driver stage.Driver, claims bool) form {
	client := driver == stage.Client
	switch {
	case claims:
		return form{kind: kruise.KindStatefulSet, client: client}
	case client:
		return form{kind: kruise.KindReplicaSet, client: true}
	default:
		return form{kind: kruise.KindDeployment}
	}
}

func (f form) deployment() bool  { return f.kind == kruise.KindDeployment }
func (f form) statefulSet() bool { return f.kind == kruise.KindStatefulSet }
func (f form) replicaSet() bool  { return f.kind == kruise.KindReplicaSet }

// rule returns the catalogue entry of a field for this form: the plain one for
// the native forms, the one ending in -client for the client driver.
func (f form) rule(id string) string {
	if f.client {
		return id + "-client"
	}
	return id
}

// own is rule for fields on which the two native forms differ.
func (f form) own(id string) string {
	if f.statefulSet() && !f.client {
		return id + "-statefulset"
	}
	return f.rule(id)
}
