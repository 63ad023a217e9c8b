package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// imagePull is one image on one node: what the pod of a Job has the kubelet do.
type imagePull struct {
	node, image, policy string
	secrets             []string
	suspended           bool
	// deadline in seconds; nil for a pod that stays.
	deadline any
}

// pull: the images that Kruise pulled on the nodes that it chose, with the same
// policy and secrets, no more at once, with the end that Kruise saw.
func (e *jobEnd) pull() error {
	if e.status == "gone" {
		return e.gone(e.made.Objects)
	}
	nodes := func(set map[string]any) ([]string, error) { return e.DaemonNodes(set, e.cluster.kind("Node")) }
	pulls, err := pullsOf(e.made.Objects, nodes)
	if err != nil {
		return err
	}
	if err := e.pulled(pulls); err != nil {
		return err
	}
	if len(pulls) == 0 || pulls[0].suspended {
		return nil
	}
	on := map[string]bool{}
	for _, p := range pulls {
		on[p.node] = true
	}
	return e.atOnce(strings.ToLower(e.at.kind)+"/parallelism", len(on), field(e.want, "mostActiveAtOnce", e.at.name))
}

// pullsOf reads the pulls out of Jobs, and out of DaemonSets, which are on nodes.
func pullsOf(objects []map[string]any, nodes func(map[string]any) ([]string, error)) ([]imagePull, error) {
	var out []imagePull
	for _, o := range objects {
		p, err := pullOf(o)
		if err != nil {
			return nil, err
		}
		if kindOf(o) == "Job" {
			if p.node, err = boundTo(field(o, "spec", "template")); err != nil {
				return nil, err
			}
			out = append(out, p)
			continue
		}
		on, err := nodes(o)
		if err != nil {
			return nil, err
		}
		for _, p.node = range on {
			out = append(out, p)
		}
	}
	return out, nil
}

// pullOf reads what one object's pods pull.
func pullOf(o map[string]any) (p imagePull, err error) {
	template := field(o, "spec", "template", "spec")
	p.suspended, p.deadline = field(o, "spec", "suspend") == true, field(o, "spec", "activeDeadlineSeconds")
	for _, s := range items(field(template, "imagePullSecrets")) {
		p.secrets = append(p.secrets, text(s, "name"))
	}
	for _, v := range items(field(template, "volumes")) {
		if image := field(v, "image"); image != nil {
			p.image, p.policy = text(image, "reference"), text(image, "pullPolicy")
		}
	}
	if p.image == "" {
		err = fmt.Errorf("%s %s mounts no image", kindOf(o), nameOf(o))
	}
	return p, err
}

// pulled compares what is pulled with the recorded NodeImages and the status.
func (e *jobEnd) pulled(pulls []imagePull) error {
	images := map[string][]imagePull{}
	for _, p := range pulls {
		images[p.image] = append(images[p.image], p)
	}
	for _, image := range e.images() {
		if err := e.pulledImage(image, images[image]); err != nil {
			return fmt.Errorf("%s: %w", image, err)
		}
		delete(images, image)
	}
	if len(images) > 0 {
		return fmt.Errorf("unexpected: %v", slices.Sorted(maps.Keys(images)))
	}
	return nil
}

func (e *jobEnd) images() []string {
	if image := text(e.spec, "image"); image != "" {
		return []string{image}
	}
	return texts(e.spec["images"])
}

// pulledImage compares one image: the job's own status, or that of the child that a
// list has for it.
func (e *jobEnd) pulledImage(image string, pulls []imagePull) error {
	status := mapping(e.status)
	if e.at.kind == kruise.KindImageListPullJob {
		status = e.child(image)
	}
	if desired, recorded := status["desired"].(int64); recorded && int(desired) != len(pulls) {
		return fmt.Errorf("pulled on %d nodes, recorded %d", len(pulls), desired)
	}
	byNode := map[string]imagePull{}
	for _, p := range pulls {
		byNode[p.node] = p
	}
	if err := e.nodeImages(image, byNode); err != nil {
		return err
	}
	if len(pulls) > 0 && pulls[0].suspended {
		if n := len(items(e.want["nodeImages"])); n > 0 {
			return fmt.Errorf("nothing is pulled, recorded on %d nodes", n)
		}
		return nil
	}
	return e.pullEnd(image, byNode, status)
}

