package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// compare fills in what differs between two states of an object and what follows;
// false is nothing.
func (c *comparison) compare(ch *Change, p pair) bool {
	old, now := c.forms(p)
	unknown(ch, old, now)
	d := &differ{kind: kindOf(p.now)}
	d.compare(place{}, old.value, now.value)
	list := d.out // in the order of keys
	if len(list) == 0 {
		return false
	}
	template, asked := "spec.template.", []rules.FieldChange(nil)
	switch {
	case p.now.Is(kruise.Group, kruise.KindSidecarSet):
		template, asked = "", sidecarFields(p)
	case cluster.IsWorkload(p.now.Group(), p.now.Kind()):
		asked = c.workload(ch, p)
	case p.now.Is(kruise.Group, kruise.KindUnitedDeployment):
		c.subsets(ch, p.old, p.now)
	}
	ch.Fields = fields(list, old.value, now.value, template, asked)
	ch.Rollout.because(ch.Fields)
	checkImmutable(ch, p, list)
	for _, f := range consequences[kindOf(p.now)] {
		if i := slices.IndexFunc(ch.Fields, func(have Field) bool { return under(have.Path, f.path) }); i >= 0 {
			ch.add(f.level, ch.Fields[i].Path, f.text)
		}
	}
	return true
}

// unknown reports which fields a cluster will drop that were not there before.
func unknown(ch *Change, old, now form) {
	for _, path := range now.unknown {
		if !slices.Contains(old.unknown, path) {
			ch.add(Warning, path, "the kind does not have this field: it is dropped, and nothing comes of it")
		}
	}
}

// consequence is what the change of a field means that no rule of rollouts knows.
type consequence struct {
	path  string
	level Level
	text  string
}

var consequences = map[string][]consequence{
	"/Service": {
		{"spec.selector", Warning, "traffic goes to the pods that this selects, from one moment to the next"},
		{"spec.type", Warning, "addresses and ports from outside come or go with the type"},
	},
	"/Namespace":                         {{"metadata.labels", Note, "what selects namespaces by their labels selects others now"}},
	"batch/CronJob":                      {{"spec.jobTemplate", Note, "it applies to jobs created from now on; running jobs are unchanged"}},
	kruise.Group + "/AdvancedCronJob":    {{"spec.template", Note, "it applies to jobs created from now on; running jobs are unchanged"}},
	kruise.Group + "/BroadcastJob":       {{"spec.template", Note, "pods from now on get it; those that run or are done stay as they are"}},
	kruise.Group + "/PersistentPodState": {{"spec", Note, "it applies to pods created from now on"}},
	kruise.Group + "/WorkloadSpread":     {{"spec", Note, "it applies to pods created from now on; running pods stay where they are"}},
}

// immutableField are the fields of Kubernetes' own kinds that an API server does not let
// change, by GROUP/KIND, and what below them may. Kruise's kinds are the matter of
// package check.
type immutableField struct {
	path   string
	except []string
	// when limits it to objects that had something but false at this path; "" is all.
	when string
}

var immutableFields = map[string][]immutableField{
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
	"/ConfigMap":             {{path: "data", when: "immutable"}, {path: "binaryData", when: "immutable"}, {path: "immutable", when: "immutable"}},
	"/Secret":                {{path: "data", when: "immutable"}, {path: "immutable", when: "immutable"}, {path: "type"}},
	"/PersistentVolumeClaim": {{path: "spec", except: []string{"spec.resources", "spec.volumeAttributesClassName"}}},
	"/Pod": {{path: "spec", except: []string{
		"spec.activeDeadlineSeconds", "spec.containers[*].image", "spec.initContainers[*].image", "spec.tolerations",
	}}},
	"/Service": {{path: "spec.clusterIP", when: "spec.clusterIP"}},
	"rbac.authorization.k8s.io/ClusterRoleBinding": {{path: "roleRef"}},
	"rbac.authorization.k8s.io/RoleBinding":        {{path: "roleRef"}},
	"scheduling.k8s.io/PriorityClass":              {{path: "value"}, {path: "preemptionPolicy"}},
	"storage.k8s.io/StorageClass": {
		{path: "provisioner"}, {path: "parameters"}, {path: "reclaimPolicy"}, {path: "volumeBindingMode"},
	},
	"apiextensions.k8s.io/CustomResourceDefinition": {{path: "spec.scope"}, {path: "spec.group"}, {path: "spec.names.kind"}},
}

