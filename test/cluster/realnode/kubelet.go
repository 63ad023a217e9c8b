package realnode

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/pki"
)

// port is the kubelet's, on an address that no other process uses.
const port = 10250

// startKubelet runs the kubelet as the node's own user.
func (n *Node) startKubelet(context.Context) error {
	client, err := n.config.Issue(pki.Subject{Name: "system:node:" + Name, Groups: []string{"system:nodes"}})
	if err != nil {
		return err
	}
	if err := n.config.Kubeconfig(n.path("kubelet.kubeconfig"), client); err != nil {
		return err
	}
	serving, err := n.config.Issue(pki.Subject{Name: Name, Hosts: []string{Name, n.Address}})
	if err != nil {
		return err
	}
	if err := serving.Write(n.path("kubelet-serving")); err != nil {
		return err
	}
	if err := n.write("kubelet.yaml", n.kubeletConfig()); err != nil {
		return err
	}
	return n.start("kubelet",
		"--config="+n.path("kubelet.yaml"),
		"--kubeconfig="+n.path("kubelet.kubeconfig"),
		"--root-dir="+n.path("kubelet"),
		"--hostname-override="+Name,
		"--node-ip="+n.Address,
		"--v=2")
}

// kubeletConfig: docs/facts/kubelet.md#a-test-cluster gives the reason of every line.
func (n *Node) kubeletConfig() string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %[1]s
port: %[2]d
healthzPort: 0
readOnlyPort: 0
tlsCertFile: %[3]s.crt
tlsPrivateKeyFile: %[3]s.key
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: false}
  x509: {clientCAFile: %[4]s}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix://%[5]s
cgroupDriver: cgroupfs
cgroupRoot: %[6]s
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
enforceNodeAllocatable: [none]
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
imagePullCredentialsVerificationPolicy: NeverVerify
evictionHard: {memory.available: 1Mi, nodefs.available: 1Mi, imagefs.available: 1Mi}
makeIPTablesUtilChains: false
crashLoopBackOff: {maxContainerRestartPeriod: 1s}
resolvConf: ""
podLogsDir: %[7]s
volumePluginDir: %[8]s
nodeStatusUpdateFrequency: 1s
serializeImagePulls: false
`, n.Address, port, n.path("kubelet-serving"), n.config.Folder.Path+"/ca.crt", n.socket(), n.Groups,
		n.path("pod-logs"), n.path("volume-plugins"))
}

// ready waits until the cluster counts the node in.
func (n *Node) ready(ctx context.Context) error {
	return until(ctx, "node "+Name, func() error {
		node, err := n.config.Client.CoreV1().Nodes().Get(ctx, Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue && len(node.Spec.Taints) == 0 {
				return nil
			}
		}
		return errors.New("not ready")
	})
}
