package life

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Why an image cannot be had, in the words of a container's waiting reason.
var (
	errPull      = errors.New("ErrImagePull")
	errNeverPull = errors.New("ErrImageNeverPull")
	errName      = errors.New("InvalidImageName")
)

// Images is what one node has pulled. It is safe for concurrent use.
type Images struct {
	mu   sync.Mutex
	have map[string]time.Time // since when, in the future while it is being pulled
}

// NewImages is a node without images.
func NewImages() *Images { return &Images{have: map[string]time.Time{}} }

// Ask returns when the image is there, pulling it if it must be. Content is what
// counts: another reference of an image that is there needs no pull.
func (i *Images) Ask(ref string, policy corev1.PullPolicy, now time.Time, takes time.Duration) (time.Time, error) {
	if ref == "" || strings.ContainsAny(ref, " \t") || strings.ToLower(repository(ref)) != repository(ref) {
		return now, fmt.Errorf("%w: %q", errName, ref)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	id := ImageID(ref)
	if at, ok := i.have[id]; ok {
		return later(at, now), nil
	}
	switch {
	case policy == corev1.PullNever:
		return now, fmt.Errorf("%w: container image %q is not present with pull policy of Never", errNeverPull, ref)
	case bad(ref):
		return now, fmt.Errorf("%w: %s: not found", errPull, ref)
	}
	i.have[id] = now.Add(takes)
	return i.have[id], nil
}

// Has reports whether the image is there.
func (i *Images) Has(ref string, now time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	at, ok := i.have[ImageID(ref)]
	return ok && !at.After(now)
}

// Drop removes an image, as the kubelet does when the disk is full.
func (i *Images) Drop(ref string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.have, ImageID(ref))
}

// List is the images that are there, by ID.
func (i *Images) List(now time.Time) []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var out []string
	for _, id := range slices.Sorted(maps.Keys(i.have)) {
		if !i.have[id].After(now) {
			out = append(out, id)
		}
	}
	return out
}

// ImageID is repository and digest. A reference with a digest has its own; the
// digest of a tag follows from repository and tag.
func ImageID(ref string) string {
	if _, digest, ok := strings.Cut(ref, "@"); ok {
		return repository(ref) + "@" + digest
	}
	sum := sha256.Sum256([]byte(repository(ref) + ":" + tag(ref)))
	return repository(ref) + "@sha256:" + hex.EncodeToString(sum[:])
}

// bad images cannot be pulled: those of the registry bad.lab and those tagged bad.
func bad(ref string) bool {
	return strings.HasPrefix(ref, "bad.lab/") || strings.HasPrefix(tag(ref), "bad")
}

// repository is the reference without tag and digest.
func repository(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if colon := strings.LastIndex(ref, ":"); colon > strings.LastIndex(ref, "/") {
		return ref[:colon]
	}
	return ref
}

func tag(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if colon := strings.LastIndex(ref, ":"); colon > strings.LastIndex(ref, "/") {
		return ref[colon+1:]
	}
	return "latest"
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
