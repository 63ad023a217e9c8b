package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// ready waits until a component says that it serves.
func (c *Cluster) ready(ctx context.Context, name Component) error {
	if name == Etcd {
		return c.ready(ctx, APIServer) // whose readiness includes etcd's
	}
	paths := []string{"/healthz"}
	if name == APIServer {
		// Controllers go by healthz, which may turn good after readyz.
		paths = append(paths, "/readyz")
	}
	client, err := c.prober()
	if err != nil {
		return err
	}
	return c.parts[name].until(ctx, func(ctx context.Context) error {
		for _, path := range paths {
			if err := probe(ctx, client, c.URL(name)+path); err != nil {
				return err
			}
		}
		return nil
	})
}

// probeLimit is for one question. A server that is coming up may accept it and
// never answer.
const probeLimit = 5 * time.Second

// prober asks as the administrator: the API server's answer says more to him.
func (c *Cluster) prober() (*http.Client, error) {
	pair, err := c.read("admin")
	if err != nil {
		return nil, err
	}
	own, err := pair.TLS()
	if err != nil {
		return nil, err
	}
	return &http.Client{Timeout: probeLimit, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: c.Roots(), Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12},
	}}, nil
}

func probe(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	return nil
}

// awaitServiceAccount waits for the account without which no pod can be created
// in a namespace.
func (c *Cluster) awaitServiceAccount(ctx context.Context, namespace string) error {
	_, err := Await(ctx, c.client.CoreV1().ServiceAccounts(namespace), "default",
		func(e watch.EventType, _ *corev1.ServiceAccount) bool { return e != watch.Deleted })
	if err != nil {
		return fmt.Errorf("service account of namespace %s: %w", namespace, err)
	}
	return nil
}
