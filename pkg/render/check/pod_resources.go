package check

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// resources wants known names, no negative quantities, no request above its limit, and
// request and limit to be equal for resources that cannot be overcommitted.
func resources(fault faulter, path string, r corev1.ResourceRequirements) {
	for _, name := range sortedNames(r.Limits) {
		at := fmt.Sprintf("%s.limits[%s]", path, name)
		resourceName(fault, at, name)
		if limit := r.Limits[name]; limit.Sign() < 0 {
			fault(at, "", "%s must not be negative", limit.String())
		}
	}
	for _, name := range sortedNames(r.Requests) {
		at := fmt.Sprintf("%s.requests[%s]", path, name)
		resourceName(fault, at, name)
		request := r.Requests[name]
		limit, limited := r.Limits[name]
		switch {
		case request.Sign() < 0:
			fault(at, "", "%s must not be negative", request.String())
		case limited && request.Cmp(limit) > 0:
			fault(at, "", "%s is more than the limit of %s", request.String(), limit.String())
		case !overcommits(name) && (!limited || request.Cmp(limit) != 0):
			fault(at, "set the limit to the same", "%s cannot be overcommitted: request and limit must be equal", name)
		}
	}
}

// resourceName wants a resource of Kubernetes, or an extended resource.
func resourceName(fault faulter, at string, name corev1.ResourceName) {
	vendor, _, extended := strings.Cut(string(name), "/")
	own := vendor == "kubernetes.io" || strings.HasSuffix(vendor, ".kubernetes.io")
	switch {
	case len(validation.IsQualifiedName(string(name))) > 0, !extended && !standard(name), extended && own:
		fault(at, "", "%q is not a resource of containers", name)
	}
}

func standard(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	}
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// overcommits reports a resource of which a container may use more than it requests.
func overcommits(name corev1.ResourceName) bool {
	return standard(name) && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// podResources has the rules for resources of a pod as a whole.
type podResources struct{ *podReporter }

// pod checks the resources of the pod as a whole, and its overhead.
func (p podResources) pod(at string, s *corev1.PodSpec) {
	resources(p.fault, at+".overhead", corev1.ResourceRequirements{Limits: s.Overhead})
	if s.Resources == nil {
		return
	}
	if len(s.Resources.Claims) > 0 {
		p.fault(at+".resources.claims", "give them to the containers", "not allowed for the pod as a whole")
	}
	resources(p.fault, at+".resources", *s.Resources)
}

// resourceClaims wants each claim once, with one source, and containers to name only these.
func (p podResources) resourceClaims(at string, s *corev1.PodSpec) {
	names := map[string]bool{}
	for i, c := range s.ResourceClaims {
		here := fmt.Sprintf("%s.resourceClaims[%d]", at, i)
		p.label(here+".name", "resource claim", c.Name, names)
		if n := given(c.ResourceClaimName != nil, c.ResourceClaimTemplateName != nil); n != 1 {
			p.fault(here, "", "want one of resourceClaimName and resourceClaimTemplateName")
		}
		if c.ResourceClaimName != nil {
			p.subdomain(here+".resourceClaimName", *c.ResourceClaimName)
		}
		if c.ResourceClaimTemplateName != nil {
			p.subdomain(here+".resourceClaimTemplateName", *c.ResourceClaimTemplateName)
		}
	}
	used := func(at string, list []corev1.Container) {
		for i, c := range list {
			for j, claim := range c.Resources.Claims {
				if !names[claim.Name] {
					p.fault(fmt.Sprintf("%s[%d].resources.claims[%d].name", at, i, j), "", "there is no resource claim %q", claim.Name)
				}
			}
		}
	}
	used(at+".initContainers", s.InitContainers)
	used(at+".containers", s.Containers)
}
