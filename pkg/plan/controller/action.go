package controller

import "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"

// Action is one write of a controller.
type Action interface{ action() }

type (
	// StoreRevision creates the revision, or sets Number of the one that is
	// there under the same name.
	StoreRevision struct{ Revision cluster.Revision }

	// DropRevision deletes a revision that history no longer keeps.
	DropRevision struct{ Name string }

	// CreatePod makes a pod from a revision's template. Admission may still
	// change it.
	CreatePod struct {
		// Name is the pod's; when it is empty the store makes PREFIX plus five
		// random characters, and puts those into each label of IDLabels.
		Name   string
		Prefix string
		// IDLabels are labels whose value is the random part, on the pod and on
		// those of its claims whose names end in it.
		IDLabels []string
		// Revision is the full name of the revision; it is empty for the
		// workload's present template, which is all that a ReplicaSet knows.
		Revision string
		// Labels, Annotations and Gates are added to the template's.
		Labels, Annotations map[string]string
		Gates               []string
		// Node binds the pod, as a DaemonSet does; empty for the scheduler.
		Node string
		// Claims are created before the pod unless they are there; a name ends in
		// "-" where the random part belongs.
		Claims []cluster.Claim
	}

	// PatchPod changes a pod. Conditions are written first, by themselves, as
	// the status is a request of its own.
	PatchPod struct {
		Pod    *cluster.Pod
		Change cluster.PodChange
		// Permit asks the PodUnavailableBudgets before anything is written.
		Permit bool
	}

	// DeletePod asks for a pod's deletion, within its grace period.
	DeletePod struct{ Pod *cluster.Pod }

	// PatchWorkload is a JSON merge patch of the controller's own object, in its
	// kind's newest version.
	PatchWorkload struct{ Patch map[string]any }

	// ScaleChild sets the replicas and some annotations of a ReplicaSet.
	ScaleChild struct {
		Name     string
		Replicas int
		// Annotations are merged into the ReplicaSet's own.
		Annotations map[string]string
		// New is the ReplicaSet to create, complete but for uid and generation:
		// its owner reference, labels and template are those it shall have. It
		// is nil for one that exists.
		New *cluster.Workload
	}

	// DropChild deletes a ReplicaSet without pods.
	DropChild struct{ Name string }

	// ChangeClaim deletes a claim, or gives it an owner.
	ChangeClaim struct {
		Claim  *cluster.Claim
		Delete bool
		Owner  *cluster.Owner
	}

	// Event is what the controller would tell: Normal or Warning.
	Event struct{ Type, Reason, Message string }
)

func (StoreRevision) action() {}
func (DropRevision) action()  {}
func (CreatePod) action()     {}
func (PatchPod) action()      {}
func (DeletePod) action()     {}
func (PatchWorkload) action() {}
func (ScaleChild) action()    {}
func (DropChild) action()     {}
func (ChangeClaim) action()   {}
func (Event) action()         {}
