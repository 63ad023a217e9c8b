package cluster

import (
	"fmt"
	"os"
	"strconv"
)

// serviceRange is where the addresses of Services come from. Nothing routes them.
const serviceRange = "10.0.0.0/24"

// configure makes the command line of every component.
func (c *Cluster) configure() error {
	scheduler, err := c.scheduler()
	if err != nil {
		return err
	}
	api, err := c.apiServer()
	if err != nil {
		return err
	}
	c.parts = map[Component]*process{
		Etcd: c.etcd(), APIServer: api, ControllerManager: c.controllerManager().reviving(), Scheduler: scheduler.reviving(),
	}
	return nil
}

// etcd serves the API server alone: clients need a certificate. What it holds is
// lost with the test, so it does not wait for the disk.
func (c *Cluster) etcd() *process {
	client, peer := c.URL(Etcd), "http://"+loopback(c.ports[peerPort])
	return c.process(Etcd, []string{
		"--name=test",
		"--data-dir=" + c.path("etcd-data"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		// With a port of its own for HTTP, the other one speaks gRPC alone, by the quicker of etcd's two servers.
		"--listen-client-http-urls=https://" + loopback(c.ports[etcdHTTPPort]),
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=test=" + peer,
		"--cert-file=" + c.path("etcd.crt"),
		"--key-file=" + c.path("etcd.key"),
		"--trusted-ca-file=" + c.path("ca.crt"),
		"--client-cert-auth",
		"--unsafe-no-fsync",
		// Every commit of the backend writes pages; what is not committed yet is in the log.
		"--backend-batch-interval=5s",
		"--backend-batch-limit=100000",
		"--quota-backend-bytes=" + strconv.Itoa(4<<30),
		"--log-level=warn",
		// The only member needs no signs of life.
		"--heartbeat-interval=1000",
		"--election-timeout=5000",
	})
}

// apiServer writes no endpoint of itself: it listens on loopback, which no
// endpoint may be.
func (c *Cluster) apiServer() (*process, error) {
	audit, err := c.auditFlags()
	if err != nil {
		return nil, err
	}
	return c.process(APIServer, []string{
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.ports[APIServer]),
		"--endpoint-reconciler-type=none",
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--etcd-servers=" + c.URL(Etcd),
		"--etcd-cafile=" + c.path("ca.crt"),
		"--etcd-certfile=" + c.path("apiserver-client.crt"),
		"--etcd-keyfile=" + c.path("apiserver-client.key"),
		"--client-ca-file=" + c.path("ca.crt"),
		"--token-auth-file=" + c.path(tokensFile),
		"--tls-cert-file=" + c.path("apiserver.crt"),
		"--tls-private-key-file=" + c.path("apiserver.key"),
		"--kubelet-certificate-authority=" + c.path("ca.crt"),
		"--kubelet-client-certificate=" + c.path("apiserver-client.crt"),
		"--kubelet-client-key=" + c.path("apiserver-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.path("service-accounts.key"),
		"--service-account-signing-key-file=" + c.path("service-accounts.key"),
		"--service-cluster-ip-range=" + serviceRange,
		"--allow-privileged",
		"--shutdown-delay-duration=0s",
		"--profiling=false",
		"--enable-priority-and-fairness=false", // a tenth of the time of a request, for queues of one client
		// Packing answers and each event of a watch takes a twentieth of the server's time,
		// and loopback has no need of it.
		"--feature-gates=APIResponseCompression=false",
	}, audit, c.options.gateFlags(), c.options.apiFlags()), nil
}

// controllerManager asks without limit: its default of 20 requests a second makes
// 5,000 pods a matter of many minutes.
func (c *Cluster) controllerManager() *process {
	grace := c.options.nodeGrace
	return c.process(ControllerManager, []string{
		"--kubeconfig=" + c.path("controller-manager.kubeconfig"),
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.ports[ControllerManager]),
		"--tls-cert-file=" + c.path("controller-manager.crt"),
		"--tls-private-key-file=" + c.path("controller-manager.key"),
		"--client-ca-file=" + c.path("ca.crt"),
		"--leader-elect=false",
		"--use-service-account-credentials",
		"--root-ca-file=" + c.path("ca.crt"),
		"--service-account-private-key-file=" + c.path("service-accounts.key"),
		"--cluster-signing-cert-file=" + c.path("ca.crt"),
		"--cluster-signing-key-file=" + c.path("ca.key"),
		"--kube-api-qps=3000",
		"--kube-api-burst=6000",
		"--concurrent-replicaset-syncs=20",
		"--concurrent-gc-syncs=30",
		"--node-monitor-period=" + min(grace/4, 5e9).String(),
		"--node-monitor-grace-period=" + grace.String(),
		"--profiling=false",
	}, c.options.gateFlags())
}

// scheduler takes its limits from a file, the only place for them.
func (c *Cluster) scheduler() (*process, error) {
	config := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %q, qps: 3000, burst: 6000}
leaderElection: {leaderElect: false}
enableProfiling: false
`, c.path("scheduler.kubeconfig"))
	if err := os.WriteFile(c.path("scheduler.yaml"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	return c.process(Scheduler, []string{
		"--config=" + c.path("scheduler.yaml"),
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.ports[Scheduler]),
		"--tls-cert-file=" + c.path("scheduler.crt"),
		"--tls-private-key-file=" + c.path("scheduler.key"),
		"--client-ca-file=" + c.path("ca.crt"),
	}, c.options.gateFlags()), nil
}
