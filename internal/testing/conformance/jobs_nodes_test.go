package conformance

import (
	"fmt"
	"regexp"
	"strings"
)

// nodes puts the nodes of the recordings into the cluster: the five of all cases
// (README), and those that the notes of the case describe.
func (r *jobsRun) nodes() error {
	for i := range 5 {
		zone := "zone-" + string(rune('a'+i%3))
		r.cluster.put(node(fmt.Sprintf("fake-node-%d", i), map[string]any{"topology.kubernetes.io/zone": zone, "lab.test/fake": "true"}))
	}
	if !r.c.Has("notes.md") {
		return nil
	}
	notes, err := r.c.Read("notes.md")
	if err != nil {
		return err
	}
	r.noted(string(notes))
	return nil
}

var (
	notedNode  = regexp.MustCompile(`([a-z]+-node-\d+) \(taint ([^=\s]+)=([^:\s]+):(\w+)( and cordoned)?\)`)
	notedLabel = regexp.MustCompile(`carry the label ([^=\s]+)=([^\s.]+)`)
)

// noted reads nodes from sentences such as: fan-node-2 (taint a=b:NoSchedule and
// cordoned) … All three carry the label c=d.
func (r *jobsRun) noted(notes string) {
	labels := map[string]any{}
	for _, m := range notedLabel.FindAllStringSubmatch(notes, -1) {
		labels[m[1]] = m[2]
	}
	for _, m := range notedNode.FindAllStringSubmatch(notes, -1) {
		n := node(m[1], labels)
		taint := map[string]any{"key": m[2], "value": m[3], "effect": m[4]}
		n["spec"] = map[string]any{"taints": []any{taint}}
		if m[5] != "" {
			n["spec"] = with(n["spec"], "unschedulable", true)
		}
		r.cluster.put(n)
	}
}

// node is a simulated node: none of them holds 65 processors.
func node(name string, labels map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": name, "labels": with(labels, "kubernetes.io/hostname", name)},
		"status":   map[string]any{"allocatable": map[string]any{"cpu": "64", "memory": "256Gi", "pods": "500", "ephemeral-storage": "1Ti"}},
	}
}

// started returns a pod as a node that has it reports it; other objects stay as
// they are. Where it went, and that it has ended, is told by what was recorded.
func started(o, recorded map[string]any) map[string]any {
	if kindOf(o) != "Pod" || o["status"] != nil {
		return o
	}
	spec, phase := mapping(o["spec"]), "Running"
	if spec["nodeName"] == nil {
		spec = with(spec, "nodeName", field(recorded, "object", "spec", "nodeName"))
	}
	if p := text(recorded, "phase"); p != "" {
		phase = p
	}
	if spec["nodeName"] == nil || phase == "Pending" {
		return o
	}
	if spec["terminationGracePeriodSeconds"] == nil {
		spec = with(spec, "terminationGracePeriodSeconds", int64(30))
	}
	out := with(with(o, "spec", spec), "metadata", with(o["metadata"], "uid", "<uid>"))
	out["status"] = map[string]any{
		"phase":                 phase,
		"conditions":            []any{map[string]any{"type": "Ready", "status": "True"}},
		"containerStatuses":     running(spec["containers"]),
		"initContainerStatuses": running(spec["initContainers"]),
	}
	return out
}

// podsBefore are the pods that belong to none of the area's objects, by name.
func podsBefore(want map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, p := range items(want["pods"]) {
		if o := mapping(field(p, "object")); field(o, "metadata", "ownerReferences") == nil {
			out[nameOf(o)] = mapping(p)
		}
	}
	return out
}

func running(containers any) []any {
	list, _ := containers.([]any)
	out := make([]any, len(list))
	for i, c := range list {
		name, image := text(c, "name"), text(c, "image")
		repository, _, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
		out[i] = map[string]any{
			"name": name, "image": image, "containerID": "containerd://<id>", "restartCount": int64(0), "ready": true, "started": true,
			"imageID": image[:strings.LastIndexByte(image, '/')+1] + repository + "@sha256:" + strings.Repeat("5", 64),
			"state":   map[string]any{"running": map[string]any{"startedAt": "2026-07-01T00:00:00Z"}},
		}
	}
	return out
}
