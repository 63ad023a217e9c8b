package planfile

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// document is a plan as it is written.
type document struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       spec     `json:"spec"`
}

type metadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	// Labels and Annotations belong to the owner of the file.
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type spec struct {
	Target     target     `json:"target"`
	Driver     string     `json:"driver"`
	Change     change     `json:"change"`
	Limits     numbers    `json:"limits"`
	Drain      string     `json:"drain,omitempty"`
	Grace      duration   `json:"grace,omitzero"`
	HookAnswer hookAnswer `json:"hookAnswer,omitzero"`
	Warnings   []string   `json:"warnings,omitempty"`
	// RollsBack is why the rollout before was ended.
	RollsBack string `json:"rollsBack,omitempty"`
	Steps     []step `json:"steps"`
}

type target struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Namespace  string  `json:"namespace,omitempty"`
	Name       string  `json:"name"`
	UID        string  `json:"uid,omitempty"`
	Carrier    *target `json:"carrier,omitempty"`
}

type change struct {
	Mode         string   `json:"mode"`
	Why          string   `json:"why"`
	FromRevision string   `json:"fromRevision,omitempty"`
	ToRevision   string   `json:"toRevision,omitempty"`
	FromHash     string   `json:"fromHash"`
	ToHash       string   `json:"toHash"`
	Restarts     []string `json:"restarts,omitempty"`
	Fields       []field  `json:"fields,omitempty"`
	// Spec is what the plan writes outside of the template, with what was there before.
	Spec []specField `json:"spec,omitempty"`
}

type specField struct {
	Path string `json:"path"`
	Old  any    `json:"old,omitempty"`
	New  any    `json:"new,omitempty"`
}

type field struct {
	Path     string   `json:"path"`
	Old      any      `json:"old,omitempty"`
	New      any      `json:"new,omitempty"`
	Effect   string   `json:"effect"`
	Restarts []string `json:"restarts,omitempty"`
	Why      string   `json:"why,omitempty"`
}

type numbers struct {
	Replicas       int      `json:"replicas"`
	MaxUnavailable int      `json:"maxUnavailable"`
	MaxSurge       int      `json:"maxSurge,omitempty"`
	MinReady       duration `json:"minReady,omitzero"`
}

type step struct {
	Name       string      `json:"name"`
	Kind       string      `json:"kind"`
	Title      string      `json:"title"`
	Patches    []patch     `json:"patches,omitempty"`
	Pause      *pause      `json:"pause,omitempty"`
	Verify     *verify     `json:"verify,omitempty"`
	Pull       *pull       `json:"pull,omitempty"`
	Containers *containers `json:"containers,omitempty"`
	Updated    int         `json:"updated"`
	Kept       int         `json:"kept"`
	Before     []condition `json:"before,omitempty"`
	After      []condition `json:"after,omitempty"`
	Timeout    duration    `json:"timeout,omitzero"`
	OnFailure  string      `json:"onFailure"`
	Pods       []pod       `json:"pods,omitempty"`
}

type patch struct {
	Target      *target `json:"target,omitempty"`
	Type        string  `json:"type"`
	Subresource string  `json:"subresource,omitempty"`
	Reached     int     `json:"reached,omitempty"`
	Patch       any     `json:"patch"`
}

type condition struct {
	Type  string `json:"type"`
	Value string `json:"value,omitempty"`
}

type pod struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
	Node string `json:"node,omitempty"`
	Mode string `json:"mode"`
	Tie  int    `json:"tie,omitempty"`
	Why  string `json:"why,omitempty"`
}

// pause without a time waits for approval.
type pause struct {
	For duration `json:"for,omitzero"`
}

type pull struct {
	Images   []string `json:"images"`
	Parallel int      `json:"parallel,omitempty"`
}

type containers struct {
	Names   []string `json:"names"`
	Method  string   `json:"method,omitempty"`
	Ordered bool     `json:"ordered,omitempty"`
	Unready duration `json:"unready,omitzero"`
}

