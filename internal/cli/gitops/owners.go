// Package gitops says which GitOps controller writes an object and what to agree with it, and
// writes a change that a rollout has made in the cluster back into the manifest of a Git work
// tree, as few bytes as possible. It reads the object and files below one folder, no cluster.
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
	// Sign is what shows it.
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

// ssaAnnotation tells Flux what to do with fields that are not in Git.
const ssaAnnotation = "kustomize.toolkit.fluxcd.io/ssa"

// Advice describes what to agree with an owner so that it leaves the fields alone that a
// rollout moves; pointers are those fields (RFC 6901).
func Advice(o Owner, r *resource.Resource, pointers []string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s writes %s %s (%s): what Git says comes back with its next sync.", o, r.Kind(), r.Name(), o.Sign)
	if len(pointers) > 0 {
		o.agree(line, "So that partition is moved from outside", r, pointers)
	}
	line("The new template belongs into Git as well: --write-back FILE writes it into the manifest.")
	return b.String()
}

// StopAdvice describes what to agree with an owner so that a rollout stays stopped; pointer is
// the field that stops it (RFC 6901).
func StopAdvice(o Owner, r *resource.Resource, pointer string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s writes %s %s (%s): its next sync or self-heal takes %s away, and the controller updates pods again.", o, r.Kind(), r.Name(), o.Sign, pointer)
	o.agree(line, "So that the rollout stays stopped", r, []string{pointer})
	return b.String()
}

// agree describes what an owner needs; aim is what for.
func (o Owner) agree(line func(string, ...any), aim string, r *resource.Resource, pointers []string) {
	switch o.Tool {
	case Argo:
		argo(line, aim, r, pointers)
	case Kustomize:
		flux(line, aim, o, r, pointers)
	case Helm:
		helm(line, r, pointers)
	}
}

func argo(line func(string, ...any), aim string, r *resource.Resource, pointers []string) {
	line("%s, the Application needs:", aim)
	line("  spec:")
	line("    ignoreDifferences:")
	line("    - {group: %q, kind: %s, name: %s, jsonPointers: [%s]}", r.Group(), r.Kind(), r.Name(), strings.Join(pointers, ", "))
	line("    syncPolicy: {syncOptions: [RespectIgnoreDifferences=true]}")
}

// flux: kustomize-controller takes over the fields of every manager whose name
// begins with kubectl, and so removes those that are not in Git, unless the object
// is to be merged.
func flux(line func(string, ...any), aim string, o Owner, r *resource.Resource, pointers []string) {
	if r.Annotation(ssaAnnotation) != "Merge" {
		line("%s, the manifest in Git needs, and must not set %s:", aim, strings.Join(pointers, ", "))
		line("  metadata: {annotations: {%s: Merge}}", ssaAnnotation)
	} else {
		line("The manifest in Git must not set %s.", strings.Join(pointers, ", "))
	}
	if o.Name != "" {
		line("Until the new template is in Git: flux suspend kustomization %s -n %s", o.Name, o.Namespace)
	}
}

func helm(line func(string, ...any), r *resource.Resource, pointers []string) {
	line("With drift detection, the HelmRelease needs:")
	line("  spec:")
	line("    driftDetection:")
	line("      ignore: [{paths: [%s], target: {kind: %s, name: %s}}]", strings.Join(pointers, ", "), r.Kind(), r.Name())
}
