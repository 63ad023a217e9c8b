package gitops

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// ssaAnnotation is how Flux is told what to do with fields that are not in Git.
const ssaAnnotation = "kustomize.toolkit.fluxcd.io/ssa"

// Advice says what to agree with an owner so that it leaves the fields alone that a
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

// StopAdvice says what to agree with an owner so that a rollout stays stopped; pointer is
// the field that stops it (RFC 6901).
func StopAdvice(o Owner, r *resource.Resource, pointer string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s writes %s %s (%s): its next sync or self-heal takes %s away, and the controller updates pods again.", o, r.Kind(), r.Name(), o.Sign, pointer)
	o.agree(line, "So that the rollout stays stopped", r, []string{pointer})
	return b.String()
}

// agree says what an owner needs; aim is what for.
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
