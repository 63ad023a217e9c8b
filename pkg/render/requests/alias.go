package requests

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
)

// byAlias names the same image in another way: the kubelet restarts a container
// whose image reference changes, and that one alone (node-facts 3.1, 3.2).
func (q *recreate) byAlias(c *corev1.Container, i int) (*way, string) {
	if q.static() {
		return nil, "the pod is static"
	}
	status := q.status(c.Name)
	if status == nil {
		return nil, "the status of the pod is not known, and with it the digest of the image"
	}
	next, why := alias(c.Image, status)
	if next == "" {
		return nil, why
	}
	at := fmt.Sprintf("/spec/containers/%d/", i)
	ops := []any{
		operation("test", at+"name", c.Name), operation("test", at+"image", c.Image), operation("replace", at+"image", next),
	}
	if q.pod.UID != "" {
		ops = append([]any{operation("test", "/metadata/uid", string(q.pod.UID))}, ops...)
	}
	w := &way{
		title: "name its image in another way, " + next,
		patch: &patches.Patch{Target: targetOf(q.pod), Type: "json", Body: ops},
		notes: []string{
			"the kubelet runs the preStop hook and keeps to the grace period of the pod; the other containers, the uid and the address of the pod stay",
			"the pod now differs from its template in this reference, which controllers leave alone until they replace the pod",
			"a restart within 10 s of the one before, with the same reference, waits for the kubelet's back-off",
		},
	}
	if c.ImagePullPolicy == corev1.PullAlways {
		w.notes = append(w.notes, "imagePullPolicy is Always: the registry must answer for "+next)
	}
	return w, ""
}

func operation(op, path string, value any) any {
	return map[string]any{"op": op, "path": path, "value": value}
}

// alias is another reference of the content that runs, in the same repository:
// another repository would have to be asked for. Of repo:tag, repo:tag@digest and
// repo@digest it is the next; a tag alone is never gone back to, as it may have
// moved since.
func alias(image string, status *corev1.ContainerStatus) (next, why string) {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return "", "its image is no reference: " + err.Error()
	}
	digest := digestIn(named.Name(), status.ImageID)
	if digest == "" {
		return "", "the node reports no digest of " + reference.FamiliarName(named)
	}
	// The repository stays as it was written.
	repository, _, _ := strings.Cut(image, "@")
	tag := ""
	if t, ok := named.(reference.Tagged); ok {
		tag = t.Tag()
		repository = strings.TrimSuffix(repository, ":"+tag)
	}
	_, digested := named.(reference.Digested)
	switch {
	case digested && tag != "":
		return repository + "@" + digest, ""
	case !digested && tag != "":
		return repository + ":" + tag + "@" + digest, ""
	case !digested:
		return repository + "@" + digest, ""
	}
	if tag = tagIn(named.Name(), status.Image); tag == "" {
		return "", "its image is given by digest, and no other name of it is known"
	}
	return repository + ":" + tag + "@" + digest, ""
}

// digestIn is the digest of an image ID when that is one of the repository.
func digestIn(repository, imageID string) string {
	_, after, found := strings.Cut(imageID, "://")
	if found {
		imageID = after
	}
	ref, err := reference.ParseNormalizedNamed(imageID)
	if err != nil || ref.Name() != repository {
		return ""
	}
	if d, ok := ref.(reference.Digested); ok {
		return d.Digest().String()
	}
	return ""
}

// tagIn is the tag of the repository by which the node knows an image.
func tagIn(repository, image string) string {
	ref, err := reference.ParseNormalizedNamed(image)
	if err != nil || ref.Name() != repository {
		return ""
	}
	if t, ok := ref.(reference.Tagged); ok {
		return t.Tag()
	}
	return ""
}
