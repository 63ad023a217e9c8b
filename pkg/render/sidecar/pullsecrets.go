package sidecar

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// pullSecrets returns those of the template's ServiceAccount. The API server
// gives them to a pod that lists none before Kruise adds its own
// (docs/kruise/sidecarset.md#pull-secrets); once the template lists some it would not.
func (s *injector) pullSecrets(ns *namespace, t stage.Template, contents []*inject.Content) []*tree.Node {
	adding := slices.IndexFunc(contents, (*inject.Content).HasPullSecrets)
	if adding < 0 || len(tree.Items(tree.Get(t.Node, "spec", "imagePullSecrets"))) > 0 {
		return nil
	}
	name := serviceAccount(t.Node)
	account := s.Facts.Find(resource.ID{Kind: "ServiceAccount", Namespace: ns.name, Name: name})
	if account == nil {
		s.notes.set("sidecarset/service-account", contents[adding].Set, "spec.imagePullSecrets",
			"templates that list pull secrets no longer get those of ServiceAccount "+ns.name+"/"+name+", which is not known here")
		return nil
	}
	return tree.Items(tree.Get(account.Node(), "imagePullSecrets"))
}

func serviceAccount(pod *tree.Node) string {
	for _, field := range []string{"serviceAccountName", "serviceAccount"} {
		if name := tree.StrAt(pod, "spec", field); name != "" {
			return name
		}
	}
	return "default"
}
