package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// JobsEngine is what is asked about the job-like kinds: everything that a case
// compares is one of these answers.
type JobsEngine struct {
	// Refuse returns the field of each fault that a webhook would find in object,
	// nil when it lets it through; old is what it replaces, nil for none.
	Refuse func(object, old map[string]any, cluster []map[string]any) []string
	// Stored returns object in version with the defaults of webhooks and schemas;
	// pod is the one that a ContainerRecreateRequest names, else nil.
	Stored func(object, pod map[string]any, version string) (map[string]any, error)
	// Render returns what one object becomes beside the objects of a cluster.
	Render func(object map[string]any, cluster []map[string]any) (*JobsRendering, error)
	// DaemonNodes returns the nodes on which a DaemonSet has pods.
	DaemonNodes func(set map[string]any, nodes []map[string]any) ([]string, error)
}

// JobsRendering is what a render of one object gave.
type JobsRendering struct {
	Objects []map[string]any
	// Findings are the messages by ID of the rule.
	Findings map[string]string
	// Steps are the patches of a sequence, in their order.
	Steps []JobsStep
	// Warnings, Notes and conditions of the sequence, for people.
	Said []string
}

// JobsStep is one step of a sequence.
type JobsStep struct {
	Pod               string
	Type, Subresource string
	// Body is the patch as decoded JSON, nil for a step that sends none.
	Body any
	// Said is what must hold before and after, and the notes.
	Said []string
}

// Jobs runs a case of that area, all of its steps.
func Jobs(c Case, engine JobsEngine) error {
	r := &jobsRun{c: c, JobsEngine: engine, cluster: cluster{}, made: map[key]*JobsRendering{}, input: map[key]map[string]any{}, pods: map[string]map[string]any{}, answers: map[key]map[string]any{}}
	if err := r.nodes(); err != nil {
		return err
	}
	want, err := r.step("input.yaml", "expected.yaml")
	if err != nil {
		return err
	}
	for _, step := range texts(want["steps"]) {
		if _, err := r.step(step+".yaml", "expected-after-"+step+".yaml"); err != nil {
			return fmt.Errorf("after %s: %w", step, err)
		}
	}
	return nil
}

// jobsRun is a case while it runs.
type jobsRun struct {
	JobsEngine
	c       Case
	cluster cluster
	// input are the objects of the area's kinds as they were written, made what
	// they became. Both stay when the object itself is gone.
	input map[key]map[string]any
	made  map[key]*JobsRendering
	// answers are the ContainerRecreateRequests as they were stored at first.
	answers map[key]map[string]any
	refused string
	faults  []string
	// finished are those that the step before recorded as over.
	finished map[string]bool
	// running are the pods that are recorded at the end of the step.
	running map[string]map[string]any
	// pulling are the nodes that are recorded as asked for images.
	pulling []string
	// waited is how many seconds the documents so far say to wait.
	waited int64
	// pods are those that requests named, also when they are gone.
	pods map[string]map[string]any
}

// jobKinds are the kinds of the area.
var jobKinds = []string{kruise.KindAdvancedCronJob, kruise.KindBroadcastJob, kruise.KindContainerRecreateRequest, kruise.KindEphemeralJob, kruise.KindImageListPullJob, kruise.KindImagePullJob}

func (r *jobsRun) step(file, expected string) (want map[string]any, err error) {
	wants, err := r.docs(expected)
	if err != nil || len(wants) != 1 {
		return nil, fmt.Errorf("%s: %d documents, %w", expected, len(wants), err)
	}
	docs, err := r.docs(file)
	if err != nil {
		return nil, err
	}
	r.refused, r.faults, r.running, r.pulling = "", nil, podsBefore(wants[0]), pullingIn(wants[0])
	for _, d := range docs {
		if err := r.apply(d); err != nil {
			return nil, err
		}
		if r.refused != "" {
			break
		}
	}
	return wants[0], r.compare(wants[0])
}

func (r *jobsRun) docs(file string) ([]map[string]any, error) {
	data, err := r.c.Read(file)
	if err != nil {
		return nil, err
	}
	return Docs(data)
}

// apply does what one document says.
func (r *jobsRun) apply(d map[string]any) error {
	if d["apiVersion"] != "conformance/v1" {
		return r.write(d)
	}
	of := strings.Fields(text(d, "of"))
	at := key{}
	if len(of) > 0 {
		at = key{of[len(of)-1], namespaceOf(d), nameOf(d)}
		at = r.cluster.like(at)
	}
	switch kindOf(d) {
	case "Wait":
		seconds, _ := d["seconds"].(int64)
		r.waited += seconds
		return nil
	case "DeletePods":
		return nil // the jobs make their pods again
	case "DeleteObject":
		delete(r.cluster, at)
		return nil
	case "MergePatch":
		if at.kind == "Node" && r.cluster[at] == nil {
			r.cluster[at] = node(at.name, nil)
		}
		return r.write(mapping(mergePatch(r.cluster[at], d["patch"])))
	}
	return fmt.Errorf("a %s is not understood", kindOf(d))
}

// like is the key of the object of that kind and name, whatever its namespace:
// what a user does is written down without one.
func (c cluster) like(at key) key {
	for k := range c {
		if k.kind == at.kind && k.name == at.name {
			return k
		}
	}
	return at
}

// write creates or replaces an object.
func (r *jobsRun) write(o map[string]any) error {
	at := keyOf(o)
	if !slices.Contains(jobKinds, at.kind) {
		r.cluster.put(r.born(started(o, r.running[at.name])))
		for _, pod := range r.podsMade(o) {
			r.cluster.put(pod)
		}
		return r.again(at)
	}
	if faults := r.Refuse(o, r.cluster[at], r.cluster.all()); faults != nil {
		r.refused, r.faults = at.kind+"/"+at.name, faults
		return nil
	}
	r.cluster.put(o)
	r.input[at] = o
	if at.kind == kruise.KindContainerRecreateRequest {
		answer, err := r.Stored(o, r.podOf(o), versionOf(o))
		if err != nil {
			return err
		}
		r.answers[at] = answer
	}
	return r.render(at)
}

func versionOf(o map[string]any) string {
	_, version, _ := strings.Cut(text(o, "apiVersion"), "/")
	return version
}

// podOf is the pod that a ContainerRecreateRequest names.
func (r *jobsRun) podOf(o map[string]any) map[string]any {
	name := text(o, "spec", "podName")
	if pod := r.cluster[key{"Pod", namespaceOf(o), name}]; pod != nil {
		r.pods[name] = pod
	}
	return r.pods[name]
}

// render asks what an object becomes now.
func (r *jobsRun) render(at key) error {
	made, err := r.Render(r.cluster[at], r.cluster.all())
	if err != nil {
		return fmt.Errorf("%s/%s: %w", at.kind, at.name, err)
	}
	r.made[at] = made
	return nil
}

// again has the jobs look at nodes that changed, those that are not over: Kruise
// keeps looking, and so does another render.
func (r *jobsRun) again(changed key) error {
	for _, o := range r.cluster.all() {
		if at := keyOf(o); changed.kind == "Node" && r.made[at] != nil && !r.finished[at.kind+"/"+at.name] {
			if err := r.render(at); err != nil {
				return err
			}
		}
	}
	return nil
}
