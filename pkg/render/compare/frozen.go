package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// fixed are the fields of Kubernetes' own kinds that an API server does not let
// change, by GROUP/KIND, and what below them may. Kruise's kinds are the matter of
// package check.
type fixed struct {
	path   string
	except []string
	// when limits it to objects that were so before; nil is all.
	when func(old *resource.Resource) bool
}

var fixedFields = map[string][]fixed{
	"apps/DaemonSet":  {{path: "spec.selector"}},
	"apps/Deployment": {{path: "spec.selector"}},
	"apps/ReplicaSet": {{path: "spec.selector"}},
	"apps/StatefulSet": {{path: "spec", except: []string{
		"spec.minReadySeconds", "spec.ordinals", "spec.persistentVolumeClaimRetentionPolicy", "spec.replicas",
		"spec.revisionHistoryLimit", "spec.template", "spec.updateStrategy",
	}}},
	"batch/Job": {{path: "spec", except: []string{
		"spec.activeDeadlineSeconds", "spec.backoffLimit", "spec.parallelism", "spec.suspend", "spec.ttlSecondsAfterFinished",
	}}},
	"/ConfigMap":             {{path: "data", when: sealedForGood}, {path: "binaryData", when: sealedForGood}, {path: "immutable", when: sealedForGood}},
	"/Secret":                {{path: "data", when: sealedForGood}, {path: "immutable", when: sealedForGood}, {path: "type"}},
	"/PersistentVolumeClaim": {{path: "spec", except: []string{"spec.resources", "spec.volumeAttributesClassName"}}},
	"/Pod": {{path: "spec", except: []string{
		"spec.activeDeadlineSeconds", "spec.containers[*].image", "spec.initContainers[*].image", "spec.tolerations",
	}}},
	"/Service": {{path: "spec.clusterIP", when: func(old *resource.Resource) bool { return tree.StrAt(old.Node(), "spec", "clusterIP") != "" }}},
	"rbac.authorization.k8s.io/ClusterRoleBinding": {{path: "roleRef"}},
	"rbac.authorization.k8s.io/RoleBinding":        {{path: "roleRef"}},
	"scheduling.k8s.io/PriorityClass":              {{path: "value"}, {path: "preemptionPolicy"}},
	"storage.k8s.io/StorageClass": {
		{path: "provisioner"}, {path: "parameters"}, {path: "reclaimPolicy"}, {path: "volumeBindingMode"},
	},
	"apiextensions.k8s.io/CustomResourceDefinition": {{path: "spec.scope"}, {path: "spec.group"}, {path: "spec.names.kind"}},
}

func sealedForGood(old *resource.Resource) bool { return tree.Bool(tree.Get(old.Node(), "immutable")) }

// frozen says which changes an API server will refuse.
func frozen(ch *Change, p pair, list []difference) {
	if ch.Was != "" { // another object
		return
	}
	for _, f := range fixedFields[kindOf(p.now)] {
		if f.when != nil && !f.when(p.old) {
			continue
		}
		for _, d := range list {
			path := pathText(d.path)
			if under(path, f.path) && !slices.ContainsFunc(f.except, func(e string) bool { return under(path, e) }) {
				ch.freeze(d, p.now.Kind())
			}
		}
	}
	smaller(ch, p)
}

// freeze refuses a field of a spec, once for all that is below it.
func (ch *Change) freeze(d difference, kind string) {
	field := pathText(d.path[:min(len(d.path), 2)])
	if ch.refused(field) {
		return
	}
	ch.Effects = append(ch.Effects, Effect{
		Level: Refused, Field: field, Text: fmt.Sprintf("this cannot change in a %s that exists", kind),
		Hint: fmt.Sprintf("keep it, or delete the %s and create it again", kind),
	})
}

// refuse adds the reason why an object will not be taken.
func (ch *Change) refuse(err error) {
	e := Effect{Level: Refused, Text: err.Error()}
	if fault, ok := errors.AsType[*tree.Error](err); ok {
		e.Field, e.Text, e.Hint = fault.Path, fault.Msg, fault.Hint
	}
	ch.Effects = append(ch.Effects, e)
}

// refused reports whether a fault of a field is known already.
func (ch *Change) refused(path string) bool {
	return slices.ContainsFunc(ch.Effects, func(e Effect) bool { return e.Level == Refused && under(e.Field, path) })
}

// under reports whether a path is a field or lies below it; [*] is any item.
func under(path, field string) bool {
	for {
		head, rest, star := strings.Cut(field, "[*]")
		if !strings.HasPrefix(path, head) {
			return false
		}
		path = path[len(head):]
		if !star {
			return path == "" || path[0] == '.' || path[0] == '[' || path[0] == ' '
		}
		end := strings.IndexByte(path, ']')
		if !strings.HasPrefix(path, "[") || end < 0 {
			return false
		}
		path, field = path[end+1:], rest
	}
}

// smaller refuses a claim that shall shrink.
func smaller(ch *Change, p pair) {
	if !p.now.Is("", "PersistentVolumeClaim") {
		return
	}
	at := []string{"spec", "resources", "requests", "storage"}
	old, okOld := quantity(tree.StrAt(p.old.Node(), at...))
	now, okNow := quantity(tree.StrAt(p.now.Node(), at...))
	if okOld && okNow && now.Cmp(old) < 0 {
		ch.add(Refused, strings.Join(at, "."), "a claim cannot shrink")
	}
}