// child is the status of the ImagePullJob that a list has for an image.
func (e *jobEnd) child(image string) map[string]any {
	for name, status := range mapping(e.want["status"]) {
		if strings.HasPrefix(name, "ImagePullJob/"+e.at.name+"-") && strings.HasSuffix(name, " "+image) {
			return mapping(status)
		}
	}
	return nil
}

// pullEnd compares the end: the simulated nodes cannot pull what is in bad.lab.
func (e *jobEnd) pullEnd(image string, byNode map[string]imagePull, status map[string]any) error {
	if len(status) == 0 {
		return nil
	}
	count := map[string]int{"succeeded": len(byNode)}
	var failed []string
	if strings.HasPrefix(image, "bad.lab/") {
		failed = slices.Sorted(maps.Keys(byNode))
		count = map[string]int{"failed": len(byNode)}
	}
	for _, k := range []string{"succeeded", "failed"} {
		if n, _ := status[k].(int64); int(n) != count[k] {
			return fmt.Errorf("%d pulls %s, recorded %d", count[k], k, n)
		}
	}
	if err := Different("failed nodes", Diff(texts(status["failedNodes"]), failed)); err != nil {
		return err
	}
	if completes := status["completionTime"] != nil; completes == e.lasting() {
		return fmt.Errorf("that the job completes is %v, and the opposite is rendered", completes)
	}
	return nil
}

// nodeImages compares the entries of the NodeImages that are there for the job.
func (e *jobEnd) nodeImages(image string, byNode map[string]imagePull) error {
	name, tag := familiar(image)
	for _, n := range items(e.want["nodeImages"]) {
		entry := field(n, "spec", name)
		for _, t := range items(field(entry, "tags")) {
			if text(t, "tag") != tag || !e.ownsTag(t) {
				continue
			}
			p, pulled := byNode[text(n, "node")]
			if !pulled {
				return fmt.Errorf("not pulled on %s", text(n, "node"))
			}
			if err := samePull(p, entry, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *jobEnd) ownsTag(tag any) bool {
	return slices.ContainsFunc(items(field(tag, "ownerReferences")), func(ref any) bool {
		name := text(ref, "name")
		return name == e.at.name || e.at.kind == kruise.KindImageListPullJob && strings.HasPrefix(name, e.at.name+"-")
	})
}

// samePull compares a pull with what the node was asked for.
func samePull(p imagePull, entry, tag any) error {
	if want := text(tag, "imagePullPolicy"); want != p.policy {
		return fmt.Errorf("pull policy %s, recorded %s", p.policy, want)
	}
	var secrets []string
	for _, s := range items(field(entry, "pullSecrets")) {
		secrets = append(secrets, strings.TrimSuffix(text(s, "name"), "-<random>"))
	}
	if err := Different("the pull secrets", Diff(secrets, p.secrets)); err != nil {
		return err
	}
	timeout, _ := field(tag, "pullPolicy", "timeoutSeconds").(int64)
	retries, _ := field(tag, "pullPolicy", "backoffLimit").(int64)
	all := timeout * (retries + 1)
	if most, limited := field(tag, "pullPolicy", "activeDeadlineSeconds").(int64); limited {
		all = min(all, most)
	}
	if p.deadline != nil && p.deadline != all {
		return fmt.Errorf("given up after %v seconds, recorded %d", p.deadline, all)
	}
	return nil
}

// familiar is an image as NodeImages name it.
func familiar(image string) (name, tag string) {
	name, digest, digested := strings.Cut(image, "@")
	short, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	name = name[:strings.LastIndexByte(name, '/')+1] + short
	name = strings.TrimPrefix(strings.TrimPrefix(name, "docker.io/"), "library/")
	switch {
	case digested:
		tag = digest
	case !tagged:
		tag = "latest"
	}
	return name, tag
}
