package conformance

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// compare holds one step against what was recorded.
func (r *jobsRun) compare(want map[string]any) error {
	if err := r.refusal(want); err != nil || want["result"] == "rejected" {
		return err
	}
	for key := range want {
		if varies(want, key) {
			want = without(want, key)
		}
	}
	r.finished = map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(mapping(want["status"]))) {
		if field(want, "status", name) == "gone" || field(want, "status", name, "completionTime") != nil {
			r.finished[name] = true
		}
	}
	errs := []error{r.stored(want), r.answered(want)}
	for _, at := range slices.SortedFunc(maps.Keys(r.made), func(a, b key) int { return strings.Compare(a.name, b.name) }) {
		e := &jobEnd{jobsRun: r, at: at, want: want, made: r.made[at], spec: mapping(r.input[at]["spec"]), status: field(want, "status", at.kind+"/"+at.name)}
		if err := e.compare(); err != nil {
			errs = append(errs, fmt.Errorf("%s/%s: %w", at.kind, at.name, err))
		}
	}
	return errors.Join(errs...)
}

// messageField is the field that a webhook's message begins with, if it does.
var messageField = regexp.MustCompile(`denied the request: ([a-zA-Z][\w.\[\]-]*): (?:Invalid value|Required value|Forbidden|Duplicate value|Unsupported value|Not found)`)

// vagueWebhooks name fields imprecisely (docs/kruise/sidecarset.md#observed-on-a-cluster).
var vagueWebhooks = []string{"vadvancedcronjob", "vephemeraljobs"}

func (r *jobsRun) refusal(want map[string]any) error {
	message := text(want, "refusal", "message")
	if got := text(want, "refusal", "object"); got != r.refused {
		return fmt.Errorf("refused %q (%q), recorded %q: %s", r.refused, r.faults, got, message)
	}
	m := messageField.FindStringSubmatch(message)
	if m == nil || slices.ContainsFunc(vagueWebhooks, func(w string) bool { return strings.Contains(message, w) }) {
		return nil
	}
	names := func(f string) bool {
		return strings.HasPrefix(m[1], f) || strings.HasPrefix(f, m[1]) || strings.HasSuffix(f, "."+m[1])
	}
	if !slices.ContainsFunc(r.faults, names) {
		return fmt.Errorf("%s is refused, not %q", m[1], r.faults)
	}
	return nil
}

// stored compares the objects as the cluster holds them, in both versions.
func (r *jobsRun) stored(want map[string]any) error {
	for _, list := range []string{"stored", "storedV1alpha1"} {
		for _, w := range items(want[list]) {
			o := r.cluster[keyOf(mapping(w))]
			if o == nil {
				return fmt.Errorf("%s: %s is not there", list, nameOf(mapping(w)))
			}
			got, err := r.Stored(with(o, "status", r.state(want, o)), r.podOf(o), versionOf(mapping(w)))
			if err != nil {
				return err
			}
			if err := Different(list, Diff(storedJob(mapping(w), got))); err != nil {
				return err
			}
		}
	}
	return nil
}

// state is the recorded status of an object.
func (r *jobsRun) state(want, o map[string]any) any {
	return timeless(field(want, "status", kindOf(o)+"/"+nameOf(o)))
}

// answered compares what the API answered to the creation of requests.
func (r *jobsRun) answered(want map[string]any) error {
	for _, w := range items(want["answerToCreate"]) {
		got := r.answers[keyOf(mapping(w))]
		if got == nil {
			return fmt.Errorf("%s was not created", nameOf(mapping(w)))
		}
		if err := Different("the answer", Diff(storedJob(mapping(w), got))); err != nil {
			return err
		}
	}
	return nil
}

// storedJob brings both sides of a stored object to the same form: without what
// controllers write later, and without defaults that one side does not name.
func storedJob(want, got map[string]any) (map[string]any, map[string]any) {
	want, got = copied(want), copied(got)
	delete(got, "status")
	for _, o := range []map[string]any{want, got} {
		metadata := mapAt(o, "metadata")
		delete(metadata, "finalizers")
		labels := mapping(metadata["labels"])
		delete(labels, "controller-revision-hash")
	}
	if _, active := mapping(field(want, "metadata", "labels"))["crr.apps.kruise.io/active"]; !active {
		delete(mapping(field(got, "metadata", "labels")), "crr.apps.kruise.io/active")
	}
	pruned(got, want)
	pruned(want, got)
	return bareJob(want), bareJob(got)
}

// jobDefaults are values that the recordings leave out where the input does not state them,
// by key.
var jobDefaults = map[string]any{
	"dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "enableServiceLinks": true, "priority": int64(0),
	"terminationGracePeriodSeconds": int64(30), "serviceAccount": "default", "serviceAccountName": "default",
	"preemptionPolicy": "PreemptLowerPriority", "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
	"parallelism": int64(1), "completions": int64(1), "backoffLimit": int64(6), "completionMode": "NonIndexed", "suspend": false,
	"podReplacementPolicy": "TerminatingOrFailed", "manualSelector": false,
	"protocol": "TCP", "failureThreshold": int64(3), "periodSeconds": int64(10), "successThreshold": int64(1), "timeoutSeconds": int64(1),
	"scheme": "HTTP", "defaultMode": int64(420), "type": "", "path": "/",
	"service": "", "divisor": "0", "expirationSeconds": int64(3600),
}

// filledInPod reports whether v is what Kubernetes fills in for a field of a pod.
func filledInPod(key string, v any) bool {
	return jobDefaults[key] != nil && jobDefaults[key] == v || key == "apiVersion" && v == "v1"
}

// pruned removes from v what it holds by default and other does not name.
func pruned(v, other any) {
	switch v := v.(type) {
	case map[string]any:
		o := mapping(other)
		for _, k := range slices.Collect(maps.Keys(v)) {
			value := v[k]
			if _, named := o[k]; !named && (filledInPod(k, value) || k == "imagePullPolicy" && value == policyFor(text(v, "image"))) {
				delete(v, k)
				continue
			}
			pruned(value, o[k])
		}
	case []any:
		o := items(other)
		for i := range min(len(v), len(o)) {
			pruned(v[i], o[i])
		}
	}
}

// settledZeros leaves out of v the zero values that other does not name: what is
// stated as it is anyhow is not in what the API server stores.
func settledZeros(v, other any) {
	switch v := v.(type) {
	case map[string]any:
		o := mapping(other)
		for k, value := range v {
			if _, named := o[k]; !named && isZero(value) && k != "emptyDir" {
				delete(v, k)
			} else if k != "labels" && k != "annotations" && k != "nodeSelector" {
				settledZeros(value, o[k])
			}
		}
	case []any:
		o := items(other)
		for i := range min(len(v), len(o)) {
			settledZeros(v[i], o[i])
		}
	}
}

// bareJob is v without empty mappings and lists, and with quantities as the API
// server writes them.
func bareJob(v map[string]any) map[string]any {
	quantities(v)
	out, _ := bareValue(v).(map[string]any)
	return out
}

func bareValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			if v[k] = bareValue(v[k]); v[k] == nil {
				delete(v, k)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i := range v {
			if v[i] = bareValue(v[i]); v[i] == nil {
				v[i] = map[string]any{}
			}
		}
	}
	return v
}
