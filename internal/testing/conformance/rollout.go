package conformance

import (
	"encoding/json"
	"fmt"
	"time"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// RolloutStep is one recorded step of a rollout: what there was, what was sent,
// what the controllers did, and where it ended.
type RolloutStep struct {
	// Case and Number name it: 006-clone-partition-int, 2.
	Case   string
	Number int
	// Kind is that of the workload under test.
	Kind          string
	Before, After RolloutState
	Trace         RolloutTrace
}

// RolloutState is what the cluster held at one moment.
type RolloutState struct {
	TakenAt    time.Time                    `json:"takenAt"`
	Workload   map[string]any               `json:"workload"`
	Others     []map[string]any             `json:"others"`
	Revisions  []RolloutRevision            `json:"revisions"`
	Pods       []RolloutPod                 `json:"pods"`
	Claims     []RolloutClaim               `json:"claims"`
	NodeLabels map[string]map[string]string `json:"nodeLabels"`
}

// RolloutClaim is one PersistentVolumeClaim.
type RolloutClaim struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	// Owners are spelt KIND/NAME.
	Owners []string `json:"owners"`
}

// RolloutRevision is one ControllerRevision.
type RolloutRevision struct {
	Name        string            `json:"name"`
	Revision    int64             `json:"revision"`
	Annotations map[string]string `json:"annotations"`
	Template    map[string]any    `json:"template"`
}

// RolloutPod is one pod in the recordings' own form.
type RolloutPod struct {
	Name              string             `json:"name"`
	UID               string             `json:"uid"`
	Owner             string             `json:"owner"`
	Labels            map[string]string  `json:"labels"`
	Annotations       map[string]string  `json:"annotations"`
	Finalizers        []string           `json:"finalizers"`
	CreationTimestamp time.Time          `json:"creationTimestamp"`
	DeletionTimestamp *time.Time         `json:"deletionTimestamp"`
	Node              string             `json:"node"`
	Phase             string             `json:"phase"`
	ReadinessGates    []string           `json:"readinessGates"`
	Conditions        []RolloutCondition `json:"conditions"`
	Containers        []RolloutContainer `json:"containers"`
}

// RolloutCondition is one condition of a pod.
type RolloutCondition struct {
	Type, Status, Reason, Message string
	LastTransitionTime            time.Time
}

// RolloutContainer is one container of a pod, spec and status together.
type RolloutContainer struct {
	Name, Image, StatusImage, ImageID, ContainerID, State string
	RestartCount                                          int
	Ready                                                 bool
}

// RolloutTrace is what happened.
type RolloutTrace struct {
	Step    map[string]any   `json:"step"`
	Result  []RolloutResult  `json:"result"`
	Settled bool             `json:"settled"`
	Waves   []RolloutWave    `json:"waves"`
	Batches []RolloutBatch   `json:"batches"`
	Trace   []RolloutOp      `json:"trace"`
	Summary map[string]any   `json:"summary"`
	Events  []map[string]any `json:"events"`
}

// RolloutResult is the API server's answer to one request.
type RolloutResult struct {
	Accepted bool
	Object   string
}

// RolloutWave are acting ops without a pause between them; each is spelt OP POD.
type RolloutWave struct {
	T   float64
	Ops []string
}

// RolloutBatch are the acting ops between two pods' becoming ready.
type RolloutBatch struct {
	T           float64
	ReadyBefore []string
	Ops         []RolloutOp
}

// RolloutOp is one observed change of a pod; which fields are set depends on Op.
type RolloutOp struct {
	T            float64
	Op, Pod, UID string
	// Revision is text, or a map with from and to.
	Revision any
	// From and To are lifecycle states.
	From, To          string
	Node              string
	Condition, Reason string
	Container, Image  string
	RestartCount      int
	Grace             bool
	// Labels and Annotations are what changed; null is a removal.
	Labels, Annotations map[string]any
	Finalizers          []string
	// Containers are the images that changed, each a map with from and to.
	Containers map[string]map[string]string
}

// RolloutSteps reads the steps of a rollout case.
func RolloutSteps(c Case) ([]RolloutStep, error) {
	var out []RolloutStep
	for k := 1; c.Has(fmt.Sprintf("trace-%d.yaml", k)); k++ {
		s := RolloutStep{Case: c.Name, Number: k}
		for file, into := range map[string]any{"before": &s.Before, "after": &s.After, "trace": &s.Trace} {
			if err := c.decode(fmt.Sprintf("%s-%d.yaml", file, k), into); err != nil {
				return nil, err
			}
		}
		s.Kind, _ = s.Before.Workload["kind"].(string)
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no step", c.Name)
	}
	return out, nil
}

// decode reads a file of one document into a struct with JSON names.
func (c Case) decode(file string, into any) error {
	data, err := c.Read(file)
	if err != nil {
		return err
	}
	docs, err := Docs(data)
	if err != nil || len(docs) != 1 {
		return fmt.Errorf("%s: %d documents, %w", file, len(docs), err)
	}
	if err := remarshal(docs[0], into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// decodeList reads a file that holds one list.
func (c Case) decodeList(file string, into any) error {
	data, err := c.Read(file)
	if err != nil {
		return err
	}
	var n tree.Node
	if err := yaml.Unmarshal(data, &n); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := remarshal(tree.Value(&n), into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// remarshal puts plain values into a struct with JSON names.
func remarshal(v, into any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// Patched reports whether the step is a patch of the workload under test that
// was accepted.
func (s RolloutStep) Patched() bool {
	_, patch := s.Trace.Step["patch"]
	for _, r := range s.Trace.Result {
		if !r.Accepted || r.Object != s.Object() {
			return false
		}
	}
	return patch
}

// Object names the workload under test, KIND/NAME.
func (s RolloutStep) Object() string {
	meta, _ := s.Before.Workload["metadata"].(map[string]any)
	return fmt.Sprint(s.Kind, "/", meta["name"])
}
