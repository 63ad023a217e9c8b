package lower

import "fmt"

// reportFields says what becomes of the fields, also where defaults stand.
func (p *imagePull) reportFields() {
	image := "spec.image"
	if p.rules == "imagelistpulljob" {
		image = "spec.images"
	}
	if p.never() {
		p.report(p.id("never"), "spec.completionPolicy.type", "")
	} else {
		p.report(p.id("pull"), image, "")
	}
	if !p.c.Since(imageVolumesServed) {
		p.report(p.id("pull-older"), image, fmt.Sprintf("Kubernetes 1.%d has no image volumes by default", p.c.Kubernetes))
	}
	p.reportParallelism()
	p.reportWritten([]outcome{
		{"spec.selector", p.id("selector"), ""},
		{"spec.podSelector", p.id("pod-selector"), ""},
		{"spec.pullSecrets", p.id("pull-secrets"), ""},
		{"spec.pullPolicy", p.id("pull-policy"), ""},
		{"spec.imagePullPolicy", p.id("image-pull-policy"), ""},
		{"spec.sandboxConfig", p.id("sandbox"), ""},
		{"spec.completionPolicy.activeDeadlineSeconds", p.id("deadline"), ""},
		{"spec.completionPolicy.ttlSecondsAfterFinished", p.id("ttl"), ""},
	}, false)
}

func (p *imagePull) reportParallelism() {
	const field = "spec.parallelism"
	switch n, given := p.parallelism(); {
	case !given || n > 0:
		p.report(p.id("parallelism"), field, fmt.Sprintf("all nodes pull at once, where Kruise has %d at a time", n))
	case p.never():
		p.report(p.id("paused-never"), field, "")
	default:
		p.report(p.id("paused"), field, "")
	}
}