// checkImmutable reports which changes an API server will refuse.
func checkImmutable(ch *Change, p pair, list []difference) {
	if ch.Was != "" { // another object
		return
	}
	for _, f := range immutableFields[kindOf(p.now)] {
		if was := tree.Get(p.old.Node(), strings.Split(f.when, ".")...); f.when != "" && (tree.IsBool(was) && !tree.Bool(was) || tree.Str(was) == "") {
			continue
		}
		for _, d := range list {
			path := pathText(d.path)
			if under(path, f.path) && !slices.ContainsFunc(f.except, func(e string) bool { return under(path, e) }) {
				ch.refuseChange(d, p.now.Kind())
			}
		}
	}
	checkShrinking(ch, p)
}

// refuseChange refuses a field of a spec, once for all that is below it.
func (ch *Change) refuseChange(d difference, kind string) {
	field := pathText(d.path[:min(len(d.path), 2)])
	if ch.refused(field) {
		return
	}
	ch.Effects = append(ch.Effects, Effect{
		Level: Refused, Field: field, Text: fmt.Sprintf("this field of an existing %s is immutable", kind),
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

// checkShrinking refuses a claim with a smaller request.
func checkShrinking(ch *Change, p pair) {
	if !p.now.Is("", "PersistentVolumeClaim") {
		return
	}
	at := []string{"spec", "resources", "requests", "storage"}
	old, errOld := tree.Quantity(tree.StrAt(p.old.Node(), at...))
	now, errNow := tree.Quantity(tree.StrAt(p.now.Node(), at...))
	if errOld == nil && errNow == nil && now.Cmp(old) < 0 {
		ch.add(Refused, strings.Join(at, "."), "a claim cannot shrink")
	}
}

// describeAdded adds what a new object brings.
func (c *comparison) describeAdded(ch *Change, r *resource.Resource) {
	switch w, err := workloadOf(r); {
	case err != nil:
		ch.refuse(err)
	case w != nil:
		if n := c.replicasOf(r, w); n > 0 && w.Kind != kruise.KindSidecarSet {
			ch.add(Note, "", pods(n)+" are created")
		}
	}
	for _, p := range c.now.parts(unitedDeployment(r)) {
		ch.Subsets = append(ch.Subsets, Subset{Verb: Added, Name: p.name, Workload: p.r.ID(), To: wantedReplicas(p.r)})
	}
	unknown(ch, form{}, formOf(r, true))
}

// deletionWarnings are what goes with objects of some kinds.
var deletionWarnings = map[string]string{
	"/Namespace":             "everything in the namespace is deleted with it",
	"/PersistentVolumeClaim": "the claim and, as most storage classes have it, the data in it are deleted",
	"apiextensions.k8s.io/CustomResourceDefinition": "all objects of the kind are deleted with it",
}

// describeRemoved adds what is deleted with an object, in case the new state is applied with
// pruning.
func (c *comparison) describeRemoved(ch *Change, r *resource.Resource) {
	if text := deletionWarnings[kindOf(r)]; text != "" {
		ch.add(Loss, "", text)
	}
	if r.Is("", "PersistentVolume") && tree.StrAt(r.Node(), "spec", "persistentVolumeReclaimPolicy") == "Delete" {
		ch.add(Loss, "", "the data in it is deleted")
	}
	c.deletionEffects(ch, r, "")
	for _, p := range c.old.parts(unitedDeployment(r)) {
		ch.Subsets = append(ch.Subsets, Subset{Verb: Removed, Name: p.name, Workload: p.r.ID(), From: wantedReplicas(p.r)})
		c.deletionEffects(ch, p.r, "subset "+p.name+": ")
	}
}

// deletionEffects adds what is deleted with a workload; whose names it when it is part of another.
func (c *comparison) deletionEffects(ch *Change, r *resource.Resource, whose string) {
	w, err := workloadOf(r)
	if err != nil || w == nil || w.Kind == kruise.KindSidecarSet {
		return
	}
	n := c.replicasOf(r, w)
	if n != 0 {
		ch.add(Loss, "", whose+pods(n)+" "+counted.Word(n, "goes", "go")+", and nothing comes in their place")
	}
	switch had := rules.ClaimsOf(w.Object); {
	case !had.Any():
	case had.WhenDeleted:
		ch.add(Loss, "", fmt.Sprintf("%sthe claims (%s) are deleted with it, and the data in them", whose, had))
	default:
		ch.add(Note, "", fmt.Sprintf("%sthe claims (%s) stay", whose, had))
	}
}

// workloadOf reads a workload; nil for any other kind.
func workloadOf(r *resource.Resource) (*cluster.Workload, error) {
	if !cluster.IsWorkload(r.Group(), r.Kind()) {
		return nil, nil //nolint:nilnil // another kind is no error
	}
	return cluster.ReadWorkload(r.Node())
}

// unitedDeployment returns r if it is one, else nil.
func unitedDeployment(r *resource.Resource) *resource.Resource {
	if r.Is(kruise.Group, kruise.KindUnitedDeployment) {
		return r
	}
	return nil
}
