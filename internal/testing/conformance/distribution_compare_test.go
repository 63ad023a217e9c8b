package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const (
	hashAnnotation = "kruise.io/resourcedistribution.resource.hashcode"
	fromAnnotation = "kruise.io/resourcedistribution.resource.from"
)

// compare holds the model's cluster and the findings against the recording.
func (r *distributionRun) compare() error {
	if _, recorded := r.want["objects"]; recorded && !r.varies("objects") {
		if err := r.objects(); err != nil {
			return err
		}
	}
	for ns, has := range mapping(r.want["copiesInSystemNamespaces"]) {
		for c := range r.copied {
			kind, name, _ := strings.Cut(c, "/")
			if got := r.cluster[key{kind, ns, name}] != nil; got != has {
				return fmt.Errorf("copy in %s: recorded %v, ours %v", ns, has, got)
			}
		}
	}
	for rd, status := range mapping(r.want["status"]) {
		if err := r.status(rd, status); err != nil && !r.varies("status") {
			return fmt.Errorf("%s: %w", rd, err)
		}
	}
	return nil
}

func (r *distributionRun) varies(what string) bool {
	return slices.ContainsFunc(texts(r.want["varies"]), func(s string) bool {
		return s == what || strings.HasPrefix(s, what+".")
	})
}

// objects compares everything of a distributed kind and name in the case's
// namespaces, foreign objects included, but for owner references. The hashcode
// is compared with the value recorded beside the objects.
func (r *distributionRun) objects() error {
	recorded, _ := r.want["objects"].([]any)
	wants := make([]map[string]any, len(recorded))
	for i, o := range recorded {
		wants[i] = unowned(mapping(o))
		r.fillHash(wants[i])
	}
	var got []map[string]any
	own := ownNamespace(r.c)
	for _, o := range r.cluster.all() {
		if r.copied[kindOf(o)+"/"+nameOf(o)] && strings.HasPrefix(namespaceOf(o), own) {
			got = append(got, unowned(o))
		}
	}
	byPlace := func(a, b map[string]any) int {
		return strings.Compare(kindOf(a)+nameOf(a)+namespaceOf(a), kindOf(b)+nameOf(b)+namespaceOf(b))
	}
	slices.SortFunc(wants, byPlace)
	slices.SortFunc(got, byPlace)
	if len(wants)+len(got) == 0 {
		return nil
	}
	return Different("objects", Diff(wants, got))
}

// unowned leaves owner references out.
func unowned(o map[string]any) map[string]any {
	return with(o, "metadata", without(o["metadata"], "ownerReferences"))
}

// fillHash puts the recorded hashcode of the ResourceDistribution in the place
// of <hash>. Numbered ones (a case with copies of different age) stay open.
func (r *distributionRun) fillHash(o map[string]any) {
	annotations := mapping(field(o, "metadata", "annotations"))
	if annotations[hashAnnotation] != "<hash>" || r.varies("hashcodes") {
		return
	}
	if hash := text(r.want["hashcodes"], text(annotations, fromAnnotation)); hash != "" {
		mapping(o["metadata"])["annotations"] = with(annotations, hashAnnotation, hash)
	}
}

// status compares what the conditions say of conflicts and of missing
// namespaces with the findings, and the number of targets.
func (r *distributionRun) status(rd string, status any) error {
	if len(mapping(status)) == 0 && r.cluster[key{kind: kruise.KindResourceDistribution, name: rd}] == nil {
		return nil // it is gone
	}
	last := r.last[rd]
	if last == nil {
		return errors.New("was never rendered")
	}
	recorded := map[string]any{"metadata": map[string]any{"name": rd}}
	targets := len(last.Copies)
	for condition, rule := range map[string]string{"ConflictOccurred": "conflict", "NamespaceNotExists": "namespace-missing"} {
		failed, findings := r.failed(recorded, condition), last.Findings[rule]
		targets += len(failed)
		if len(failed) == 0 && len(findings) > 0 {
			return fmt.Errorf("%s is not recorded, ours: %v", condition, findings)
		}
		for _, ns := range failed {
			if !mentioned(findings, ns) {
				return fmt.Errorf("%s in %s is recorded, ours: %v", condition, ns, findings)
			}
		}
	}
	desired, _ := field(status, "desired").(int64)
	if int(desired) != targets {
		return fmt.Errorf("%d targets are recorded, ours: %d", desired, targets)
	}
	return nil
}

// failed returns the namespaces that a condition of the recorded status lists.
func (r *distributionRun) failed(rd map[string]any, condition string) []string {
	conditions, _ := field(r.want["status"], nameOf(rd), "conditions").([]any)
	for _, c := range conditions {
		if text(c, "type") == condition && text(c, "status") == "True" {
			return append(texts(field(c, "failedNamespaces")), texts(field(c, "failedNamespace"))...)
		}
	}
	return nil
}

// mentioned reports whether a message names the namespace.
func mentioned(messages []string, namespace string) bool {
	return slices.ContainsFunc(messages, func(m string) bool {
		words := strings.FieldsFunc(m, func(c rune) bool { return strings.ContainsRune(" ,:/()", c) })
		return slices.Contains(words, namespace)
	})
}

// whole renders the input in one piece, as a user would, and compares the
// places of the copies with the recording. Where several ResourceDistributions
// meet, their order decides, and only the steps one by one are compared.
func (r *distributionRun) whole(want map[string]any) error {
	docs, err := readDocs(r.c, "input.yaml")
	if err != nil || want["result"] == "rejected" || want["objects"] == nil {
		return err
	}
	stream := slices.DeleteFunc(docs, func(d map[string]any) bool { return d["apiVersion"] == "conformance/v1" })
	rds := slices.DeleteFunc(slices.Clone(stream), func(d map[string]any) bool { return !isDistribution(d) })
	if len(rds) != 1 {
		return nil
	}
	out, err := r.render(stream, newCluster(r.c).all())
	if err != nil {
		return err
	}
	got, recorded := map[string]bool{}, map[string]bool{}
	for _, c := range out.Copies {
		if ns := namespaceOf(c); strings.HasPrefix(ns, ownNamespace(r.c)) {
			got[ns] = true
		}
	}
	for _, ns := range r.failed(rds[0], "CreateResourceFailed") {
		recorded[ns] = true
	}
	objects, _ := want["objects"].([]any)
	for _, o := range objects {
		if owner(mapping(o)) != "" {
			recorded[text(o, "metadata", "namespace")] = true
		}
	}
	return Different("copies of the whole input", Diff(recorded, got))
}
