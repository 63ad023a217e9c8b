package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// restart is what became of one container.
type restart struct {
	name, phase string
	killed      bool
}

// recreate sends the steps of the sequence to the pod, as the simulated node takes
// them, and compares what becomes of the containers.
func (e *jobEnd) recreate() error {
	if e.status == "gone" {
		return nil // nothing that could stay was made
	}
	status := mapping(e.status)
	if len(status) == 0 {
		return nil
	}
	pod := copied(e.pods[text(e.spec, "podName")])
	if pod == nil {
		return fmt.Errorf("pod %v is not there", e.spec["podName"])
	}
	got, err := e.restarted(pod)
	if err != nil {
		return err
	}
	var want []restart
	for _, s := range items(status["containerRecreateStates"]) {
		want = append(want, restart{text(s, "name"), text(s, "phase"), field(s, "isKilled") == true})
	}
	// A recording ends while a container is waited for; the steps name that time.
	for i := range min(len(want), len(got)) {
		if want[i].phase == "Recreating" && got[i].phase == "Succeeded" && e.waits(text(status, "message")) {
			got[i].phase = want[i].phase
		}
	}
	if !slices.Equal(want, got) {
		return fmt.Errorf("containers end as %v, recorded %v", got, want)
	}
	return nil
}

// waits reports whether the sequence says for how long a restarted container is
// waited for, or that it ends with the pod.
func (e *jobEnd) waits(message string) bool {
	said := slices.Clone(e.made.Said)
	for _, s := range e.made.Steps {
		said = append(said, s.Said...)
	}
	for _, k := range []any{e.spec["activeDeadlineSeconds"], field(e.spec, "strategy", "minStartedSeconds")} {
		n, set := k.(int64)
		if set && slices.ContainsFunc(said, func(t string) bool { return strings.Contains(t, strconv.FormatInt(n, 10)+" s") }) {
			return true
		}
	}
	return message == "pod has gone"
}

// restarted takes the steps in their order.
func (e *jobEnd) restarted(pod map[string]any) ([]restart, error) {
	var out []restart
	for _, c := range items(e.spec["containers"]) {
		out = append(out, restart{name: text(c, "name"), phase: "Pending"})
	}
	for _, step := range e.made.Steps {
		before := copied(pod)
		if err := send(pod, step); err != nil {
			return nil, err
		}
		name, err := restartedBy(before, pod)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(out, func(r restart) bool { return r.name == name })
		if i < 0 {
			return nil, fmt.Errorf("container %s restarts without a request", name)
		}
		out[i].phase, out[i].killed = e.ended(name)
		if out[i].phase == "Failed" && says(step.Said, "stop here") {
			break
		}
	}
	return out, nil
}

// ended is what the simulated node makes of a restart: annotations say which
// container cannot be stopped.
func (e *jobEnd) ended(container string) (phase string, killed bool) {
	pod := e.pods[text(e.spec, "podName")]
	if text(pod, "metadata", "annotations", "lab.test/kill-fails") == container {
		return "Failed", false
	}
	return "Succeeded", true
}

func says(lines []string, words string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, words) })
}

// restartedBy is the container whose image reference differs: a kubelet restarts
// that one. No more than one may.
func restartedBy(before, after map[string]any) (string, error) {
	var names []string
	was, is := items(field(before, "spec", "containers")), items(field(after, "spec", "containers"))
	for i := range min(len(was), len(is)) {
		if text(was[i], "image") != text(is[i], "image") {
			names = append(names, text(is[i], "name"))
		}
	}
	if len(names) != 1 || len(was) != len(is) {
		return "", fmt.Errorf("one step restarts %q", names)
	}
	return names[0], nil
}

// send changes the pod as a step's patch does.
func send(pod map[string]any, step JobsStep) error {
	switch step.Type {
	case "json":
		return operations(pod, step.Body)
	case "strategic":
		if step.Subresource != "ephemeralcontainers" {
			return fmt.Errorf("a patch of %s is not understood", step.Subresource)
		}
		spec := mapping(pod["spec"])
		spec["ephemeralContainers"] = append(items(spec["ephemeralContainers"]), items(field(step.Body, "spec", "ephemeralContainers"))...)
		return nil
	}
	return fmt.Errorf("a patch of type %q is not understood", step.Type)
}

// operations does what a JSON patch says, as far as such patches go here: tests and
// replacements.
func operations(pod map[string]any, body any) error {
	for _, op := range items(body) {
		path := strings.Split(strings.TrimPrefix(text(op, "path"), "/"), "/")
		parent, err := at(pod, path[:len(path)-1])
		if err != nil {
			return err
		}
		m, last := mapping(parent), path[len(path)-1]
		switch text(op, "op") {
		case "test":
			if m[last] != field(op, "value") {
				return fmt.Errorf("%s is %v, not %v", text(op, "path"), m[last], field(op, "value"))
			}
		case "replace":
			m[last] = field(op, "value")
		default:
			return fmt.Errorf("operation %s is not understood", text(op, "op"))
		}
	}
	return nil
}

