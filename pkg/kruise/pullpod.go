package kruise

import (
	"cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// PullHelperImage is what the pods run by default: a shell that ends at once without a
// terminal, in a static binary at /bin/busybox.
const PullHelperImage = "docker.io/library/busybox:1.37.0-musl"

// ImageVolumesServed is the minor version of Kubernetes in which image volumes are on by
// default (docs/facts/kubernetes.md#features-by-version).
const ImageVolumesServed = 35

// PullPod is how a pod has its node pull an image without Kruise. Rendering and rollouts share it.
type PullPod struct {
	// Volumes is true if the server has image volumes.
	Volumes bool
	// Helper is the image that runs beside the one that is pulled; empty for
	// [PullHelperImage].
	Helper string
	// Policy is empty for IfNotPresent.
	Policy ImagePullPolicy
	// Secrets are names of Secrets in the pod's namespace.
	Secrets []string
	Labels  map[string]string
}

// Template returns the template of a pod that has its node pull one image: the
// kubelet pulls it as a volume, and nothing in it runs (docs/facts/kubelet.md#image-volumes); an
// older one starts it with a program that ends at once.
func (p PullPod) Template(image string) *tree.Node {
	if p.Volumes {
		// Mount the image: the kubelet pulls only what is mounted.
		volume := tree.Map("reference", image, "pullPolicy", p.policy())
		helper := p.helper("pull", "")
		tree.Set(helper, "volumeMounts", tree.Seq(tree.Map("name", "image", "mountPath", "/image", "readOnly", tree.Boolean(true))))
		return p.complete(tree.Map("containers", tree.Seq(helper), "volumes", tree.Seq(tree.Map("name", "image", "image", volume))))
	}
	// Start the image with a program that is brought along, since the image may hold none that ends.
	mount := func() *tree.Node { return tree.Seq(tree.Map("name", "noop", "mountPath", "/kubectl-kruise")) }
	bring := p.helper("bring", "")
	tree.Set(bring, "command", texts("/bin/busybox", "cp", "/bin/busybox", "/kubectl-kruise/true"))
	tree.Set(bring, "volumeMounts", mount())
	pull := p.helper("pull", image)
	tree.Set(pull, "command", texts("/kubectl-kruise/true"))
	tree.Set(pull, "volumeMounts", mount())
	return p.complete(tree.Map("initContainers", tree.Seq(bring), "containers", tree.Seq(pull),
		"volumes", tree.Seq(tree.Map("name", "noop", "emptyDir", tree.Map()))))
}

// helper is a small container; an empty image is the helper's.
func (p PullPod) helper(name, image string) *tree.Node {
	out := tree.Map("name", name, "image", cmp.Or(image, p.Helper, PullHelperImage))
	if image != "" {
		tree.Set(out, "imagePullPolicy", tree.String(p.policy()))
	}
	tree.Set(out, "resources", tree.Map("requests", tree.Map("cpu", "1m", "memory", "4Mi")))
	return out
}

// policy is written out: without one, the tag latest would decide.
func (p PullPod) policy() string { return cmp.Or(string(p.Policy), string(PullIfNotPresent)) }

// complete completes a pod: it goes to any node, whatever its taints, as Kruise's
// node agent is everywhere, and takes the pull secrets.
func (p PullPod) complete(spec *tree.Node) *tree.Node {
	tree.Set(spec, "restartPolicy", tree.String("Never"))
	tree.Set(spec, "automountServiceAccountToken", tree.Boolean(false))
	tree.Set(spec, "tolerations", tree.Seq(tree.Map("operator", "Exists")))
	if len(p.Secrets) > 0 {
		secrets := tree.Seq()
		for _, name := range p.Secrets {
			secrets.Content = append(secrets.Content, tree.Map("name", name))
		}
		tree.Set(spec, "imagePullSecrets", secrets)
	}
	out := map[string]any{}
	for k, v := range p.Labels {
		out[k] = v
	}
	return tree.Map("metadata", tree.Map("labels", tree.FromValue(out)), "spec", spec)
}

func texts(list ...string) *tree.Node {
	out := tree.Seq()
	for _, s := range list {
		out.Content = append(out.Content, tree.String(s))
	}
	return out
}

// PullDeadline is how many seconds all attempts of a job may take together, or what the
// job allows; its defaults are filled in.
func PullDeadline(spec *ImagePullJobTemplate) int64 {
	all := int64(*spec.PullPolicy.TimeoutSeconds) * (int64(*spec.PullPolicy.BackoffLimit) + 1)
	if s := spec.CompletionPolicy.ActiveDeadlineSeconds; s != nil {
		return min(all, *s)
	}
	return all
}
