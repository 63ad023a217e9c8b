package node

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// beats is how many nodes report at once.
const beats = 8

// beat renews all leases, and reports for the nodes of whom the cluster knows
// something else than is so.
func (p *Pool) beat(ctx context.Context) {
	tick := time.NewTicker(p.config.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.beatOnce(ctx)
		}
	}
}

func (p *Pool) beatOnce(ctx context.Context) {
	hosts := p.reachable()
	var all sync.WaitGroup
	for part := range beats {
		all.Go(func() {
			for i := part; i < len(hosts); i += beats {
				// A heartbeat that fails is made up for by the next.
				_ = p.renew(ctx, hosts[i].spec.Name)
				if p.outdated(hosts[i]) {
					_ = p.report(ctx, hosts[i])
				}
			}
		})
	}
	all.Wait()
}

// renew moves a node's lease on.
func (p *Pool) renew(ctx context.Context, name string) error {
	leases := p.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now := metav1.NowMicro()
	change, err := json.Marshal(map[string]any{"spec": map[string]any{"renewTime": now}})
	if err != nil {
		return err
	}
	_, err = leases.Patch(ctx, name, types.MergePatchType, change, metav1.PatchOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	seconds := int32(40)
	_, err = leases.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &name, RenewTime: &now, LeaseDurationSeconds: &seconds},
	}, metav1.CreateOptions{})
	return err
}

// outdated reports whether the Node object differs from what the node would report.
func (p *Pool) outdated(h *host) bool {
	o, ok, _ := p.nodes.GetStore().GetByKey(h.spec.Name)
	if !ok {
		return false
	}
	node, _ := o.(*corev1.Node)
	ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	return !ready || len(node.Status.Images) != len(h.Images.List(time.Now()))
}

// report writes a node's status.
func (p *Pool) report(ctx context.Context, h *host) error {
	change, err := json.Marshal(map[string]any{"status": p.nodeStatus(h)})
	if err != nil {
		return err
	}
	_, err = p.client.CoreV1().Nodes().
		Patch(ctx, h.spec.Name, types.StrategicMergePatchType, change, metav1.PatchOptions{}, "status")
	return err
}

// nodeStatus is what the node says of itself.
func (p *Pool) nodeStatus(h *host) corev1.NodeStatus {
	capacity := plenty()
	maps.Copy(capacity, h.spec.Capacity)
	now := metav1.Now()
	s := corev1.NodeStatus{
		Capacity: capacity, Allocatable: capacity,
		Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: hostIP},
			{Type: corev1.NodeHostName, Address: h.spec.Name},
		},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(p.endpoint.port)}},
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion: p.config.Version, OperatingSystem: "linux", Architecture: "amd64",
			OSImage: "modelled", ContainerRuntimeVersion: "containerd://2.3.7",
		},
		Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
			LastHeartbeatTime: now, LastTransitionTime: now,
		}},
	}
	for _, pressure := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		s.Conditions = append(s.Conditions, corev1.NodeCondition{
			Type: pressure, Status: corev1.ConditionFalse, LastHeartbeatTime: now, LastTransitionTime: now,
		})
	}
	for _, id := range h.Images.List(time.Now()) {
		s.Images = append(s.Images, corev1.ContainerImage{Names: []string{id}, SizeBytes: resource.NewQuantity(10<<20, resource.BinarySI).Value()})
	}
	return s
}
