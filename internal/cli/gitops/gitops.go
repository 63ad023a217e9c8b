// Package gitops tells which GitOps controller writes an object, and what has to be
// agreed with it before somebody else moves the object's partition. It reads the
// object alone: labels, annotations and managed fields.
package gitops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Tool is a kind of controller.
type Tool string

// The tools.
const (
	Argo      Tool = "Argo CD"
	Kustomize Tool = "Flux (kustomize-controller)"
	Helm      Tool = "Flux (helm-controller)"
)

// Owner is a controller that writes an object.
type Owner struct {
	Tool Tool
	// Namespace and Name are of the Application, Kustomization or HelmRelease, as
	// far as the object says.
	Namespace, Name string
	// Sign is what told so.
	Sign string
}

// String names the owner.
func (o Owner) String() string {
	if o.Name == "" {
		return string(o.Tool)
	}
	word := map[Tool]string{Argo: "Application", Kustomize: "Kustomization", Helm: "HelmRelease"}[o.Tool]
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return fmt.Sprintf("%s %s %s", o.Tool, word, name)
}

const (
	trackingID  = "argocd.argoproj.io/tracking-id"
	argoLabel   = "argocd.argoproj.io/instance"
	defaultArgo = "app.kubernetes.io/instance"
	fluxName    = "kustomize.toolkit.fluxcd.io/name"
	fluxSpace   = "kustomize.toolkit.fluxcd.io/namespace"
	helmName    = "helm.toolkit.fluxcd.io/name"
	helmSpace   = "helm.toolkit.fluxcd.io/namespace"
)

// managers are the names under which the tools write.
var managers = map[Tool][]string{
	Argo:      {"argocd-controller", "argocd-application-controller"},
	Kustomize: {"kustomize-controller"},
	Helm:      {"helm-controller"},
}

// Owners finds the controllers that write an object. The label
// app.kubernetes.io/instance alone says nothing: charts set it, too.
func Owners(r *resource.Resource) []Owner {
	labels := r.Labels()
	wrote := writers(r.Node())
	var out []Owner
	switch id := r.Annotation(trackingID); {
	case id != "":
		app, _, _ := strings.Cut(id, ":")
		namespace, name, ok := strings.Cut(app, "_") // NAMESPACE_NAME where applications live in any namespace
		if !ok {
			namespace, name = "", app
		}
		out = append(out, Owner{Argo, namespace, name, "annotation " + trackingID})
	case labels[argoLabel] != "":
		out = append(out, Owner{Argo, "", labels[argoLabel], "label " + argoLabel})
	case wrote[Argo] != "":
		out = append(out, Owner{Argo, "", labels[defaultArgo], "field manager " + wrote[Argo]})
	}
	for _, f := range []struct {
		tool        Tool
		space, name string
	}{{Kustomize, fluxSpace, fluxName}, {Helm, helmSpace, helmName}} {
		switch {
		case labels[f.name] != "":
			out = append(out, Owner{f.tool, labels[f.space], labels[f.name], "label " + f.name})
		case wrote[f.tool] != "":
			out = append(out, Owner{f.tool, "", "", "field manager " + wrote[f.tool]})
		}
	}
	return out
}

// writers are the tools among the object's field managers, each under its name.
func writers(n *tree.Node) map[Tool]string {
	out := map[Tool]string{}
	for _, entry := range tree.Items(tree.Get(n, "metadata", "managedFields")) {
		name := tree.StrAt(entry, "manager")
		for tool, names := range managers {
			if slices.Contains(names, name) {
				out[tool] = name
			}
		}
	}
	return out
}
