package writeback

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// takeImages writes new images of containers into the entries of images: that set
// those before.
func (k *kustomization) takeImages(before, after *tree.Node) {
	for _, now := range tree.Items(after) {
		was, _ := tree.Find(before, "name", tree.StrAt(now, "name"))
		old, image := tree.StrAt(was, "image"), tree.StrAt(now, "image")
		if was == nil || old == image {
			continue
		}
		for _, entry := range tree.Items(tree.Get(k.root, "images")) {
			if sets(entry, old) || sets(entry, image) { // another container's, of the same image, may have been first
				setEntry(entry, image)
				tree.Set(now, "image", tree.String(old))
				break
			}
		}
	}
}

// sets reports whether an image is what an entry makes.
func sets(entry *tree.Node, image string) bool {
	repository, tag, digest := cut(image)
	name := tree.StrAt(entry, "newName")
	if name == "" {
		name = tree.StrAt(entry, "name")
	}
	newTag, newDigest := tree.StrAt(entry, "newTag"), tree.StrAt(entry, "digest")
	return name == repository && (newTag == "" || newTag == tag) && (newDigest == "" || newDigest == digest)
}

// setEntry has an entry make an image.
func setEntry(entry *tree.Node, image string) {
	repository, tag, digest := cut(image)
	if have := tree.StrAt(entry, "newName"); have != repository && (have != "" || repository != tree.StrAt(entry, "name")) {
		tree.Set(entry, "newName", remarked(tree.Get(entry, "newName"), tree.String(repository)))
	}
	for key, v := range map[string]string{"newTag": tag, "digest": digest} {
		if v == "" {
			tree.Delete(entry, key)
		}
	}
	for _, field := range []struct{ key, v string }{{"newTag", tag}, {"digest", digest}} {
		if field.v != "" && tree.StrAt(entry, field.key) != field.v {
			tree.Set(entry, field.key, remarked(tree.Get(entry, field.key), tree.String(field.v)))
		}
	}
}

// cut takes an image apart; a port is no tag.
func cut(image string) (repository, tag, digest string) {
	repository, digest, _ = strings.Cut(image, "@")
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository, tag = repository[:i], repository[i+1:]
	}
	return repository, tag, digest
}
