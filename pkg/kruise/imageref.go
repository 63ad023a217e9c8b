package kruise

import (
	"strings"

	"github.com/distribution/reference"
)

// ImageAlias is another reference of the content that runs, in the same repository: another repository
// would have to be asked for (docs/facts/kubelet.md#restart-by-alias). Of repo:tag,
// repo:tag@digest and repo@digest it is the next; a tag alone is never gone back to, as it may
// have moved since. image is that of the spec, running and imageID are those of the status. why is
// why there is none.
func ImageAlias(image, running, imageID string) (next, why string) {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return "", "its image is not a reference: " + err.Error()
	}
	digest := digestIn(named.Name(), imageID)
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
	if tag = tagIn(named.Name(), running); tag == "" {
		return "", "its image is given by digest, and no other name of it is known"
	}
	return repository + ":" + tag + "@" + digest, ""
}

// CheckImage returns an error where an image is not a reference.
func CheckImage(image string) error {
	_, err := reference.ParseNormalizedNamed(image)
	return err
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
