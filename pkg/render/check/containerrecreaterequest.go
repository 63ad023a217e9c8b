package check

import (
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const (
	recreateStrategy = "spec.strategy."
	shortestDeadline = 3
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindContainerRecreateRequest, object: kruise.ContainerRecreateRequest{}, filled: true,
	check: containerRecreateRequest,
})

// recreateCheck gathers the faults of one ContainerRecreateRequest.
type recreateCheck struct {
	*subject
	spec *kruise.ContainerRecreateRequestSpec
}

// containerRecreateRequest holds the rules of the webhook
// (docs/kruise/jobs.md#containerrecreaterequest).
func containerRecreateRequest(s *subject) {
	var request kruise.ContainerRecreateRequest
	if !s.read(&request) {
		return
	}
	k := &recreateCheck{subject: s, spec: &request.Spec}
	if s.Old != nil {
		k.immutableSpec(&request)
		return
	}
	k.strategy()
	if d := k.spec.ActiveDeadlineSeconds; d != nil && *d < shortestDeadline {
		k.fault("spec.activeDeadlineSeconds", "", "%d is less than %d", *d, shortestDeadline)
	}
	if k.r.Version() == kruise.V1beta1 {
		notNegative(k.subject, "spec.ttlSecondsAfterFinished", k.spec.TTLSecondsAfterFinished)
	}
	k.containers(k.pod())
}

// immutableSpec refuses any change of the spec. Values that the webhook filled in are no
// change by the user.
func (k *recreateCheck) immutableSpec(now *kruise.ContainerRecreateRequest) {
	var old kruise.ContainerRecreateRequest
	if !k.decodeOld(&old) {
		return
	}
	if !apiequality.Semantic.DeepEqual(requestedSpec(old.Spec), requestedSpec(now.Spec)) {
		k.immutableFault("spec", "delete it and create it again", "an existing ContainerRecreateRequest is immutable")
	}
	for _, label := range []string{kruise.ContainerRecreatePodUIDLabel, kruise.ContainerRecreateNodeNameLabel} {
		was, is := old.Labels[label], now.Labels[label]
		if was != "" && is != "" && was != is {
			k.immutableFault("metadata.labels["+label+"]", "", "this label is immutable")
		}
	}
}

// requestedSpec is the spec without what the webhook filled in from the pod.
func requestedSpec(s kruise.ContainerRecreateRequestSpec) kruise.ContainerRecreateRequestSpec {
	request := kruise.ContainerRecreateRequest{Spec: s}
	kruise.Default(&request)
	out := request.Spec
	out.Containers = make([]kruise.ContainerRecreateRequestContainer, len(s.Containers))
	for i, c := range s.Containers {
		out.Containers[i].Name = c.Name
	}
	return out
}

func (k *recreateCheck) strategy() {
	s := k.spec.Strategy
	if s == nil {
		return
	}
	oneOf(k.subject, recreateStrategy+"failurePolicy", s.FailurePolicy, kruise.ContainerRecreateFail, kruise.ContainerRecreateIgnore)
	notNegative(k.subject, recreateStrategy+"terminationGracePeriodSeconds", s.TerminationGracePeriodSeconds)
	notNegative(k.subject, recreateStrategy+"unreadyGracePeriodSeconds", s.UnreadyGracePeriodSeconds)
	if k.r.Version() == kruise.V1beta1 {
		notNegative(k.subject, recreateStrategy+"minStartedSeconds", &s.MinStartedSeconds)
	}
}

// pod returns the pod when its containers can be looked at.
func (k *recreateCheck) pod() *tree.Node {
	const path = "spec.podName"
	if k.spec.PodName == "" {
		k.fault(path, "", "a pod is required")
		return nil
	}
	r := k.findInNamespace("", "Pod", k.spec.PodName)
	switch {
	case r == nil && !k.Known:
		return nil
	case r == nil:
		k.fault(path, "name the pod in the input, or by --with or --live", "there is no pod %s", k.spec.PodName)
		return nil
	case !kruise.ActivePod(r.Node()) && !sidecarsEnded(r.Node()):
		k.fault(path, "", "pod %s has ended or is terminating", k.spec.PodName)
	case !startedPod(r.Node()):
		k.fault(path, "", "pod %s has not started", k.spec.PodName)
	}
	return r.Node()
}

func (k *recreateCheck) containers(pod *tree.Node) {
	const path = "spec.containers"
	if len(k.spec.Containers) == 0 {
		k.fault(path, "", "a container is required")
	}
	seen := map[string]bool{}
	for i, c := range k.spec.Containers {
		at := fmt.Sprintf("%s[%d]", path, i)
		if c.PreStop != nil || c.Ports != nil || c.StatusContext != nil {
			k.fault(at, "give only the name", "preStop, ports and statusContext are filled in by Kruise")
		}
		switch {
		case c.Name == "":
			k.fault(at+".name", "", "a name is required")
		case seen[c.Name]:
			k.fault(at+".name", "", "container %s is named twice", c.Name)
		case pod != nil:
			k.startedContainer(at+".name", pod, c.Name)
		}
		seen[c.Name] = true
	}
}

// startedContainer wants a regular container of the pod that has been started.
func (k *recreateCheck) startedContainer(path string, pod *tree.Node, name string) {
	if c, _ := tree.Find(tree.Get(pod, "spec", "containers"), "name", name); c == nil {
		k.fault(path, "init containers, native sidecars included, cannot be recreated", "the pod has no container %s", name)
		return
	}
	if list := tree.Get(pod, "status", "containerStatuses"); list != nil || tree.StrAt(pod, "status", "phase") == "Pending" && startedPod(pod) {
		if c, _ := tree.Find(list, "name", name); tree.StrAt(c, "containerID") == "" {
			k.fault(path, "", "container %s has not started", name)
		}
	}
}

// sidecarsEnded reports a pod that Kruise's SidecarTerminator has marked as completed,
// although some of its sidecars still run.
func sidecarsEnded(pod *tree.Node) bool {
	c, _ := tree.Find(tree.Get(pod, "status", "conditions"), "type", kruise.SidecarTerminated)
	return c != nil
}

// startedPod reports a pod that has a node. A pod without a status, as in a file written by
// hand, counts as running and ready.
func startedPod(pod *tree.Node) bool {
	return tree.StrAt(pod, "status", "phase") != "Pending" || tree.StrAt(pod, "spec", "nodeName") != ""
}
