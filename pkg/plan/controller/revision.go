package controller

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/dump"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// syncRevision finds the revision of the workload's present template, or stores
// it; one that was used before gets the newest number again. It returns the
// revision with those that the workload has now, oldest first (docs/kruise/workloads.md#revisions).
// A claimsHash is kept with a revision that is made.
func (v *View) syncRevision(pass *Pass, collisions int32, claimsHash string) (update cluster.Revision, all []cluster.Revision) {
	all = slices.Clone(v.Revisions)
	slices.SortFunc(all, func(a, b cluster.Revision) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
	})
	update, found := rules.FindRevision(all, v.Workload.Template)
	switch {
	case !found:
		update = cluster.Revision{
			Name:     revisionName(v.Workload, v.Revisions, collisions),
			Template: v.Workload.Template, ClaimsHash: claimsHash,
		}
	case update.Number == all[len(all)-1].Number:
		return update, all
	default:
		all = slices.DeleteFunc(all, func(r cluster.Revision) bool { return r.Name == update.Name })
	}
	update.Number = rules.NextRevisionNumber(v.Revisions)
	pass.act(StoreRevision{Revision: update})
	return update, append(all, update)
}

// dropRevisions deletes the oldest revisions beyond the limit. Those that live
// names, and those that a pod carries, stay and do not count; a daemon set counts
// what its pods carry (docs/kruise/workloads.md#kubectl-operations).
func (v *View) dropRevisions(pass *Pass, all []cluster.Revision, limit *int32, live ...string) {
	keep := map[string]bool{}
	for _, name := range live {
		keep[cluster.Hash(name)] = true
	}
	beyond := len(all) - len(keep) - int(or(limit, defaultHistory))
	if beyond <= 0 {
		return
	}
	for _, p := range v.Pods {
		keep[cluster.Hash(rules.RevisionOf(p))] = true
	}
	spare := slices.DeleteFunc(slices.Clone(all), func(r cluster.Revision) bool { return keep[cluster.Hash(r.Name)] })
	if v.Workload.Kind != kruise.KindDaemonSet {
		beyond = len(spare) - int(or(limit, defaultHistory))
	}
	for _, r := range spare[:max(min(beyond, len(spare)), 0)] {
		pass.act(DropRevision{Name: r.Name})
	}
}

// defaultHistory is how many old revisions are kept by default.
const defaultHistory = 10

// revisionOf returns the revision that a pod carries.
func revisionOf(all []cluster.Revision, p *cluster.Pod) (cluster.Revision, bool) {
	i := slices.IndexFunc(all, func(r cluster.Revision) bool { return rules.AtRevision(p, r.Name) })
	if i < 0 {
		return cluster.Revision{}, false
	}
	return all[i], true
}

// revisionName is what a new revision is called in a cluster that has stored others
// of the workload. All kinds but Kruise's DaemonSet hash the stored JSON.
func revisionName(w *cluster.Workload, stored []cluster.Revision, collisions int32) string {
	if w.Group == kruise.Group && w.Kind == kruise.KindDaemonSet {
		// What Kruise calls the revision of a DaemonSet's template: a hash of the Go structure as printed by the version of the
		// Kubernetes types that Kruise is built with. Ours are newer; the fields that its types lack are left out as long as
		// they are not set.
		template := w.Template
		var typed corev1.PodTemplateSpec
		if err := json.Unmarshal(encoded(template), &typed); err != nil {
			// Even an odd template gets a hash of its own.
			typed.Name = string(encoded(template))
		}
		h := fnv.New32a()
		_, _ = h.Write([]byte(withoutNewFields.Replace(beforeEmptyDirMode.Replace(dump.ForHash(typed)))))
		return w.Name + "-" + rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
	}
	return NameRevision(w.Name, revisionData(w.Template, writesNull(w, stored)), collisions)
}

// writesNull reports whether the controller's serializer writes a null
// creationTimestamp: Kruise's does, Kubernetes' own did in older versions, as what
// they have stored shows.
func writesNull(w *cluster.Workload, stored []cluster.Revision) bool {
	return w.Group == kruise.Group || slices.ContainsFunc(stored, func(r cluster.Revision) bool {
		meta, _ := r.Template["metadata"].(map[string]any)
		_, written := meta["creationTimestamp"]
		return written
	})
}

// NameRevision is what a ControllerRevision with this data is called: its owner's
// name with a hash (docs/kruise/workloads.md#revisions).
func NameRevision(owner string, data []byte, collisions int32) string {
	h := fnv.New32()
	_, _ = h.Write(data)
	_, _ = h.Write(strconv.AppendInt(nil, int64(collisions), 10))
	return owner + "-" + rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
}

// revisionData is the stored JSON of a revision: of a pod template or, where
// there is no spec in it, of what a SidecarSet puts into pods. A template's
// metadata has a null creationTimestamp where the serializer of the controller
// writes it.
func revisionData(template map[string]any, null bool) []byte {
	full := maps.Clone(template)
	full["$patch"] = "replace"
	spec := full
	if _, pod := template["spec"]; pod {
		meta, _ := template["metadata"].(map[string]any)
		if null {
			out := map[string]any{"creationTimestamp": nil}
			maps.Copy(out, meta)
			full["metadata"] = out
		}
		spec = map[string]any{"template": full}
	}
	data, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		// Decoded JSON can be encoded again.
		return nil
	}
	return data
}

// RevisionData is the data of the ControllerRevision that a store keeps for a
// template, as JSON (docs/kruise/workloads.md#kubectl-operations).
func RevisionData(template map[string]any) []byte { return revisionData(template, true) }

// beforeEmptyDirMode takes the mode of an emptyDir out, the last field of its
// volume; other modes are older, and followed by a user.
var beforeEmptyDirMode = strings.NewReplacer(" Mode:(*int32)<nil>}", "}")

// withoutNewFields takes out, when unset, what k8s.io/api has had since v0.34.
var withoutNewFields = strings.NewReplacer(
	" BindMountOptions:([]string)<nil>", "",
	" DefaultUser:(*int64)<nil>", "",
	" EvictionResponders:([]v1.EvictionResponder)<nil>", "",
	" FileKeyRef:(*v1.FileKeySelector)<nil>", "",
	" HostnameOverride:(*string)<nil>", "",
	" Mode:(*v1.GRPCProbeMode)<nil>", "",
	" PodCertificate:(*v1.PodCertificateProjection)<nil>", "",
	" Protocol:(*v1.HTTPProtocol)<nil>", "",
	" RestartPolicyRules:([]v1.ContainerRestartRule)<nil>", "",
	" SchedulingGroup:(*v1.PodSchedulingGroup)<nil>", "",
	" User:(*int64)<nil>", "",
)
