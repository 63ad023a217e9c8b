package check

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// faulter reports one fault of the object under test.
type faulter func(path, hint, format string, args ...any)

// resources: nothing negative, no request above its limit.
func resources(fault faulter, path string, r corev1.ResourceRequirements) {
	for _, name := range sortedNames(r.Limits) {
		if limit := r.Limits[name]; limit.Sign() < 0 {
			fault(fmt.Sprintf("%s.limits[%s]", path, name), "", "%s must not be negative", limit.String())
		}
	}
	for _, name := range sortedNames(r.Requests) {
		at := fmt.Sprintf("%s.requests[%s]", path, name)
		request := r.Requests[name]
		limit, limited := r.Limits[name]
		switch {
		case request.Sign() < 0:
			fault(at, "", "%s must not be negative", request.String())
		case limited && request.Cmp(limit) > 0:
			fault(at, "", "%s is more than the limit of %s", request.String(), limit.String())
		}
	}
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// probe: exactly one way to ask.
func probe(fault faulter, path string, p *corev1.Probe) {
	if p == nil {
		return
	}
	ways := 0
	for _, given := range []bool{p.Exec != nil, p.HTTPGet != nil, p.TCPSocket != nil, p.GRPC != nil} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		fault(path, "give one of exec, httpGet, tcpSocket, grpc", "a probe asks in one way, not %d", ways)
	}
}
