package invariant

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Once says: the server carried out every patch of the plan, and none of them twice, but for what stops
// the controller, and lets it continue, on behalf of a user.
func Once(l Log, r *Rollout) (wrong []string) {
	sent := map[string]int{}
	r.follow(l, func(w *Write, p *progress) {
		if r.ofWorkload(w) && w.Done() && !r.stops(w, p) {
			sent[Patch(w.Body)]++
		}
	})
	for _, what := range slices.Sorted(maps.Keys(sent)) {
		if n := sent[what]; n != 1 {
			wrong = append(wrong, fmt.Sprintf("%d times: %s", n, what))
		}
	}
	for _, s := range r.Plan.Steps {
		for i := range s.Patches {
			if body := Patch(s.Patches[i].Body); sent[body] == 0 {
				wrong = append(wrong, fmt.Sprintf("step %s was never sent: %s", s.Name, body))
			}
		}
	}
	return wrong
}

// Ended says: the record says that all steps are done, the workload is what the last patch of
// each field has made it, and has no annotation that is neither of the plan, nor its mark, nor of
// others.
func Ended(l Log, r *Rollout) (wrong []string) {
	var last *progress
	var final any
	given := map[string]bool{plan.BegunAnnotation: true}
	r.follow(l, func(w *Write, p *progress) {
		last = p
		if w.Resource == r.Resource && w.Name == r.Name && w.Done() && w.Object != nil {
			final = w.Object
			if w.By == "" {
				maps.Copy(given, annotations(w.Body))
			}
		}
	})
	if last == nil || last.Finished.IsZero() || last.Step != len(r.Plan.Steps) || last.Halted != "" {
		wrong = append(wrong, "the record does not say that it is done: "+onRecord(last))
	}
	for path, want := range r.promised() {
		if got := at(final, path.names()...); !same(got, want) {
			wrong = append(wrong, fmt.Sprintf("%s is %v in the end, the plan says %v", path, got, want))
		}
		given[path.last()] = true
	}
	for key := range annotations(final) {
		if !given[key] && !strings.HasPrefix(key, "deprecated.daemonset.") { // the server's own
			wrong = append(wrong, "an annotation is left: "+key)
		}
	}
	return wrong
}

// holding are the fields that keep pods from the newest template.
var holding = [][]any{
	{"spec", "partition"},
	{"spec", "paused"},
	{"spec", "updateStrategy", "partition"},
	{"spec", "updateStrategy", "paused"},
	{"spec", "updateStrategy", "type"},
	{"spec", "updateStrategy", "rollingUpdate", "partition"},
	{"spec", "updateStrategy", "rollingUpdate", "paused"},
}

// Released says: what an operator has written of a field that holds pods back is as it was before the first of them wrote, or holds
// none, so that a later change of the template reaches every pod.
func Released(l Log, r *Rollout) (wrong []string) {
	for _, f := range changedHolds(l, r) {
		if !same(f.is, false) && !same(f.is, 0.0) && (f.path[len(f.path)-1] != "type" || f.is == "OnDelete") {
			wrong = append(wrong, f.String()+": it holds pods of a later change")
		}
	}
	return wrong
}

// Restored says: every field that holds pods back is as it was before the first operator wrote.
func Restored(l Log, r *Rollout) (wrong []string) {
	for _, f := range changedHolds(l, r) {
		wrong = append(wrong, f.String())
	}
	return wrong
}

// hold is a field that holds pods back, before operators wrote the workload and in the end.
type hold struct {
	path    []any
	was, is any
}

func (h hold) String() string {
	return fmt.Sprintf("%v is %v in the end, and was %v", h.path, h.is, h.was)
}

// changedHolds are the fields that hold pods back which differ in the end from what others had written before the first operator wrote.
func changedHolds(l Log, r *Rollout) (out []hold) {
	var manifest, final any
	written := false
	for i := range l {
		if w := &l[i]; w.Resource == r.Resource && w.Name == r.Name && w.Done() && w.Object != nil {
			if written = written || w.By != ""; !written {
				manifest = w.Object
			}
			final = w.Object
		}
	}
	if !written {
		return nil
	}
	for _, path := range holding {
		was, is := at(manifest, path...), at(final, path...)
		if byDefault := path[len(path)-1] == "type" && was == nil && is == "RollingUpdate"; !byDefault && !same(is, was) && !same(was, is) {
			out = append(out, hold{path, was, is})
		}
	}
	return out
}

// same reports whether a field is as wanted; the server leaves out what says nothing.
func same(got, want any) bool {
	return reflect.DeepEqual(got, want) || got == nil && (want == false || want == "" || want == 0.0)
}

func annotations(o any) map[string]bool {
	out := map[string]bool{}
	m, _ := at(o, "metadata", "annotations").(map[string]any)
	for key := range m {
		out[key] = true
	}
	return out
}

// path is a place in an object, in one string.
type path string

func (p path) names() (out []any) {
	for s := range strings.SplitSeq(string(p), "\x00") {
		out = append(out, s)
	}
	return out
}

func (p path) last() string { return string(p[strings.LastIndex(string(p), "\x00")+1:]) }

func (p path) String() string { return strings.ReplaceAll(string(p), "\x00", ".") }

// promised is what merge patches of the plan leave behind, by its place: lists and texts
// whole; nil for what is taken away.
func (r *Rollout) promised() map[path]any {
	out := map[path]any{}
	for _, s := range r.Plan.Steps {
		for i := range s.Patches {
			if p := &s.Patches[i]; p.Target == nil && p.Subresource == "" {
				leaves(decoded(p.Body), "", out)
			}
		}
	}
	return out
}

func leaves(v any, at path, out map[path]any) {
	m, ok := v.(map[string]any)
	if !ok {
		if _, list := v.([]any); !list { // the server fills in what lists hold
			out[at] = v
		}
		return
	}
	for key, v := range m {
		sub := path(key)
		if at != "" {
			sub = at + "\x00" + sub
		}
		leaves(v, sub, out)
	}
}

// decoded is a value as JSON has it.
func decoded(v any) (out any) {
	text, _ := json.Marshal(v)
	_ = json.Unmarshal(text, &out)
	return out
}
