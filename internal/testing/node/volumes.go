package node

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// provision gives every claim a volume and takes it away with the claim. Nothing
// is ever written to one.
func (p *Pool) provision(ctx context.Context, claims cache.SharedIndexInformer) error {
	_, err := claims.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) {
			if claim, ok := o.(*corev1.PersistentVolumeClaim); ok && claim.Spec.VolumeName == "" {
				p.running.Go(func() { p.createVolume(ctx, claim) })
			}
		},
		DeleteFunc: func(o any) {
			if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			if claim, ok := o.(*corev1.PersistentVolumeClaim); ok {
				p.running.Go(func() { p.deleteVolume(ctx, claim) })
			}
		},
	})
	return err
}

func volumeName(claim *corev1.PersistentVolumeClaim) string { return "pvc-" + string(claim.UID) }

// createVolume makes the volume that fits the claim, already promised to it.
func (p *Pool) createVolume(ctx context.Context, claim *corev1.PersistentVolumeClaim) {
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: volumeName(claim)},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/modelled"}},
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
		},
	}
	if class := claim.Spec.StorageClassName; class != nil {
		v.Spec.StorageClassName = *class
	}
	for ctx.Err() == nil {
		_, err := p.client.CoreV1().PersistentVolumes().Create(ctx, v, metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) || apierrors.IsInvalid(err) {
			return
		}
		p.pause(ctx)
	}
}

func (p *Pool) deleteVolume(ctx context.Context, claim *corev1.PersistentVolumeClaim) {
	for ctx.Err() == nil {
		err := p.client.CoreV1().PersistentVolumes().Delete(ctx, volumeName(claim), metav1.DeleteOptions{})
		if err == nil || apierrors.IsNotFound(err) {
			return
		}
		p.pause(ctx)
	}
}
