package invariant

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Approved says: whatever is recorded, operators leave each field of the workload's spec as
// it was when the rollout began, or as a patch of the approved plan has it; only the partition
// and what stops the controller may have other values. Containers of pods have the image that
// they had, or the new one.
func Approved(l Log, r *Rollout) (wrong []string) {
	approved := map[string][]string{}
	for i := range r.Plan.Steps {
		for _, p := range r.Plan.Steps[i].Patches {
			for path, v := range written(decoded(p.Body)) {
				approved[path] = append(approved[path], v)
			}
		}
	}
	// The way back of a ReplicaSet names the template in its pods' label.
	mark := "/spec/template/metadata/labels/controller-revision-hash"
	approved[mark] = append(approved[mark], strconv.Quote(r.Plan.Change.FromHash))
	var first, last map[string]string
	images := map[string]bool{strconv.Quote(r.Image): true}
	for i := range l {
		w := &l[i]
		switch {
		case !w.Done():
		case w.Resource == r.Resource && w.Name == r.Name && w.Subresource != "status" && at(w.Object, "spec") != nil:
			now := flat(map[string]any{"spec": at(w.Object, "spec")})
			if first == nil {
				first, last = now, now
			}
			if w.By != "" {
				for _, path := range changed(last, now) {
					v := now[path]
					if !r.steers(path) && v != first[path] && !slices.Contains(approved[path], v) {
						wrong = append(wrong, fmt.Sprintf("%s becomes %q, which is not approved: %s", path, v, w))
					}
				}
			}
			last = now
		case w.Resource == "pods" && w.Subresource != "eviction" && w.Verb != "delete":
			for path, v := range flat(map[string]any{"spec": at(w.Object, "spec")}) {
				if !strings.HasPrefix(path, "/spec/containers/") || !strings.HasSuffix(path, "/image") {
					continue
				}
				if w.By == "" {
					images[v] = true
				} else if !images[v] {
					wrong = append(wrong, fmt.Sprintf("%s becomes %q, which is not approved: %s", path, v, w))
				}
			}
		}
	}
	return wrong
}

// steers reports whether a field is the partition, or one that stops the controller.
func (r *Rollout) steers(path string) bool {
	object := r.Plan.Target.Object()
	group, version, grouped := strings.Cut(object.APIVersion, "/")
	if !grouped {
		group, version = "", group
	}
	for _, f := range []plan.StopField{plan.StopPaused, plan.StopPartition, plan.StopStrategy} {
		if p := f.Path(group, object.Kind, version); p != nil && "/"+strings.Join(p, "/") == path {
			return true
		}
	}
	return false
}

// changed are the fields that differ.
func changed(before, after map[string]string) (out []string) {
	for path := range maps.Keys(after) {
		if v, ok := before[path]; !ok || v != after[path] {
			out = append(out, path)
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// written are the fields that a patch sets; a removed one is "".
func written(body any) map[string]string {
	list, ok := body.([]any)
	if !ok {
		return flat(body)
	}
	out := map[string]string{}
	for _, op := range list {
		path := strings.NewReplacer("~1", "/", "~0", "~").Replace(Text(op, "path"))
		switch Text(op, "op") {
		case "test":
		case "remove":
			out[path] = ""
		default:
			for below, v := range flat(at(op, "value")) {
				out[path+below] = v
			}
		}
	}
	return out
}

// flat are the leaves of decoded JSON by their paths.
func flat(v any) map[string]string {
	out := map[string]string{}
	var walk func(string, any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, item := range v {
				walk(path+"/"+k, item)
			}
		case []any:
			for i, item := range v {
				walk(path+"/"+strconv.Itoa(i), item)
			}
		case nil:
			out[path] = ""
		default:
			text, _ := json.Marshal(v)
			out[path] = string(text)
		}
	}
	walk("", v)
	return out
}
