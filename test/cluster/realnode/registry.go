package realnode

import (
	"net"
	"net/http"
	"strings"
	"time"
)

// registry serves the test images over plain http on loopback, from where containerd
// takes images so: for pods that want theirs pulled. It knows them by version, in a
// repository of any name without a slash, so that a test can have images that no other
// has pulled.
type registry struct{ *layout }

// serve begins to serve, until the node is closed.
func (n *Node) serve(l *layout) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/{repository}/manifests/{reference}", registry{l}.manifest)
	mux.HandleFunc("GET /v2/{repository}/blobs/{digest}", registry{l}.blob)
	n.registry = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	n.Registry = listener.Addr().String()
	go func() { _ = n.registry.Serve(listener) }()
	return nil
}

// manifest answers for a version, or a digest.
func (r registry) manifest(w http.ResponseWriter, q *http.Request) {
	want := q.PathValue("reference")
	for _, m := range r.manifests {
		if m.Digest == want || strings.HasSuffix(m.Annotations[nameAnnotation], Repository+":"+want) {
			w.Header().Set("Content-Type", m.MediaType)
			w.Header().Set("Docker-Content-Digest", m.Digest)
			_, _ = w.Write(r.blobs[m.Digest])
			return
		}
	}
	http.NotFound(w, q)
}

func (r registry) blob(w http.ResponseWriter, q *http.Request) {
	blob, ok := r.blobs[q.PathValue("digest")]
	if !ok {
		http.NotFound(w, q)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(blob)
}