func at(v any, path []string) (any, error) {
	for _, p := range path {
		if list := items(v); list != nil {
			i, err := strconv.Atoi(p)
			if err != nil || i >= len(list) {
				return nil, fmt.Errorf("no item %s", p)
			}
			v = list[i]
			continue
		}
		v = mapping(v)[p]
	}
	return v, nil
}

// ephemeral sends the steps to the pods and compares which containers they have
// then, and how that ends.
func (e *jobEnd) ephemeral() error {
	if e.status == "gone" {
		return nil
	}
	pods := map[string]map[string]any{}
	for _, p := range e.cluster.kind("Pod") {
		pods[nameOf(p)] = copied(p)
	}
	lasting := int64(0)
	for _, step := range e.made.Steps {
		if pods[step.Pod] == nil {
			return fmt.Errorf("pod %s is not there", step.Pod)
		}
		if lasting == e.parallel() {
			break // no pod will end and make room
		}
		if e.lasts(pods[step.Pod]) {
			lasting++
		}
		if err := send(pods[step.Pod], step); err != nil {
			return err
		}
	}
	for _, p := range items(e.want["pods"]) {
		recorded := mapping(field(p, "object"))
		want := map[string]any{"containers": copiedValue(field(recorded, "spec", "ephemeralContainers"))}
		got := map[string]any{"containers": copiedValue(field(pods[nameOf(recorded)], "spec", "ephemeralContainers"))}
		pruned(got, want)
		pruned(want, got)
		if err := Different("what is in pod "+nameOf(recorded), Diff(bareJob(want), bareJob(got))); err != nil {
			return err
		}
	}
	return e.ephemeralEnd(pods)
}

// parallel is in how many pods an EphemeralJob runs at a time.
func (e *jobEnd) parallel() int64 {
	if n, set := e.spec["parallelism"].(int64); set {
		return n
	}
	return 1
}

// lasts reports whether the containers in pod run on when the recording ends.
func (e *jobEnd) lasts(pod map[string]any) bool {
	n, _ := field(e.status, "running").(int64)
	return n > 0 && e.spec["activeDeadlineSeconds"] == nil && text(pod, "metadata", "annotations", "lab.test/run") == ""
}

// ephemeralEnd compares the counts and the phase. The simulated nodes do what the
// annotations of the pod say.
func (e *jobEnd) ephemeralEnd(pods map[string]map[string]any) error {
	status := mapping(e.status)
	if len(status) == 0 {
		return nil
	}
	count := e.ephemeralCount(pods)
	if e.spec["paused"] == true {
		if len(e.made.Steps) > 0 {
			return fmt.Errorf("%d steps of a paused job", len(e.made.Steps))
		}
		return Different("the phase", Diff("Paused", text(status, "phase")))
	}
	for _, k := range []string{"match", "succeeded", "failed", "running"} {
		if n, _ := status[k].(int64); n != count[k] {
			return fmt.Errorf("%s: %d pods, recorded %d", k, count[k], n)
		}
	}
	return Different("the phase", Diff(text(status, "phase"), e.ephemeralPhase(count)))
}

// ephemeralCount is how many pods of the steps are in which state at the end.
func (e *jobEnd) ephemeralCount(pods map[string]map[string]any) map[string]int64 {
	count := map[string]int64{"match": int64(len(e.made.Steps))}
	deadline, limited := e.spec["activeDeadlineSeconds"].(int64)
	for _, step := range e.made.Steps {
		annotations := field(pods[step.Pod], "metadata", "annotations")
		run, _ := time.ParseDuration(text(annotations, "lab.test/run"))
		code := text(annotations, "lab.test/exit-code")
		switch {
		case e.lasts(pods[step.Pod]):
			if count["running"] < e.parallel() {
				count["running"]++
			}
		case limited && run > time.Duration(deadline)*time.Second:
			count["running"]++
		case code != "" && code != "0":
			count["failed"]++
		default:
			count["succeeded"]++
		}
	}
	return count
}

// ephemeralPhase is the end of a job (docs/kruise/jobs.md#ephemeraljob).
func (e *jobEnd) ephemeralPhase(count map[string]int64) string {
	wanted, set := e.spec["replicas"].(int64)
	if !set {
		wanted = count["match"]
	}
	deadline := e.spec["activeDeadlineSeconds"] != nil
	switch {
	case count["match"] == 0:
		return "Waiting"
	case count["succeeded"] == wanted:
		return "Succeeded"
	case count["running"] > 0 && !deadline:
		return "Running"
	case count["failed"] == wanted, deadline:
		return "Failed"
	}
	return "Unknown"
}
