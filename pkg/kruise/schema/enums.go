package schema

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// enums are the values of Kubernetes' types that have few and are written in
// pods and workloads. Reflection does not see constants; Kruise's are read from
// the sources, see [written].
var enums = map[reflect.Type][]string{
	reflect.TypeFor[appsv1.StatefulSetUpdateStrategyType](): texts(appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType),
	reflect.TypeFor[appsv1.DaemonSetUpdateStrategyType]():   texts(appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType),
	reflect.TypeFor[appsv1.DeploymentStrategyType]():        texts(appsv1.RollingUpdateDeploymentStrategyType, appsv1.RecreateDeploymentStrategyType),
	reflect.TypeFor[appsv1.PodManagementPolicyType]():       texts(appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement),
	reflect.TypeFor[appsv1.PersistentVolumeClaimRetentionPolicyType](): texts(
		appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType),
	reflect.TypeFor[batchv1.CompletionMode]():               texts(batchv1.NonIndexedCompletion, batchv1.IndexedCompletion),
	reflect.TypeFor[corev1.PullPolicy]():                    texts(corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever),
	reflect.TypeFor[corev1.RestartPolicy]():                 texts(corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever),
	reflect.TypeFor[corev1.Protocol]():                      texts(corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP),
	reflect.TypeFor[corev1.DNSPolicy]():                     texts(corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone),
	reflect.TypeFor[corev1.TerminationMessagePolicy]():      texts(corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError),
	reflect.TypeFor[corev1.TolerationOperator]():            texts(corev1.TolerationOpExists, corev1.TolerationOpEqual, corev1.TolerationOpLt, corev1.TolerationOpGt),
	reflect.TypeFor[corev1.UnsatisfiableConstraintAction](): texts(corev1.DoNotSchedule, corev1.ScheduleAnyway),
	reflect.TypeFor[metav1.LabelSelectorOperator](): texts(metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn,
		metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist),
}

func texts[T ~string](values ...T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
