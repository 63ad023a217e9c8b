package lower

import (
	"cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// HelperImage is what the pods of an image pull run by default: a shell that ends
// at once without a terminal, in a static binary at /bin/busybox.
const HelperImage = "docker.io/library/busybox:1.37.0-musl"

// imageVolumesServed is the version of Kubernetes in which image volumes are on
// by default (contracts 7.2).
const imageVolumesServed = 35

// pod returns the template of a pod that has its node pull one image.
func (p *imagePull) pod(image string) *tree.Node {
	if p.c.Since(imageVolumesServed) {
		return p.withVolume(image)
	}
	return p.withBinary(image)
}

// withVolume mounts the image: the kubelet pulls only what is mounted.
func (p *imagePull) withVolume(image string) *tree.Node {
	volume := tree.Map("reference", image, "pullPolicy", p.pullPolicy())
	helper := p.helper("pull", "")
	tree.Set(helper, "volumeMounts", tree.Seq(tree.Map("name", "image", "mountPath", "/image", "readOnly", tree.Boolean(true))))
	return p.podOf(tree.Map("containers", tree.Seq(helper), "volumes", tree.Seq(tree.Map("name", "image", "image", volume))))
}

// withBinary starts the image with a program that is brought along, since the
// image may hold none that ends.
func (p *imagePull) withBinary(image string) *tree.Node {
	mount := func() *tree.Node { return tree.Seq(tree.Map("name", "noop", "mountPath", "/kubectl-kruise")) }
	bring := p.helper("bring", "")
	tree.Set(bring, "command", texts("/bin/busybox", "cp", "/bin/busybox", "/kubectl-kruise/true"))
	tree.Set(bring, "volumeMounts", mount())
	pull := p.helper("pull", image)
	tree.Set(pull, "command", texts("/kubectl-kruise/true"))
	tree.Set(pull, "volumeMounts", mount())
	return p.podOf(tree.Map("initContainers", tree.Seq(bring), "containers", tree.Seq(pull),
		"volumes", tree.Seq(tree.Map("name", "noop", "emptyDir", tree.Map()))))
}

// helper is a small container; an empty image is the helper's.
func (p *imagePull) helper(name, image string) *tree.Node {
	own := image == ""
	if own {
		image = HelperImage
		if p.c.HelperImage != "" {
			image = p.c.HelperImage
		}
	}
	out := tree.Map("name", name, "image", image)
	if !own {
		tree.Set(out, "imagePullPolicy", tree.String(p.pullPolicy()))
	}
	tree.Set(out, "resources", tree.Map("requests", tree.Map("cpu", "1m", "memory", "4Mi")))
	return out
}

// pullPolicy is written out: without one, the tag latest would decide.
func (p *imagePull) pullPolicy() string {
	return cmp.Or(string(p.spec.ImagePullPolicy), string(kruise.PullIfNotPresent))
}

// podOf completes a pod: it goes to any node, whatever its taints, as Kruise's
// node agent is everywhere, and takes the pull secrets.
func (p *imagePull) podOf(spec *tree.Node) *tree.Node {
	tree.Set(spec, "restartPolicy", tree.String("Never"))
	tree.Set(spec, "automountServiceAccountToken", tree.Boolean(false))
	tree.Set(spec, "tolerations", tree.Seq(tree.Map("operator", "Exists")))
	if len(p.spec.PullSecrets) > 0 {
		secrets := tree.Seq()
		for _, name := range p.spec.PullSecrets {
			secrets.Content = append(secrets.Content, tree.Map("name", name))
		}
		tree.Set(spec, "imagePullSecrets", secrets)
	}
	return tree.Map("metadata", tree.Map("labels", tree.Map(kruise.SourceLabel, p.source())), "spec", spec)
}

// jobSpec returns the spec of a Job with a template. A pull that fails is tried
// again by the kubelet, with pauses, until the deadline.
func (p *imagePull) jobSpec(template *tree.Node) *tree.Node {
	out := tree.Map("backoffLimit", tree.Int64(0), "activeDeadlineSeconds", tree.Int64(p.deadline()))
	if s := p.spec.CompletionPolicy.TTLSecondsAfterFinished; s != nil {
		tree.Set(out, "ttlSecondsAfterFinished", tree.Int64(int64(*s)))
	}
	if n, ok := p.parallelism(); ok && n == 0 {
		tree.Set(out, "suspend", tree.Boolean(true))
	}
	tree.Set(out, "template", template)
	return out
}

// deadline is how long all attempts may take together, or what the job allows.
func (p *imagePull) deadline() int64 {
	all := int64(*p.spec.PullPolicy.TimeoutSeconds) * (int64(*p.spec.PullPolicy.BackoffLimit) + 1)
	if s := p.spec.CompletionPolicy.ActiveDeadlineSeconds; s != nil {
		return min(all, *s)
	}
	return all
}

func (p *imagePull) parallelism() (n int, ok bool) {
	if p.spec.Parallelism == nil {
		return 1, false
	}
	return p.spec.Parallelism.IntValue(), true
}

func texts(list ...string) *tree.Node {
	out := tree.Seq()
	for _, s := range list {
		out.Content = append(out.Content, tree.String(s))
	}
	return out
}
