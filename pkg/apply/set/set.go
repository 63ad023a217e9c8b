// Package set is the arithmetic of ApplySets, kubectl's contract for what belongs
// together and may be pruned (KEP-3659): which labels members carry, what a parent
// object says, and what has left a set. It knows no cluster.
package set

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// The labels and annotations of the contract.
const (
	// PartOfLabel stands on every member, with the ID of the set.
	PartOfLabel = "applyset.kubernetes.io/part-of"
	// IDLabel stands on the parent, with the ID of its set.
	IDLabel = "applyset.kubernetes.io/id"
	// ToolingAnnotation stands on the parent: name and version of the tool whose set
	// it is, with a slash between them.
	ToolingAnnotation = "applyset.kubernetes.io/tooling"
	// KindsAnnotation stands on the parent: the kinds that members may be of.
	KindsAnnotation = "applyset.kubernetes.io/contains-group-kinds"
	// NamespacesAnnotation stands on the parent: the namespaces beside its own that
	// members may be in.
	NamespacesAnnotation = "applyset.kubernetes.io/additional-namespaces"
)

// Tool is the name of this tool in [ToolingAnnotation].
const Tool = "kubectl-kruise"

// Parent names the object that stands for a set.
type Parent struct {
	// Kind is Secret or ConfigMap.
	Kind      string
	Namespace string
	Name      string
}

// ParseParent reads NAME, secret/NAME or configmap/NAME; a name alone means a
// Secret, as it does to kubectl.
func ParseParent(text, namespace string) (Parent, error) {
	kind, name, typed := strings.Cut(text, "/")
	if !typed {
		kind, name = "secret", text
	}
	p := Parent{Namespace: namespace, Name: name}
	switch strings.ToLower(kind) {
	case "secret", "secrets":
		p.Kind = "Secret"
	case "configmap", "configmaps", "cm":
		p.Kind = "ConfigMap"
	default:
		return p, fmt.Errorf("%q cannot be the parent of an ApplySet here", kind)
	}
	if name == "" || strings.Contains(name, "/") {
		return p, fmt.Errorf("%q names no object", text)
	}
	return p, nil
}

// String returns kind and name as kubectl would.
func (p Parent) String() string { return strings.ToLower(p.Kind) + "/" + p.Name }

// ID returns the label value that members of the set carry: the hash of
// NAME.NAMESPACE.KIND.GROUP, the group of both kinds of parent being empty.
func (p Parent) ID() string {
	sum := sha256.Sum256([]byte(p.Name + "." + p.Namespace + "." + p.Kind + "."))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}
