package invariant

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Rollout is what was to be done: all that the invariants know besides the log, which is
// that of one namespace with this workload alone.
type Rollout struct {
	// Resource and Name are the workload's.
	Resource, Name string
	// State is the name of its record and its Lease.
	State string
	// Image is what pods have that are updated.
	Image string
	Plan  plan.Plan
}

// client reports whether the operator changes pods itself.
func (r *Rollout) client() bool { return r.Plan.Driver == plan.DriverClient }

// progress is how far a rollout has come, by its record.
type progress struct {
	Step     int       `json:"step"`
	Held     string    `json:"held"`
	Halted   string    `json:"halted"`
	Finished time.Time `json:"finished"`
	Stop     struct {
		Asked bool           `json:"asked"`
		Field plan.StopField `json:"field"`
		Was   string         `json:"was"`
		Is    string         `json:"is"`
	} `json:"stop"`
}

// stops reports whether a write is the one that stops the controller, as the record says, or
// lets it continue.
func (r *Rollout) stops(w *Write, p *progress) bool {
	if p == nil || p.Stop.Field == "" {
		return false
	}
	object := r.Plan.Target.Object()
	group, version, _ := strings.Cut(object.APIVersion, "/")
	value := p.Stop.Was
	if p.Stop.Asked {
		value = p.Stop.Is
	}
	var body any = value
	if n, err := strconv.Atoi(value); err == nil {
		body = n
	} else if on, err := strconv.ParseBool(value); err == nil {
		body = on
	}
	for _, field := range slices.Backward(p.Stop.Field.Path(group, object.Kind, version)) {
		body = map[string]any{field: body}
	}
	return Patch(body) == Patch(w.Body)
}

// recorded is what a write has recorded; ok is false for any other write.
func (r *Rollout) recorded(w *Write) (p progress, ok bool) {
	if w.Resource != "configmaps" || w.Name != r.State || !w.Done() {
		return p, false
	}
	var record struct {
		Progress progress `json:"progress"`
	}
	err := json.Unmarshal([]byte(Text(w.Object, "data", "record")), &record)
	return record.Progress, err == nil
}

// follow calls f with every write and what is recorded when it comes; nil while there is
// nothing.
func (r *Rollout) follow(l Log, f func(*Write, *progress)) {
	var now *progress
	for i := range l {
		if p, ok := r.recorded(&l[i]); ok {
			now = &p
		}
		f(&l[i], now)
	}
}

// step is the recorded step.
func (r *Rollout) step(p *progress) (plan.Step, bool) {
	if p == nil || p.Step >= len(r.Plan.Steps) {
		return plan.Step{}, false
	}
	return r.Plan.Steps[p.Step], true
}

// ofWorkload reports whether the operator writes the workload itself.
func (r *Rollout) ofWorkload(w *Write) bool {
	return w.By != "" && w.Resource == r.Resource && w.Name == r.Name && w.Subresource != "status"
}

// act is a write by which a client takes a pod down: an image that changes in place, an
// eviction, a deletion. What a node does when a pod has ended is none.
func act(w *Write, pods pods) bool {
	if w.Resource != "pods" || !w.Done() {
		return false
	}
	switch {
	case w.Verb == "create" && w.Subresource == "eviction":
		return true
	case w.Verb == "delete":
		return at(w.Body, "gracePeriodSeconds") != float64(0)
	case w.Subresource == "" && (w.Verb == "patch" || w.Verb == "update"):
		before := pods[w.Name]
		return before != nil && before.image != imageOf(w.Object)
	}
	return false
}

func (w *Write) String() string {
	what := w.Resource
	if w.Subresource != "" {
		what += "/" + w.Subresource
	}
	return fmt.Sprintf("%s %s %s %s by %q: %d", w.At.Format("05.000"), w.Verb, what, w.Name, w.By, w.Code)
}
