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
	asked := []question{{"admin", "/healthz"}}
	if name == APIServer {
		// Controllers go by healthz, which may turn good after readyz, and are refused
		// until the server has read who may do what.
		asked = append(asked, question{"admin", "/readyz"}, question{"controller-manager", "/healthz"})
	}
	clients := map[string]*http.Client{}
	for _, q := range asked {
		client, err := c.prober(q.user)
		if err != nil {
			return err
		}
		clients[q.user] = client
	}
	return c.until(ctx, name, func(ctx context.Context) error {
		for _, q := range asked {
			if err := probe(ctx, clients[q.user], c.URL(name)+q.path); err != nil {
				return err
			}
		}
		return nil
	})
}

// until asks again and again whether a component is ready, unless one has ended:
// most of them need another one.
func (c *Cluster) until(ctx context.Context, name Component, ready func(context.Context) error) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		if gone := c.Fault(); gone != nil {
			return gone
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", name, err, c.parts[name].tail())
		case <-tick.C:
		}
	}
}

// question is asked of a component as one of the cluster's users.
type question struct{ user, path string }

// probeLimit is for one question. A server that is coming up may accept it and
// never answer.
const probeLimit = 5 * time.Second

// prober asks as the user.
func (c *Cluster) prober(user string) (*http.Client, error) {
	pair, err := c.read(user)
	if err != nil {
		return nil, err
	}
	own, err := pair.TLS()
	if err != nil {
		return nil, err
	}
	return &http.Client{Timeout: probeLimit, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: c.Roots(), Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12},
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
