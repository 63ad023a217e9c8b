package inject

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Hashes computes the two hashes that Kruise keeps on a SidecarSet with this
// spec: of its containers, and of the same without their images (docs/kruise/sidecarset.md#hashes).
// Init containers count only when one of them is native.
func Hashes(spec *tree.Node) (full, withoutImage string, err error) {
	containers, err := hashed(spec, "containers", kruise.BeforeAppContainerType)
	if err != nil {
		return "", "", err
	}
	inits, err := hashed(spec, "initContainers", kruise.AfterAppContainerType)
	if err != nil {
		return "", "", err
	}
	if !slices.ContainsFunc(inits, func(c kruise.SidecarContainer) bool {
		return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	}) {
		inits = nil
	}
	if full, err = digest(containers, inits); err != nil {
		return "", "", err
	}
	for _, list := range [][]kruise.SidecarContainer{containers, inits} {
		for i := range list {
			list[i].Image = ""
		}
	}
	withoutImage, err = digest(containers, inits)
	return full, withoutImage, err
}

func hashed(spec *tree.Node, field string, policy kruise.PodInjectPolicyType) ([]kruise.SidecarContainer, error) {
	n := tree.Get(spec, field)
	if n == nil {
		return nil, nil
	}
	var list []kruise.SidecarContainer
	if _, err := tree.Decode(n, &list); err != nil {
		return nil, prefixPath(spec, field, err)
	}
	for i := range list {
		// Fill what Kruise's webhook writes into a sidecar when the SidecarSet is stored (docs/kruise/sidecarset.md#defaults).
		// It is needed for the hashes only: the API server gives injected containers their defaults by itself.
		c := &list[i]
		orElse(&c.PodInjectPolicy, policy)
		orElse(&c.UpgradeStrategy.UpgradeType, kruise.SidecarContainerColdUpgrade)
		orElse(&c.ShareVolumePolicy.Type, kruise.ShareVolumePolicyDisabled)
		if c.ResourcesPolicy != nil {
			orElse(&c.ResourcesPolicy.TargetContainersNameRegex, ".*")
		}
		for i := range c.TransferEnv {
			if from := c.TransferEnv[i].SourceContainerNameFrom; from != nil {
				defaultFieldRef(from.FieldRef)
			}
		}
		defaultContainer(&c.Container)
	}
	return list, nil
}

// hashLetters are those of the hash: 0 and f collide, as in Kruise.
var hashLetters = strings.NewReplacer(
	"0", "4", "1", "5", "2", "6", "3", "7", "4", "8", "5", "9", "6", "b", "7", "c",
	"8", "d", "9", "f", "a", "v", "b", "w", "c", "x", "d", "z", "e", "2", "f", "4",
)

func digest(containers, inits []kruise.SidecarContainer) (string, error) {
	content := map[string]any{"containers": containers}
	if inits != nil {
		content["initContainers"] = inits
	}
	b, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hashLetters.Replace(hex.EncodeToString(sum[:])), nil
}

// orElse gives an empty text its default.
func orElse[T ~string](s *T, fallback T) {
	if *s == "" {
		*s = fallback
	}
}

func defaultContainer(c *corev1.Container) {
	orElse(&c.ImagePullPolicy, corev1.PullPolicy(pullPolicy(c.Image)))
	orElse(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	orElse(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		orElse(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			defaultFieldRef(from.FieldRef)
		}
	}
	roundUp(c.Resources.Limits)
	roundUp(c.Resources.Requests)
	defaultProbe(c.LivenessProbe)
	defaultProbe(c.ReadinessProbe)
	if c.Lifecycle != nil {
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				defaultHTTP(h.HTTPGet)
			}
		}
	}
}

func defaultFieldRef(ref *corev1.ObjectFieldSelector) {
	if ref != nil {
		orElse(&ref.APIVersion, "v1")
	}
}

func roundUp(list corev1.ResourceList) {
	for name, q := range list {
		q.RoundUp(resource.Milli)
		list[name] = q
	}
}

func defaultProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	for _, f := range []struct {
		value    *int32
		fallback int32
	}{{&p.TimeoutSeconds, 1}, {&p.PeriodSeconds, 10}, {&p.SuccessThreshold, 1}, {&p.FailureThreshold, 3}} {
		if *f.value == 0 {
			*f.value = f.fallback
		}
	}
	defaultHTTP(p.HTTPGet)
	if p.GRPC != nil && p.GRPC.Service == nil {
		p.GRPC.Service = new(string)
	}
}

func defaultHTTP(get *corev1.HTTPGetAction) {
	if get != nil {
		orElse(&get.Path, "/")
		orElse(&get.Scheme, corev1.URISchemeHTTP)
	}
}
