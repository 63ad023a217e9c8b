package plan

// Gates that a [Blocker] names.
const (
	// GateObject: the object is gone, or another.
	GateObject = "object"
	// GateOwner: somebody else drives the object.
	GateOwner = "owner"
	// GateProgress: what was recorded does not fit the plan.
	GateProgress = "progress"
	// GateTemplate: the template is not the one that the plan knows.
	GateTemplate = "template"
	// GatePartition: the partition is not the one that the plan has set.
	GatePartition = "partition"
	// GatePaused: the object is paused.
	GatePaused = "paused"
	// GatePromote: somebody has to promote.
	GatePromote = "promote"
	// GateHeld: somebody has put the rollout on hold.
	GateHeld = "held"
	// GateTime: time has to pass.
	GateTime = "time"
	// GatePull: images are not on the nodes yet.
	GatePull = "pull"
	// GateVerify: the answer is not there, or bad.
	GateVerify = "verify"
	// GateUpdated: pods are not updated or not available yet.
	GateUpdated = "updated"
	// GateReady: one pod is not ready.
	GateReady = "ready"
	// GateCrash: a container ends again and again.
	GateCrash = "crash"
	// GateImage: an image cannot be pulled.
	GateImage = "image"
	// GateSchedule: no node takes a pod.
	GateSchedule = "schedule"
	// GateBudget: a budget lets no pod go.
	GateBudget = "budget"
	// GateMaxUnavailable: the workload's own limit of pods that are down at once is used up.
	GateMaxUnavailable = "maxUnavailable"
	// GateHook: a lifecycle hook holds a pod.
	GateHook = "hook"
	// GateGrace: a pod is being drained.
	GateGrace = "grace"
	// GateDeadline: the step has taken too long.
	GateDeadline = "deadline"
	// GateNotAllowed: the update policy forbids the change.
	GateNotAllowed = "notAllowed"
)

// gates are all gates.
var gates = []string{
	GateObject, GateOwner, GateProgress, GateTemplate, GatePartition, GatePaused, GatePromote, GateHeld, GateTime, GatePull, GateVerify,
	GateUpdated, GateReady, GateCrash, GateImage, GateSchedule, GateBudget, GateMaxUnavailable, GateHook, GateGrace, GateDeadline, GateNotAllowed,
}

// String names gate and pod: "ready web-3: container main does not run web:2 yet".
func (b Blocker) String() string {
	if b.Pod == "" {
		return b.Gate + ": " + b.Why
	}
	return b.Gate + " " + b.Pod + ": " + b.Why
}