type verify struct {
	Command    []string       `json:"command,omitempty"`
	URL        string         `json:"url,omitempty"`
	Status     int            `json:"status,omitempty"`
	JSONPath   string         `json:"jsonPath,omitempty"`
	Value      string         `json:"value,omitempty"`
	Prometheus string         `json:"prometheus,omitempty"`
	Query      string         `json:"query,omitempty"`
	Threshold  string         `json:"threshold,omitempty"`
	Job        map[string]any `json:"job,omitempty"`
	Every      duration       `json:"every,omitzero"`
	Attempts   int            `json:"attempts,omitempty"`
}

// The words that fields take.
var (
	drivers    = []string{string(plan.DriverKruise), string(plan.DriverNative), string(plan.DriverClient)}
	stepKinds  = []string{string(plan.StepPullImages), string(plan.StepUpdate), string(plan.StepPartition), string(plan.StepPause), string(plan.StepInPlace), string(plan.StepRecreate), string(plan.StepRecreateContainers), string(plan.StepVerify)}
	failures   = []string{string(plan.FailPause), string(plan.FailRollback), string(plan.FailAbort)}
	modes      = []string{string(rules.ModeUnchanged), string(rules.ModeInPlace), string(rules.ModeMetadataOnly), string(rules.ModeRecreate), string(rules.ModeDelete), string(rules.ModeNotAllowed)}
	patchTypes = []string{plan.PatchMerge, plan.PatchJSON, plan.PatchStrategic}
	conditions = []string{string(plan.HoldsUID), string(plan.HoldsTemplate), string(plan.HoldsPartition), string(plan.HoldsPaused), string(plan.HoldsReplicas), string(plan.HoldsAvailable), string(plan.HoldsUpdatedAvailable), string(plan.HoldsSettled), string(plan.HoldsPulled), string(plan.HoldsComplete)}
	drains     = []string{"", string(plan.DrainLabel), string(plan.DrainGate), string(plan.DrainNone)}
	methods    = []string{"", plan.RestartCRR, plan.RestartAlias, plan.RestartSignal}
	subparts   = []string{"", "status", "scale"}
)

// duration is a length of time as text: 10m0s.
type duration time.Duration

// MarshalJSON writes the text.
func (d duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads the text; numbers are refused, since they have no unit.
func (d *duration) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return fmt.Errorf("%s is not a length of time: write it as 30s, 5m or 1h30m", text)
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a length of time: write it as 30s, 5m or 1h30m", s)
	}
	*d = duration(v)
	return nil
}

// amount is a number of pods or a percentage: 3 or 10%.
type amount plan.Amount

// MarshalJSON writes a number as one.
func (a amount) MarshalJSON() ([]byte, error) {
	if a.Percent {
		return json.Marshal(plan.Amount(a).String())
	}
	return []byte(plan.Amount(a).String()), nil
}

// UnmarshalJSON reads a number, or the text of either.
func (a *amount) UnmarshalJSON(text []byte) error {
	s := string(text)
	if unquoted, err := strconv.Unquote(s); err == nil {
		s = unquoted
	}
	v, err := plan.ParseAmount(s)
	if err != nil {
		return fmt.Errorf("%w: write a number of pods, such as 3, or a percentage, such as 10%%", err)
	}
	*a = amount(v)
	return nil
}

// hookAnswer is a length of time as text, or never.
type hookAnswer time.Duration

// MarshalJSON writes the text.
func (d hookAnswer) MarshalJSON() ([]byte, error) {
	return json.Marshal(plan.HookAnswerText(time.Duration(d)))
}

// UnmarshalJSON reads the text.
func (d *hookAnswer) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return fmt.Errorf("%s is not a length of time: write it as 30s or 5m, or never", text)
	}
	v, err := plan.ParseHookAnswer(s)
	if err != nil {
		return fmt.Errorf("%q is not a length of time: write it as 30s or 5m, or never", s)
	}
	*d = hookAnswer(v)
	return nil
}
