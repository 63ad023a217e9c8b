package check

import (
	"math"
	"net/netip"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// faulter reports one fault of the object under test.
type faulter func(path, hint, format string, args ...any)

// podReporter reports the faults of one pod, and has the rules for values that many of its
// fields share.
type podReporter struct {
	fault faulter
	// refusedInPods reports what the API server accepts in a template and refuses in the
	// pods that are made from it.
	refusedInPods faulter
	// olderReleases reports what releases of Kruise refuse, and its main branch may not;
	// nil where Kruise does not check.
	olderReleases faulter
	// refusesOS is set for releases that refuse pods which name an operating system.
	refusesOS bool
}

// required wants a value that is not empty.
func (p *podReporter) required(at, value string) {
	if value == "" {
		p.fault(at, "", "required")
	}
}

// oneOf wants text, if there is any, to be one of the values.
func (p *podReporter) oneOf(path, value string, allowed ...string) {
	for _, a := range allowed {
		if value == "" || value == a {
			return
		}
	}
	p.fault(path, "", "%q is not allowed: want %s", value, choiceText(allowed))
}

// requiredOneOf is oneOf for text that may not be empty.
func (p *podReporter) requiredOneOf(path, value string, allowed ...string) {
	if value == "" {
		p.fault(path, "", "required: want %s", choiceText(allowed))
	}
	p.oneOf(path, value, allowed...)
}

// label wants a name that is a DNS label and is not in seen, and adds it.
func (p *podReporter) label(path, what, name string, seen map[string]bool) {
	switch msgs := validation.IsDNS1123Label(name); {
	case name == "":
		p.fault(path, "", "a %s needs a name", what)
	case len(msgs) > 0:
		p.fault(path, "", "%q is not a name: %s", name, strings.Join(msgs, "; "))
	case seen[name]:
		p.fault(path, "", "there are two %ss %s", what, name)
	}
	seen[name] = true
}

// dnsLabel wants a name, if there is one, to be a DNS label.
func (p *podReporter) dnsLabel(at, name string) {
	if name == "" {
		return
	}
	for _, msg := range validation.IsDNS1123Label(name) {
		p.fault(at, "", "%q: %s", name, msg)
	}
}

// subdomain wants a DNS subdomain.
func (p *podReporter) subdomain(path, name string) {
	for _, msg := range validation.IsDNS1123Subdomain(name) {
		p.fault(path, "", "%q: %s", name, msg)
	}
}

// address wants an IP address.
func (p *podReporter) address(at, text string) {
	if _, err := netip.ParseAddr(text); err != nil {
		p.fault(at, "", "%q is not an IP address", text)
	}
}

// id wants the number of a user or a group, if there is one, to be in range.
func (p *podReporter) id(path string, n *int64) {
	if n != nil && (*n < 0 || *n > math.MaxInt32) {
		p.fault(path, "", "%d is not between 0 and %d", *n, math.MaxInt32)
	}
}

// dataKey wants the key of a ConfigMap or Secret.
func (p *podReporter) dataKey(at, key string) {
	if key == "" {
		p.fault(at, "", "required")
	} else if msg := dataKey(key); msg != "" {
		p.fault(at, "", "%q: %s", key, msg)
	}
}

// selector wants a selector, if there is one, to be valid.
func (p *podReporter) selector(at string, sel *metav1.LabelSelector) {
	if _, err := metav1.LabelSelectorAsSelector(sel); err != nil {
		p.fault(at, "", "%v", err)
	}
}

// fieldErrors reports what a function of Kubernetes found.
func (p *podReporter) fieldErrors(problems field.ErrorList) {
	for _, e := range sortedErrors(problems) {
		p.fault(e.Field, "", "%s", detailOf(e))
	}
}

// given counts the fields that have a value.
func given(fields ...bool) (n int) {
	for _, there := range fields {
		if there {
			n++
		}
	}
	return n
}
