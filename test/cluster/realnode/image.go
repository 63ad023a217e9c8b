package realnode

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"path"
	"runtime"
	"slices"
	"time"
)

// Repository is where the test images pretend to come from. Nothing serves it.
const Repository = "registry.test/app"

// pauseImage is what every pod's sandbox runs.
const pauseImage = "registry.test/pause:1"

// image is one image with all references that lead to it.
type image struct {
	references []string
	command    []string
	env        []string
	// data are files beside the program, by path.
	data map[string]string
}

// descriptor points to a blob, in the words of the OCI image layout.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// nameAnnotation tells containerd what an image of a layout is called.
const nameAnnotation = "io.containerd.image.name"

// layout collects blobs and an index, and writes them as one tar.
type layout struct {
	blobs     map[string][]byte
	manifests []descriptor
	program   []byte
}

func newLayout(program []byte) *layout { return &layout{blobs: map[string][]byte{}, program: program} }

// put stores a blob.
func (l *layout) put(mediaType string, blob []byte) descriptor {
	d := descriptor{MediaType: mediaType, Digest: digest(blob), Size: len(blob)}
	l.blobs[d.Digest] = blob
	return d
}

func (l *layout) putJSON(mediaType string, v any) (descriptor, error) {
	text, err := json.Marshal(v)
	return l.put(mediaType, text), err
}

// add makes an image and returns its digest. Beside the references given it is
// known by its digest in Repository.
func (l *layout) add(i image) (string, error) {
	files := map[string][]byte{}
	if l.program != nil {
		files["app"] = l.program
	}
	for name, text := range i.data {
		files[name] = []byte(text)
	}
	plain, err := archive(files)
	if err != nil {
		return "", err
	}
	packed, err := compress(plain)
	if err != nil {
		return "", err
	}
	config, err := l.putJSON(configType, map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/app"}, "Cmd": i.command, "Env": i.env, "WorkingDir": "/"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest(plain)}},
	})
	if err != nil {
		return "", err
	}
	manifest, err := l.putJSON(manifestType, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType,
		"config": config, "layers": []descriptor{l.put(layerType, packed)},
	})
	if err != nil {
		return "", err
	}
	for _, ref := range append(i.references, Repository+"@"+manifest.Digest) {
		named := manifest
		named.Annotations = map[string]string{nameAnnotation: ref}
		l.manifests = append(l.manifests, named)
	}
	return manifest.Digest, nil
}

// write is the whole layout as a tar.
func (l *layout) write(w io.Writer) error {
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": l.manifests})
	if err != nil {
		return err
	}
	files := map[string][]byte{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`), "index.json": index}
	for name, blob := range l.blobs {
		files[path.Join("blobs/sha256", name[len("sha256:"):])] = blob
	}
	packed, err := archive(files)
	if err != nil {
		return err
	}
	_, err = w.Write(packed)
	return err
}

// archive makes a tar of executable files.
func archive(files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		h := &tar.Header{Name: name, Mode: 0o755, Size: int64(len(content)), ModTime: time.Unix(0, 0)}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	err := w.Close() // writes the end
	return b.Bytes(), err
}

func compress(plain []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	err = w.Close() // writes the end
	return b.Bytes(), err
}

func digest(blob []byte) string {
	sum := sha256.Sum256(blob)
	return "sha256:" + hex.EncodeToString(sum[:])
}
