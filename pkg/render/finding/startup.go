package finding

// What becomes of the order in which the containers of a pod start
// (docs/kruise/protection.md#container-launch-priority).
var _ = register(
	Rule{
		ID: "containerlaunchpriority/sidecars", Kind: "ContainerLaunchPriority", Severity: Approximate,
		Fields: []string{
			"metadata.annotations[apps.kruise.io/container-launch-priority]",
			"spec.containers[].env[KRUISE_CONTAINER_PRIORITY]",
		},
		Becomes: "all containers but those of the lowest priority become native sidecars (init containers with restartPolicy Always), in the order of their launch: what looks for them in spec.containers, such as patches and an autoscaler of single containers, does not find them there; they do not change in place, and end after the others, in reverse order",
		Action:  "look through what names these containers; native sidecars need Kubernetes 1.29",
	},
	Rule{
		ID: "containerlaunchpriority/probe", Kind: "ContainerLaunchPriority", Severity: Approximate,
		Fields:  []string{"spec.containers[].readinessProbe"},
		Becomes: "is also the start-up probe, without an end of patience: the next container waits until it answers, as Kruise waits until the container is ready",
		Action:  "write a startupProbe to restart a container that never starts",
	},
	Rule{
		ID: "containerlaunchpriority/equal", Kind: "ContainerLaunchPriority", When: "containers of one priority", Severity: Approximate,
		Fields:  []string{"spec.containers[].env[KRUISE_CONTAINER_PRIORITY]"},
		Becomes: "start one after the other, where Kruise starts them together",
		Action:  "nothing, unless they wait for each other",
	},
	Rule{
		ID: "containerlaunchpriority/job", Kind: "ContainerLaunchPriority", When: "restartPolicy Never or OnFailure", Severity: Lost,
		Fields:  []string{"spec.containers"},
		Becomes: "all containers start at once: a native sidecar does not count for the end of a job",
		Action:  "make what must be done first an init container",
	},
)

// What becomes of sidecars that end with a job (docs/kruise/protection.md#other-features).
var _ = register(
	Rule{
		ID: "sidecarterminator/sidecar", Kind: "SidecarTerminator", Severity: Exact,
		Fields:  []string{"spec.containers[].env[KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT]"},
		Becomes: "the container becomes a native sidecar, which the kubelet ends when the others are done; its exit code does not count",
	},
	Rule{
		ID: "sidecarterminator/all", Kind: "SidecarTerminator", When: "every container is marked", Severity: Lost,
		Fields:  []string{"spec.containers"},
		Becomes: "nothing: no container is left whose end would count",
		Action:  "remove the variable from the container that does the work",
	},
)
