package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// podMetadata checks patchPodMetadata with the whitelist (docs/kruise/sidecarset.md#pod-metadata).
func (k *setCheck) podMetadata() {
	entries := tree.Items(tree.Get(k.spec, "patchPodMetadata"))
	if len(entries) == 0 {
		return
	}
	allowed, known := k.whitelist()
	if !known {
		k.c.Findings.Add("sidecarset/whitelist-unknown", k.r, "spec.patchPodMetadata", "")
	}
	seen := map[string]bool{}
	for i, entry := range entries {
		path := fmt.Sprintf("spec.patchPodMetadata[%d]", i)
		annotations := tree.Get(entry, "annotations")
		if !tree.IsMap(annotations) || len(annotations.Content) == 0 {
			k.fault(path+".annotations", "", "required")
		}
		k.patchPolicy(path, entry)
		tree.Each(annotations, func(key, _ *tree.Node) {
			at := path + ".annotations[" + key.Value + "]"
			if seen[key.Value] {
				k.fault(at, "", "annotation %s is in two entries", key.Value)
			}
			seen[key.Value] = true
			if known && !slices.ContainsFunc(allowed, func(r *regexp.Regexp) bool { return r.MatchString(key.Value) }) {
				k.fault(at, "add it to "+kruise.SidecarSetPatchPodMetadataWhiteListKey+" in ConfigMap kruise-configuration", "Kruise's whitelist does not allow annotation %s", key.Value)
			}
		})
	}
}

func (k *setCheck) patchPolicy(path string, entry *tree.Node) {
	switch tree.StrAt(entry, "patchPolicy") {
	case "", "Retain", "Overwrite":
	case "MergePatchJson":
		tree.Each(tree.Get(entry, "annotations"), func(key, value *tree.Node) {
			if !isJSON(tree.Str(value)) {
				k.c.Findings.Add("sidecarset/merge-not-json", k.r, path+".annotations["+key.Value+"]", "")
			}
		})
	default:
		k.c.Findings.Add("sidecarset/ignored-value", k.r, path+".patchPolicy", "Kruise accepts the policy and writes nothing; so does the renderer")
	}
}

// whitelist returns the expressions that hold for this set; known is false when
// the ConfigMap is not there, as it may well exist in the cluster.
func (k *setCheck) whitelist() (allowed []*regexp.Regexp, known bool) {
	cm := k.c.Facts.Find(resource.ID{Kind: "ConfigMap", Namespace: kruise.DefaultNamespace, Name: kruise.ConfigurationName})
	if cm == nil {
		return nil, false
	}
	text := tree.StrAt(cm.Node(), "data", kruise.SidecarSetPatchPodMetadataWhiteListKey)
	if text == "" {
		return nil, true
	}
	allowed, err := expressions(text, k.r.Labels())
	if err != nil {
		k.fault("spec.patchPodMetadata", "", "%s of ConfigMap "+kruise.ConfigurationName+": %v", kruise.SidecarSetPatchPodMetadataWhiteListKey, err)
	}
	return allowed, err == nil
}

func expressions(text string, own map[string]string) ([]*regexp.Regexp, error) {
	var list struct {
		Rules []struct {
			Selector *metav1.LabelSelector `json:"selector"`
			Keys     []string              `json:"allowedAnnotationKeyExprs"`
		} `json:"rules"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, err
	}
	var out []*regexp.Regexp
	var errs []error
	for _, rule := range list.Rules {
		if rule.Selector != nil {
			sel, err := metav1.LabelSelectorAsSelector(rule.Selector)
			errs = append(errs, err)
			if err != nil || !sel.Matches(labels.Set(own)) {
				continue
			}
		}
		for _, expr := range rule.Keys {
			re, err := regexp.Compile(expr)
			errs = append(errs, err)
			if err == nil {
				out = append(out, re)
			}
		}
	}
	return out, errors.Join(errs...)
}
