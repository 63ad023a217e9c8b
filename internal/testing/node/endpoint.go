package node

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// endpoint is the kubelets' side of kubectl logs and exec, one for all nodes.
type endpoint struct {
	pool   *Pool
	port   int
	server *http.Server
}

// idle is how long a stream may say nothing.
const idle = 10 * time.Minute

// serve listens on loopback for requests that the API server passes on.
func serve(p *Pool) (*endpoint, error) {
	l, err := net.Listen("tcp", hostIP+":0")
	if err != nil {
		return nil, err
	}
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(errors.New("not a TCP address"), l.Close())
	}
	e := &endpoint{pool: p, port: address.Port}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", e.logs)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", e.exec)
	mux.HandleFunc("/exec/{namespace}/{pod}/{uid}/{container}", e.exec)
	e.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{p.config.Serving}, MinVersion: tls.VersionTLS12,
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: p.config.Clients,
		NextProtos: []string{"http/1.1"}, // streams are upgraded connections
	}}
	go func() { _ = e.server.ServeTLS(l, "", "") }()
	return e, nil
}

func (e *endpoint) close() { _ = e.server.Close() }

// target finds the running container that a request is about.
func (e *endpoint) target(r *http.Request) (*corev1.Pod, *corev1.ContainerStatus, error) {
	pod := e.pool.pod(types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("pod")})
	if pod == nil {
		return nil, nil, errors.New("pod not found")
	}
	if h := e.pool.host(pod.Spec.NodeName); h == nil || e.pool.isLost(h) {
		return nil, nil, errors.New("node is lost")
	}
	for _, list := range [][]corev1.ContainerStatus{
		pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for i := range list {
			if list[i].Name == r.PathValue("container") {
				return pod, &list[i], nil
			}
		}
	}
	return nil, nil, errors.New("container not found")
}

// exec streams a command.
func (e *endpoint) exec(w http.ResponseWriter, r *http.Request) {
	pod, status, err := e.target(r)
	if err == nil && status.State.Running == nil {
		err = errors.New("container not running")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, &shell{pool: e.pool, pod: pod}, pod.Name, string(pod.UID), status.Name,
		r.URL.Query()["command"], options, idle, idle, remotecommand.SupportedStreamingProtocols)
}

// until waits for the end of a request or of a container's run.
func (e *endpoint) until(ctx context.Context, r *http.Request, id string) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		_, status, err := e.target(r)
		if err != nil || status.ContainerID != id || status.State.Running == nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
