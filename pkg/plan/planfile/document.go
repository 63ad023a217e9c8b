package planfile

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// document is a plan as it is written.
type document struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   metadata  `json:"metadata"`
	Spec       plan.Plan `json:"spec"`
}

type metadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	// Labels and Annotations belong to the owner of the file.
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// The words that fields take.
var (
	drivers    = []plan.Driver{plan.DriverKruise, plan.DriverNative, plan.DriverClient}
	stepKinds  = []plan.StepKind{plan.StepPullImages, plan.StepUpdate, plan.StepPartition, plan.StepPause, plan.StepInPlace, plan.StepRecreate, plan.StepRecreateContainers, plan.StepVerify}
	failures   = []plan.OnFailure{plan.FailPause, plan.FailRollback, plan.FailAbort}
	modes      = []rules.UpdateMode{rules.ModeUnchanged, rules.ModeInPlace, rules.ModeMetadataOnly, rules.ModeRecreate, rules.ModeDelete, rules.ModeNotAllowed}
	patchTypes = []string{plan.PatchMerge, plan.PatchJSON, plan.PatchStrategic}
	conditions = []plan.ConditionType{plan.HoldsUID, plan.HoldsTemplate, plan.HoldsPartition, plan.HoldsPaused, plan.HoldsReplicas, plan.HoldsAvailable, plan.HoldsUpdatedAvailable, plan.HoldsSettled, plan.HoldsPulled, plan.HoldsComplete}
	drains     = []plan.Drain{"", plan.DrainLabel, plan.DrainGate, plan.DrainNone}
	methods    = []string{"", plan.RestartCRR, plan.RestartAlias, plan.RestartSignal}
	subparts   = []string{"", "status", "scale"}
)
